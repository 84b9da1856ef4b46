"""What tests want to know of the embedded gateway, and nobody else asks it."""

from __future__ import annotations

import json
import sqlite3
from dataclasses import dataclass
from datetime import datetime, timedelta
from decimal import Decimal
from functools import cache
from typing import Any, TypeVar

from gwtui.contract.byok import ByokCredential
from gwtui.contract.guardrails import Guardrail, KeyAssignment, MemberAssignment
from gwtui.contract.keys import ApiKey
from gwtui.contract.organization import OrganizationMember
from gwtui.contract.response import ResponseModel
from gwtui.contract.workspaces import Workspace
from gwtui.domain.clock import Clock
from gwtui.domain.history_source import KeyUsage
from gwtui.embedded.gateway import EmbeddedGateway
from gwtui.embedded.simulator.usage import UsageProfile
from gwtui.embedded.store import account, keys
from gwtui.embedded.store.account import from_pico, to_micros
from gwtui.embedded.store.documents import (
    CREDENTIALS,
    GUARDRAILS,
    KEY_ASSIGNMENTS,
    KEYS,
    MEMBER_ASSIGNMENTS,
    PEOPLE,
    USAGE_FIELDS,
    WORKSPACES,
    Kind,
)

M = TypeVar("M", bound=ResponseModel)


@dataclass(frozen=True)
class FoundedKey:
    """A simulated key on the first day of its world; it has the fields of its document, too."""

    document: ApiKey
    profile: UsageProfile | None
    """What its clients ask for; None for a key that was never used."""
    used: dict[str, Decimal]
    """USD by field of the wire."""
    remaining: Decimal | None

    def __getattr__(self, name: str) -> Any:
        return getattr(self.document, name)


@dataclass(frozen=True)
class World:
    """What a database of some seed holds at its founding."""

    seed: int
    moment: datetime
    users: list[OrganizationMember]
    workspaces: list[Workspace]
    default_workspace_id: str
    keys: list[FoundedKey]
    guardrails: list[Guardrail]
    key_assignments: list[KeyAssignment]
    member_assignments: list[MemberAssignment]
    credentials: list[ByokCredential]
    account: account.Account


@cache
def world(seed: int, moment: datetime) -> World:
    """The world that a gateway founds at a moment."""
    gateway = EmbeddedGateway.open(None, seed=seed, clock=Clock(now=lambda: moment))
    with gateway._database.read() as db:
        found = World(
            seed,
            moment,
            _all(db, OrganizationMember, PEOPLE),
            _all(db, Workspace, WORKSPACES),
            account.setting(db, "default_workspace_id"),
            [_founded(db, gateway, key, moment) for key in _all(db, ApiKey, KEYS)],
            _all(db, Guardrail, GUARDRAILS),
            _all(db, KeyAssignment, KEY_ASSIGNMENTS),
            _all(db, MemberAssignment, MEMBER_ASSIGNMENTS),
            _all(db, ByokCredential, CREDENTIALS),
            account.get(db),
        )
    gateway.close()
    return found


def _all(db: sqlite3.Connection, model: type[M], kind: Kind) -> list[M]:
    return [model.model_validate(each) for each in kind.documents(db, "1 ORDER BY number")]


def _founded(
    db: sqlite3.Connection, gateway: EmbeddedGateway, key: ApiKey, moment: datetime
) -> FoundedKey:
    found = keys.find(db, str(key.hash), moment)
    used = dict(zip(USAGE_FIELDS, map(from_pico, found.sums), strict=True))
    return FoundedKey(key, gateway.profiles.get(str(key.hash)), used, found.limit_remaining)


def stopped_at(key: FoundedKey, now: datetime) -> datetime:
    """When the gateway began to refuse a key at its founding, ``now``; then for one that works."""
    ends = [now, key.expires_at or now]
    if key.disabled:
        ends.append(key.updated_at)
    if key.limit_reset is None and key.remaining is not None and key.remaining <= 0:
        ends.append(now - timedelta(hours=5))
    return min(ends)


@dataclass(frozen=True)
class MadeRequest:
    """A generation of a simulated key."""

    id: str
    key_hash: str
    is_logged: bool
    details: dict[str, Any]


def requests_made(
    gateway: EmbeddedGateway, until: datetime, *, days: float = 2
) -> list[MadeRequest]:
    """The kept generations of the simulated keys in the days before a moment, newest first."""
    since = until - timedelta(days=days)
    with gateway._database.read() as db:
        rows = db.execute(
            "SELECT id, key_hash, content, details FROM generations WHERE sample IS NOT NULL "
            "AND created_at >= ? AND created_at < ? ORDER BY created_at DESC",
            (to_micros(since), to_micros(until)),
        )
        return [MadeRequest(id, key, bool(text), json.loads(d)) for id, key, text, d in rows]


def set_credits(gateway: EmbeddedGateway, usd: Decimal | int | str) -> None:
    """Leave so many credits, whatever was used so far."""
    with gateway._database.write() as db:
        used = account.get(db).total_usage
        account.book_earlier(db, account.Actor("", "", None), KeyUsage(-used, Decimal(0)))
        account.change(db, purchases=[])
        account.buy(db, gateway.clock.now(), Decimal(usd))
