"""An embedded gateway with credits and a key, and the client of tries on it, over a unix socket."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import Any

from pydantic import SecretStr

from gateway_facts import set_credits
from gwtui.client.connection import Connection
from gwtui.client.gateway import GatewayClient
from gwtui.client.inference import AnswerLimits, Inference
from gwtui.contract.chat import ChatRequest
from gwtui.contract.dialects import DIALECTS, DialectName
from gwtui.contract.guardrails import AssignKeysRequest, CreateGuardrailRequest
from gwtui.contract.keys import CreateKeyRequest
from gwtui.domain.clock import SYSTEM_CLOCK, Clock
from gwtui.embedded.faults import FaultInjector
from gwtui.embedded.gateway import EmbeddedGateway
from gwtui.embedded.hosting import host_on_socket
from gwtui.resources.tries.plan import key_hash
from seeded_gateways import open_gateway

MODEL = "northwind/atlas-mini"
VECTORS = "tessera/vector-3"


class Hurried:
    """The time of day, moved on by hand; sleeping takes none of it."""

    def __init__(self) -> None:
        self.ahead = timedelta()
        self.clock = Clock(now=self._now, sleep=self._sleep, chance=lambda: 0.5)

    def _now(self) -> Any:
        return SYSTEM_CLOCK.now() + self.ahead

    async def _sleep(self, seconds: float) -> None:
        await asyncio.sleep(0)


@dataclass
class Place:
    """A gateway with credits and one inference key, and clients for both kinds of key."""

    gateway: EmbeddedGateway
    time: Hurried
    path: Path
    management: GatewayClient
    key: SecretStr
    dialect: DialectName = "generic"

    def models(self, key: SecretStr | None = None, **limits: float) -> Inference:
        where = Connection("http://embedded", socket_path=self.path, dialect=DIALECTS[self.dialect])
        return Inference(where, key or self.key, limits=AnswerLimits(**limits))

    def set_credits(self, usd: int | str) -> None:
        set_credits(self.gateway, usd)

    async def guarded(self, **fields: Any) -> SecretStr:
        """A key under a new guardrail."""
        request = CreateGuardrailRequest.model_validate({"name": "test", **fields})
        guardrail = await self.management.guardrails.create(request)
        made = await self.management.keys.create(CreateKeyRequest(name="guarded"))
        assert made.key is not None
        hashes = AssignKeysRequest(key_hashes=[key_hash(made.key)])
        await self.management.guardrails.assign_keys(guardrail.id or "", hashes)
        return made.key


@asynccontextmanager
async def open_place(
    folder: Path, dialect: DialectName = "generic", faults: FaultInjector | None = None
) -> AsyncIterator[Place]:
    time = Hurried()
    gateway = open_gateway(
        clock=time.clock, content="empty", dialect=DIALECTS[dialect], faults=faults
    )
    path = folder / "gateway.sock"
    try:
        async with host_on_socket(gateway, path):
            token = SecretStr(gateway.issue_key(management=True))
            where = Connection(
                "http://embedded", token=token, socket_path=path, dialect=DIALECTS[dialect]
            )
            async with GatewayClient(where) as management:
                key = SecretStr(gateway.issue_key(management=False))
                found = Place(gateway, time, path, management, key, dialect)
                found.set_credits(1000)
                yield found
    finally:
        gateway.close()


def asks(text: str = "What is a lighthouse?", **fields: Any) -> ChatRequest:
    body = {"model": MODEL, "messages": [{"role": "user", "content": text}], "max_tokens": 40}
    return ChatRequest.model_validate({**body, **fields})
