"""Generations of a gateway's database, for a person who wants one to look up.

The API has no list of generations; whoever made a request knows its identifier. Requests of the
simulated keys were made by nobody, so this is where their identifiers come from.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from gwtui.domain.clock import SYSTEM_CLOCK, Clock
from gwtui.embedded.errors import DatabaseMissingError
from gwtui.embedded.store import account, generations, keys
from gwtui.embedded.store.database import Database
from gwtui.embedded.store.seed import read_origin


@dataclass(frozen=True, slots=True)
class RecentGeneration:
    """A generation that can be looked up."""

    id: str
    made_at: datetime
    model: str
    key_name: str
    """Empty when the key was deleted since."""


def recent_generations(database: Path, *, clock: Clock = SYSTEM_CLOCK) -> list[RecentGeneration]:
    """The last generation of each kind of work of each key, newest first.

    Works on an existing database, whether or not a gateway serves it right now. Raises
    DatabaseMissingError and DatabaseUnusableError.
    """
    visited = Database.visit(database)
    try:
        with visited.read() as db:
            found = account.find(db)
            if found is None:
                raise DatabaseMissingError(f"{database} was never served, so it is still empty.")
            now = clock.now()
            until = min(now, found.accrued_until)
            records = generations.latest(db, read_origin(db).profiles(), until)
            names = {
                record.actor.key_hash: keys.find(db, record.actor.key_hash, now)
                for record in records
            }
    finally:
        visited.close()
    return [
        RecentGeneration(
            id=record.request.id,
            made_at=record.request.moment,
            model=record.request.stream.model,
            key_name=key.name if (key := names[record.actor.key_hash]) else "",
        )
        for record in records
    ]
