"""Generations of a gateway's database, for a person who wants one to look up.

The API has no list of generations; whoever made a request knows its identifier. Requests of the
simulated keys were made by nobody, so this is where their identifiers come from. Beside them are
the last requests that were really served.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from gwtui.domain.clock import SYSTEM_CLOCK, Clock
from gwtui.embedded.errors import DatabaseMissingError
from gwtui.embedded.store import account, generations, keys, served_requests
from gwtui.embedded.store.activity import Actor
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


_SERVED = 50
"""How many that were really served are listed."""


def recent_generations(database: Path, *, clock: Clock = SYSTEM_CLOCK) -> list[RecentGeneration]:
    """The last generation of each kind of work of each key, and what was served, newest first.

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
            simulated = generations.latest(db, read_origin(db).profiles(db), until)
            records = [
                _Known(one.request.id, one.request.moment, one.request.stream.model, one.actor)
                for one in simulated
            ]
            records += [
                _Known(one.id, one.created_at, str(one.generation["model"]), one.actor)
                for one in served_requests.latest(db, now, _SERVED)
            ]
            names = {
                each.actor.key_hash: keys.find(db, each.actor.key_hash, now) for each in records
            }
    finally:
        visited.close()
    return [
        RecentGeneration(
            id=each.id,
            made_at=each.made_at,
            model=each.model,
            key_name=key.name if (key := names[each.actor.key_hash]) else "",
        )
        for each in sorted(records, key=lambda each: each.made_at, reverse=True)
    ]


@dataclass(frozen=True, slots=True)
class _Known:
    id: str
    made_at: datetime
    model: str
    actor: Actor
