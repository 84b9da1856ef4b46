"""Facts about the embedded gateway that only tests need."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Mapping
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
from gwtui.contract.scalars import timestamp_text
from gwtui.contract.workspaces import Workspace
from gwtui.domain.clock import Clock
from gwtui.embedded.gateway import EmbeddedGateway
from gwtui.embedded.simulator.usage import UsageProfile, UsageSlice
from gwtui.embedded.store import account, generations, keys
from gwtui.embedded.store.account import from_micros, from_pico, to_micros
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
    """A simulated key on the first day of its world, with the fields of its object."""

    document: ApiKey
    profile: UsageProfile | None
    """Its simulated usage; None for a key that was never used."""
    used: dict[str, Decimal]
    """USD by wire field."""
    remaining: Decimal | None

    def __getattr__(self, name: str) -> Any:
        return getattr(self.document, name)


@dataclass(frozen=True)
class World:
    """The content of a new simulated database."""

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
    gateway = EmbeddedGateway(None, seed=seed, clock=Clock(now=lambda: moment))
    with gateway.database.read() as db:
        result = World(
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
    return result


def _all(db: sqlite3.Connection, model: type[M], kind: Kind) -> list[M]:
    return [model.model_validate(document) for document in kind.documents(db, "1 ORDER BY number")]


def _founded(
    db: sqlite3.Connection, gateway: EmbeddedGateway, key: ApiKey, moment: datetime
) -> FoundedKey:
    result = keys.find(db, str(key.hash), moment)
    used = dict(zip(USAGE_FIELDS, map(from_pico, result.sums), strict=True))
    return FoundedKey(key, gateway.profiles.get(str(key.hash)), used, result.limit_remaining)


def stopped_at(key: FoundedKey, now: datetime) -> datetime:
    """Return when the gateway began to refuse a key; ``now`` for a key that works."""
    ends = [now, key.expires_at or now]
    if key.disabled:
        ends.append(key.updated_at)
    if key.limit_reset is None and key.remaining is not None and key.remaining <= 0:
        ends.append(now - timedelta(hours=5))
    return min(ends)


GENERATION: Mapping[str, Any] = {
    "model": "northwind/atlas-mini",
    "provider_name": "Northwind",
    "usage": 0.0006876,
    "total_cost": 0.0006876,
    "upstream_inference_cost": None,
    "is_byok": False,
    **generations.UNKNOWN_FIELDS,
    "origin": "https://clients.example/",
    "http_referer": None,
    "data_region": "global",
    "native_tokens_reasoning": 0,
    "native_tokens_cached": 764,
    "num_media_prompt": None,
    "num_input_audio_prompt": None,
    "api_type": "completions",
    "streamed": True,
    "latency": 449,
    "generation_time": 2317,
    "service_tier": None,
    "provider_responses": [
        {
            "status": 200,
            "provider_name": "Northwind",
            "is_byok": False,
            "endpoint_id": "2220773f-17fc-49f1-8423-451f92eb9b60",
            "model_permaslug": "northwind/atlas-mini-20260819",
            "latency": 449,
            "id": "up-85ed2f4048e20bc9",
        }
    ],
    "request_id": "req-a8742eb52f3c02702cfc37386dc431be",
    "upstream_id": "up-85ed2f4048e20bc9",
    "workspace_id": "8efaa34f-3326-4510-91e9-6c7b6af65d7d",
    "external_user": None,
    "user_agent": "python-httpx/0.28.1",
    "tokens_prompt": 1814,
    "tokens_completion": 406,
    "native_tokens_prompt": 1814,
    "native_tokens_completion": 406,
    "cancelled": False,
    "finish_reason": "stop",
    "native_finish_reason": "stop",
}
CONTENT: Mapping[str, Any] = {
    "input": {
        "messages": [{"role": "user", "content": "Which of these tickets are about billing?"}]
    },
    "output": {"completion": "A simulated answer: nothing was generated.", "reasoning": None},
    "error": None,
}


def made_request(gateway: EmbeddedGateway, moment: datetime, *, is_logged: bool = True) -> str:
    """Store a request to a model, unless it is stored already; return its id."""
    identity = f"gen-1795253384-9785b25bebfddafaecd{9 if is_logged else 0}"
    details = {"id": identity, "created_at": timestamp_text(moment), **GENERATION}
    with gateway.database.write() as db:
        if not db.execute("SELECT 1 FROM generations WHERE id = ?", (identity,)).fetchone():
            generations.store(
                db,
                id=identity,
                key_hash="b4ad14a7179195fd929148bf281c0f24d1a1dee06496108f921f23006966f4ef",
                workspace_id=details["workspace_id"],
                endpoint_key="northwind/atlas-mini|northwind",
                is_byok=False,
                created_at=to_micros(moment),
                shown_from=to_micros(moment),
                details=json.dumps(details),
                content=json.dumps(CONTENT) if is_logged else None,
            )
    return identity


def set_credits(gateway: EmbeddedGateway, usd: Decimal | int | str) -> None:
    """Leave so many credits, whatever was used so far."""
    with gateway.database.write() as db:
        used = account.get(db).total_usage
        earlier = UsageSlice(from_micros(0), "", 0, 0, 0, -used, Decimal(0))
        account.book(db, account.Actor("", "", None), [earlier])
        account.change(db, purchases=[])
        account.buy(db, gateway.clock.now(), Decimal(usd))
