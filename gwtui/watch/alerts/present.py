"""The alerts of a gateway without a connection to it: what an instance that records wrote down."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from contextlib import closing
from datetime import datetime
from pathlib import Path
from typing import TypeVar

from gwtui.watch.alerts.model import AlertEvent, Present
from gwtui.watch.alerts.store import read_alerts, read_events
from gwtui.watch.history.errors import HistoryUnusableError
from gwtui.watch.history.file import open_readable, transaction
from gwtui.watch.history.reader import HistoryReader

T = TypeVar("T")


def present_alerts(path: Path, now: datetime) -> Present:
    """How the conditions stand, by what was evaluated last.

    Raises HistoryMissingError when nothing is recorded, HistoryUnusableError.
    """

    def ask(connection: sqlite3.Connection) -> Present:
        reader = HistoryReader(connection)
        holder, span = reader.recorder(), reader.span()
        return Present(
            read_alerts(connection, now),
            watching=holder is not None and holder.expires_at > now,
            as_of=None if span is None else span[1],
        )

    return _ask(path, ask)


def alert_events(
    path: Path, since: datetime | None = None, until: datetime | None = None, limit: int = 100_000
) -> tuple[AlertEvent, ...]:
    """What happened, newest first. Raises HistoryMissingError, HistoryUnusableError."""
    return _ask(
        path, lambda connection: read_events(connection, since=since, until=until, limit=limit)
    )


def _ask(path: Path, question: Callable[[sqlite3.Connection], T]) -> T:
    try:
        with closing(open_readable(path)) as connection, transaction(connection, "DEFERRED"):
            return question(connection)
    except sqlite3.Error as error:
        raise HistoryUnusableError(f"Cannot read {path}: {error}.") from None
