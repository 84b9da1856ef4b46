"""Gateways for tests that start without creating their world.

Each process creates a world once per start time, with the same identifiers in every run; each
gateway gets a copy of that database in memory. Gateways on files always create their own.
"""

from __future__ import annotations

import random
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime
from unittest.mock import patch
from uuid import UUID

from gwtui.contract.dialects import GENERIC, Dialect
from gwtui.domain.clock import Clock
from gwtui.embedded.faults import FaultInjector
from gwtui.embedded.gateway import EmbeddedGateway
from gwtui.embedded.store.database import _create_tables
from gwtui.embedded.store.founding import Content, Origin, fill_if_empty

_MOST = 8
"""Number of cached worlds; tests use few start times."""

_schemas: list[sqlite3.Connection] = []
"""A database with tables and without rows, once created."""
_snapshots: dict[tuple[int, datetime, Content, str], sqlite3.Connection] = {}


def open_gateway(
    *,
    clock: Clock,
    content: Content = "simulated",
    dialect: Dialect = GENERIC,
    faults: FaultInjector | None = None,
) -> EmbeddedGateway:
    """As ``EmbeddedGateway`` in memory."""
    with (
        patch("gwtui.embedded.gateway.fill_if_empty", _filled_or_copied),
        patch("gwtui.embedded.store.database._create_tables", _copied_tables),
    ):
        return EmbeddedGateway(None, dialect=dialect, content=content, clock=clock, faults=faults)


@contextmanager
def no_chance() -> Iterator[None]:
    """Use the same identifiers and the same key each time, for pictures."""
    source = random.Random(1)
    with (
        patch("uuid.uuid4", lambda: UUID(int=source.getrandbits(128), version=4)),
        patch("secrets.token_hex", lambda length: source.randbytes(length).hex()),
    ):
        yield


def _copied_tables(connection: sqlite3.Connection) -> None:
    """Copy the tables of a database that was made before into a new one."""
    if not _schemas:
        _create_tables(connection)
        _schemas.append(sqlite3.connect(":memory:", check_same_thread=False))
        connection.backup(_schemas[0])
    _schemas[0].backup(connection)


def _filled_or_copied(
    db: sqlite3.Connection,
    seed: int,
    now: datetime,
    content: Content,
    dialect: Dialect,
) -> Origin:
    snapshot = _snapshots.get((seed, now, content, dialect.name))
    if snapshot is not None:
        _copy(snapshot, db)
        return fill_if_empty(db, seed, now, content, dialect)
    with no_chance():
        fill_if_empty(db, seed, now, content, dialect)
    while len(_snapshots) >= _MOST:
        _snapshots.pop(next(iter(_snapshots))).close()
    # The gateways of a process may run in different threads, one after the other.
    snapshot = _snapshots[seed, now, content, dialect.name] = sqlite3.connect(
        ":memory:", check_same_thread=False
    )
    _copy(db, snapshot)
    return fill_if_empty(db, seed, now, content, dialect)


def _copy(source: sqlite3.Connection, target: sqlite3.Connection) -> None:
    """Copy a database; ends the transaction of either one and begins another."""
    busy = source if source.in_transaction else target
    busy.execute("COMMIT")
    source.backup(target)
    busy.execute("BEGIN IMMEDIATE")
