"""Generations: the simulated requests that were really admitted. Extended contract section 8."""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping
from datetime import datetime, timedelta

from gwtui.contract.values import ACTIVITY_DAYS
from gwtui.embedded.simulator.generations import SimulatedRequest, find_request, latest_requests
from gwtui.embedded.simulator.usage import UsageProfile
from gwtui.embedded.store import activity
from gwtui.embedded.store.activity import Actor
from gwtui.embedded.store.table import Table, to_day
from gwtui.records import dataclass


@dataclass(frozen=True, slots=True)
class GenerationRecord:
    """A request that was carried out, and for whom."""

    request: SimulatedRequest
    actor: Actor


@dataclass(frozen=True, slots=True)
class Feedback:
    """What somebody said about a generation."""

    generation_id: str
    category: str
    comment: str | None
    given_by: str | None
    given_at: datetime


_FEEDBACK = Table("generation_feedback", Feedback)


def find(
    db: sqlite3.Connection, profiles: Mapping[str, UsageProfile], generation_id: str, now: datetime
) -> GenerationRecord | None:
    """The generation of an identifier; None when there is none or it is no longer kept."""
    request = find_request(profiles.values(), generation_id)
    if request is None or request.moment >= now:
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
    booked = list(activity.at_endpoint(db, request.key_hash, day, endpoint))
    if request.number >= sum(requests for _, requests in booked):
        return None
    return GenerationRecord(request, booked[0][0])


def add_feedback(db: sqlite3.Connection, feedback: Feedback) -> None:
    """Store feedback."""
    _FEEDBACK.insert(db, feedback)
