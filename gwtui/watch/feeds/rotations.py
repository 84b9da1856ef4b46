"""The key rotations on one gateway: their stored state and the present state of both keys."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any

from gwtui.client.errors import GatewayError, NotFoundError
from gwtui.contract.keys import ApiKey
from gwtui.domain.keys import (
    CreationOutcome,
    KeyRotation,
    RotationFacts,
    RotationStage,
    RotationStatus,
    status_of,
)
from gwtui.local.ledger import NOT_APPLIED, Ledger, LedgerEntry
from gwtui.local.rotations import FILE_NAME, RotationFile, record_old_key
from gwtui.watch import cadence
from gwtui.watch.feeds.guardrails import guardrail_by_holder
from gwtui.watch.feeds.ledger import user_ledger
from gwtui.watch.hub import FeedHub, FeedReader, FeedSpec, Scope
from gwtui.watch.reads import fetch_each, key_assignments

if TYPE_CHECKING:
    from gwtui.client.gateway import GatewayClient

FEED = "keys-rotations"
"""Starts with the name of the keys feed, because writes to keys affect rotations."""
ENDED_SHOWN = timedelta(days=7)
"""How long ended rotations are listed."""


@dataclass(frozen=True, slots=True)
class RotationRow:
    """A rotation with its status, and both keys if they could be read."""

    rotation: KeyRotation
    status: RotationStatus
    old: ApiKey | None = None
    new: ApiKey | None = None


async def _read_rotations(reader: FeedReader, _scope: Scope) -> Sequence[RotationRow]:
    hub = reader.hub
    await hub.wait_until_open()
    ledger = hub.ledger or user_ledger()
    file = RotationFile(ledger.path.with_name(FILE_NAME))
    now = hub.clock.now()
    try:
        known = await asyncio.to_thread(_listed, file, hub.connection.base_url, now)
        if not known:
            return ()
        nameless = {entry.id for entry in known if entry.new_hash is None}
        outcomes = await asyncio.to_thread(creation_outcomes, ledger, nameless, now)
        waiting = await asyncio.to_thread(ledger.open_writes)
    except OSError as error:
        why = error.strerror or "it cannot be read"
        raise GatewayError(f"The rotations in {file.path}: {why}") from None
    unstored = frozenset(entry.id for entry in waiting if entry.is_unacknowledged)
    held, held_why = await _held(reader, known)
    rows = _RotationReader(hub, file, now, outcomes, unstored, held, held_why)
    return tuple(await fetch_each(known, rows.at))


@dataclass(frozen=True, slots=True)
class _RotationReader:
    """The data that one read of all rotations shares.

    ``unstored`` are the ids of creations whose key value nobody has acknowledged. ``held`` maps key
    hashes to guardrail ids, None if unread.
    """

    hub: FeedHub
    file: RotationFile
    now: datetime
    outcomes: Mapping[str, tuple[CreationOutcome, str | None]]
    unstored: frozenset[str]
    held: Mapping[str, str] | None
    held_why: str

    async def at(self, rotation: KeyRotation) -> RotationRow:
        """The row of a rotation. New facts are stored; failures to write are ignored."""
        if rotation.ended is not None:
            return RotationRow(rotation, status_of(rotation, RotationFacts(), self.now))
        rotation, making = await self._with_successor(rotation)
        if making != "made":
            status = status_of(rotation, RotationFacts(making=making), self.now)
            if status.stage == "not made":
                await self._end(rotation, "not made")
            return RotationRow(rotation, status)
        old, old_gone, why = await _read(self.hub.client, rotation.old_hash)
        new, new_gone, new_why = await _read(self.hub.client, rotation.new_hash or "")
        if old is not None:
            rotation = await asyncio.to_thread(record_old_key, self.file, rotation, old, self.now)
        facts = RotationFacts(
            old=old,
            old_gone=old_gone,
            new=new,
            new_gone=new_gone,
            bound=None if self.held is None else self.held.get(rotation.new_hash or ""),
            bound_known=self.held is not None,
            unconfirmed=rotation.id in self.unstored,
            why=new_why or why or self.held_why,
        )
        status = status_of(rotation, facts, self.now)
        if status.stage == "done":
            await self._end(rotation, "done")
        return RotationRow(rotation, status, old, new)

    async def _with_successor(self, rotation: KeyRotation) -> tuple[KeyRotation, CreationOutcome]:
        if rotation.new_hash is not None:
            return rotation, "made"
        making, identity = self.outcomes.get(rotation.id, ("unresolved", None))
        if making == "made" and identity is None:
            return rotation, "nameless"
        if making == "made" and identity is not None:
            rotation = await self._update(rotation, new_hash=identity, made_at=self.now)
        return rotation, making

    async def _end(self, rotation: KeyRotation, stage: RotationStage) -> None:
        await self._update(rotation, ended=stage, ended_at=self.now)

    async def _update(self, rotation: KeyRotation, **changes: Any) -> KeyRotation:
        with contextlib.suppress(OSError):
            await asyncio.to_thread(self.file.update, rotation.id, **changes)
        return replace(rotation, **changes)


def _listed(file: RotationFile, gateway: str, now: datetime) -> list[KeyRotation]:
    return [
        rotation
        for rotation in file.rotations(gateway)
        if rotation.ended_at is None or now - rotation.ended_at <= ENDED_SHOWN
    ]


def creation_outcomes(
    ledger: Ledger, plans: set[str], now: datetime
) -> Mapping[str, tuple[CreationOutcome, str | None]]:
    """The outcomes of creations in the ledger by plan id, each with the hash of the key.

    For an unknown outcome, the finding of the user who resolved it counts.
    """
    outcomes: dict[str, tuple[CreationOutcome, str | None]] = {}
    for entry in ledger.entries() if plans else ():
        if entry.id in plans:
            outcomes.setdefault(entry.id, _outcome(entry, now))
    return outcomes


def _outcome(entry: LedgerEntry, now: datetime) -> tuple[CreationOutcome, str | None]:
    identity = entry.identity
    match entry.outcome:
        case "intent" if entry.is_running(now):
            return "under way", None
        case "intent" | "unknown":
            return "unresolved", None
        case "resolved" if identity is None and entry.message == NOT_APPLIED:
            return "not made", None
        case "refused":
            return "not made", None
    return "made", identity


async def _held(
    reader: FeedReader, rotations: Sequence[KeyRotation]
) -> tuple[Mapping[str, str] | None, str]:
    if all(rotation.guardrail is None or rotation.ended is not None for rotation in rotations):
        return {}, ""
    try:
        assignments = await reader.fresh(key_assignments(None))
    except GatewayError as error:
        return None, error.message
    return guardrail_by_holder(assignments), ""


async def _read(client: GatewayClient, key_hash: str) -> tuple[ApiKey | None, bool, str]:
    try:
        return await client.keys.get(key_hash), False, ""
    except NotFoundError:
        return None, True, ""
    except GatewayError as error:
        return None, False, error.message


rotations_feed = FeedSpec(FEED, _read_rotations, cadence.WORKSPACES)
"""The active and recently ended rotations on the gateway."""
