"""Generations of the simulated keys, and the latest ones of all keys. Extended contract section 8.

No simulated generation is stored: its identifier holds the second of the request and a hash of
which one it was, so finding it again means looking at the requests of that second. A generation
exists when its request was really admitted.

The API has no list of generations; whoever made a request knows its identifier. Requests of the
simulated keys were made by nobody, so ``recent_generations`` is where their identifiers come from.
"""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Iterable, Iterator, Mapping
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import NamedTuple

from gwtui.contract.values import ACTIVITY_DAYS
from gwtui.domain.clock import SYSTEM_CLOCK, Clock
from gwtui.embedded.errors import DatabaseMissingError
from gwtui.embedded.simulator.seeded_random import hex_text
from gwtui.embedded.simulator.usage import DayPlan, UsageProfile, UsageStream, day_plans
from gwtui.embedded.store import account, served_requests, usage
from gwtui.embedded.store.database import Database
from gwtui.embedded.store.founding import profiles_of
from gwtui.embedded.store.kinds import KEYS
from gwtui.embedded.store.usage import Actor, to_day

_ID = re.compile(r"gen-([0-9]{10})-[0-9a-f]{20}\Z")
_DIGITS = 20
_MICROSECOND = timedelta(microseconds=1)
_SECOND = timedelta(seconds=1)
_SERVED = 50
"""How many that were really served are listed."""


class SimulatedRequest(NamedTuple):
    """One request of one key."""

    id: str
    """Identifier of the generation: ``gen-``, Unix seconds and 20 hex digits."""
    key_hash: str
    stream: UsageStream
    moment: datetime
    number: int
    """Counted from 0 among the key's requests of this stream on this UTC day."""
    prompt_tokens: int
    completion_tokens: int
    cost: int
    """Pico-USD."""


class GenerationRecord(NamedTuple):
    """A request that was carried out, and for whom."""

    request: SimulatedRequest
    actor: Actor


class RecentGeneration(NamedTuple):
    """A generation that can be looked up."""

    id: str
    made_at: datetime
    model: str
    key_name: str
    """Empty when the key was deleted since."""


def find_request(profiles: Iterable[UsageProfile], generation_id: str) -> SimulatedRequest | None:
    """The request of an identifier, None when nobody made it."""
    match = _ID.match(generation_id)
    if match is None:
        return None
    second = datetime.fromtimestamp(int(match[1]), UTC)
    requests = (each for profile in profiles for each in _requests(profile, second))
    return next((each for each in requests if each.id == generation_id), None)


def _requests(profile: UsageProfile, second: datetime) -> Iterator[SimulatedRequest]:
    """The requests of a key within one second."""
    for plan, start, end in day_plans(profile, second, second + _SECOND):
        for number in range(plan.count(start), plan.count(end)):
            yield _request(profile, plan, number)


def latest_requests(
    profiles: Iterable[UsageProfile], since: datetime, until: datetime
) -> list[SimulatedRequest]:
    """The last request of every stream of every key in [since, until), newest first."""
    found: dict[tuple[str, int], SimulatedRequest] = {}
    for profile in profiles:
        for plan, start, end in day_plans(profile, since, until):
            past = plan.count(end)
            if past > plan.count(start):
                found[profile.identity, plan.position] = _request(profile, plan, past - 1)
    return sorted(found.values(), key=lambda request: request.moment, reverse=True)


def _request(profile: UsageProfile, plan: DayPlan, number: int) -> SimulatedRequest:
    moment = plan.moment_of(number)
    parts = ("generation", profile.identity, plan.position, plan.midnight.toordinal(), number)
    first = max(0, (profile.active_from - plan.midnight) // _MICROSECOND)
    return SimulatedRequest(
        id=f"gen-{int(moment.timestamp())}-{hex_text(_DIGITS, profile.seed, *parts)}",
        key_hash=profile.identity,
        stream=plan.stream,
        moment=moment,
        number=number - plan.count(first),
        prompt_tokens=plan.prompt_tokens,
        completion_tokens=plan.completion_tokens,
        cost=plan.cost,
    )


def find(
    db: sqlite3.Connection, profiles: Mapping[str, UsageProfile], generation_id: str, now: datetime
) -> GenerationRecord | None:
    """The generation of an identifier; None when there is none or it is no longer kept."""
    request = find_request(profiles.values(), generation_id)
    if request is None or not now - timedelta(days=ACTIVITY_DAYS + 1) <= request.moment < now:
        return None
    return _admitted(db, request)


def latest(
    db: sqlite3.Connection, profiles: Mapping[str, UsageProfile], now: datetime
) -> list[GenerationRecord]:
    """The last generation of each kind of work of each key, newest first."""
    requests = latest_requests(profiles.values(), now - timedelta(days=ACTIVITY_DAYS), now)
    found = (_admitted(db, request) for request in requests)
    return [record for record in found if record is not None]


def _admitted(db: sqlite3.Connection, request: SimulatedRequest) -> GenerationRecord | None:
    """The request, unless its key was refused: what is refused is the end of a day's requests."""
    day, endpoint = to_day(request.moment), request.stream.endpoint_key
    booked = usage.at_endpoint(db, request.key_hash, day, endpoint)
    if request.number >= sum(requests for _, requests in booked):
        return None
    return GenerationRecord(request, booked[0][0])


def recent_generations(database: Path, *, clock: Clock = SYSTEM_CLOCK) -> list[RecentGeneration]:
    """The last generation of each kind of work of each key, and what was served, newest first.

    Works on an existing database, whether or not a gateway serves it right now. Raises
    DatabaseMissingError and DatabaseUnusableError.
    """
    visited = Database.visit(database)
    try:
        with visited.read() as db:
            if not account.is_founded(db):
                raise DatabaseMissingError(f"{database} was never served, so it is still empty.")
            now = clock.now()
            until = min(now, account.get(db).booked_until)
            found = [
                RecentGeneration(one.id, one.moment, one.stream.model, _name(db, one.key_hash))
                for one, _ in latest(db, profiles_of(db), until)
            ]
            for one in served_requests.latest(db, now, _SERVED):
                made_at, model = usage.from_micros(one.created_at), str(one.generation["model"])
                found.append(RecentGeneration(one.id, made_at, model, _name(db, one.key_hash)))
    finally:
        visited.close()
    return sorted(found, key=lambda each: each.made_at, reverse=True)


def _name(db: sqlite3.Connection, key_hash: str) -> str:
    key = KEYS.get(db, key_hash)
    return (key and key.name) or ""
