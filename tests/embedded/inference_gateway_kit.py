"""Requests to models under test, in an account that has nothing but credits.

Clock and random numbers are fixed, so that every amount follows from the request.
"""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass
from decimal import Decimal
from itertools import count
from typing import Any

import httpx
from gateway_kit import BASE_URL, GatewayHarness, HandClock

from gateway_facts import set_credits
from gwtui.contract.dialects import GENERIC, Dialect
from gwtui.domain.clock import Clock
from gwtui.embedded.faults import FaultInjector
from gwtui.embedded.gateway import EmbeddedGateway
from gwtui.embedded.simulator.catalog import build_catalog
from seeded_gateways import open_gateway

MINI = "northwind/atlas-mini"
VECTORS = "tessera/vector-3"
CREDITS = Decimal(1000)
_numbers = count(1)


@dataclass
class Luck:
    """A random number generator; ``next`` is returned first, one by one."""

    even: float = 0.5
    next: tuple[float, ...] = ()

    def draw(self) -> float:
        if not self.next:
            return self.even
        first, *rest = self.next
        self.next = tuple(rest)
        return first


@dataclass
class SharedGateway:
    """A gateway that a module shares."""

    gateway: EmbeddedGateway
    clock: HandClock
    luck: Luck
    sleep: Callable[[float], Awaitable[None]]
    """The gateway's pauses; a test may replace them."""
    dialect: Dialect = GENERIC

    def set_credits(self, usd: Decimal | int | str) -> None:
        """Set the remaining credits, whatever was used so far."""
        set_credits(self.gateway, usd)


@contextmanager
def shared_gateway(
    *, faults: FaultInjector | None = None, dialect: Dialect = GENERIC
) -> Iterator[SharedGateway]:
    hand, luck = HandClock(), Luck()

    async def sleep(seconds: float) -> None:
        await opened.sleep(seconds)

    clock = Clock(now=hand.now, sleep=sleep, chance=luck.draw)
    gateway = open_gateway(clock=clock, content="empty", faults=faults, dialect=dialect)
    opened = SharedGateway(gateway, hand, luck, hand.clock.sleep, dialect)
    opened.set_credits(CREDITS)
    try:
        yield opened
    finally:
        gateway.close()


@dataclass
class Caller:
    """A key in a workspace of its own, and the requests that it sends."""

    gate: GatewayHarness
    workspace: str
    hash: str
    token: str

    async def chat(self, text: str = "Where is the report?", **fields: Any) -> httpx.Response:
        """Send a request, whole or streamed; any response is accepted."""
        headers = {"Authorization": f"Bearer {self.token}", **fields.pop("headers", {})}
        body = {"model": MINI, "messages": [{"role": "user", "content": text}], **fields}
        response = await self.gate.client.post("/chat/completions", json=body, headers=headers)
        if response.headers["content-type"] == "application/json":
            self.gate.check("POST", "/chat/completions", response)
        return response

    async def embed(self, text: Any = "Where is the report?", **fields: Any) -> httpx.Response:
        body = {"model": VECTORS, "input": text, **fields}
        return await self.gate.call("POST", "/embeddings", token=self.token, json=body)

    async def complete(self, *args: Any, **fields: Any) -> dict[str, Any]:
        """Send a request that must succeed in one response."""
        response = await self.chat(*args, **fields)
        assert response.status_code == 200, response.text
        return dict(response.json())

    async def refused(self, status: int, *args: Any, **fields: Any) -> dict[str, Any]:
        """Send a request that must be refused; check that no sum changed, and return the error."""
        before = await self.sheet()
        response = await self.chat(*args, **fields)
        assert response.status_code == status, response.text
        assert await self.sheet() == before
        return dict(response.json()["error"])

    async def guard(self, **fields: Any) -> str:
        """Assign a new guardrail to the key."""
        return await self.gate.guard(keys=[self.hash], workspace_id=self.workspace, **fields)

    async def own_key(self, provider: str, **fields: Any) -> str:
        """Store a provider key in the workspace."""
        body = {"provider": provider, "key": "pk-0123456789", "workspace_id": self.workspace}
        created = await self.gate.data("POST", "/byok", json={**body, **fields})
        return str(created["id"])

    async def generation(self, generation_id: str) -> dict[str, Any]:
        """Return the stored generation, once it is complete."""
        self.gate.clock.forward(seconds=60)
        return dict(await self.gate.data("GET", "/generation", params={"id": generation_id}))

    async def sheet(self) -> dict[str, Decimal]:
        """Every sum that a request with the key may change, in USD."""
        key = await self.gate.data("GET", f"/keys/{self.hash}")
        report = await self.gate.data("GET", "/key", token=self.token) if self.token else {}
        credits_ = await self.gate.data("GET", "/credits")
        sums = {name: exact(value) for name, value in key.items() if "usage" in name}
        sums["limit_remaining"] = exact(key["limit_remaining"] or 0)
        sums["credits"] = exact(credits_["total_usage"])
        for layer in report.get("budgets", ()):
            name = f"{layer['scope']} {layer['reset_interval']}"
            sums[name] = exact(layer["spend_usd"])
        return sums


def exact(value: float) -> Decimal:
    """An amount of a response, to the last booked decimal."""
    return Decimal(repr(value)).quantize(Decimal("1e-12"))


def moved(before: dict[str, Decimal], after: dict[str, Decimal]) -> dict[str, Decimal]:
    """Which sums changed, and by how much."""
    return {name: after[name] - before[name] for name in after if after[name] != before[name]}


@asynccontextmanager
async def caller(
    place: SharedGateway, *, workspace: dict[str, Any] | None = None, **key: Any
) -> AsyncIterator[Caller]:
    """A new key in a new workspace of the shared gateway."""
    transport = httpx.ASGITransport(app=place.gateway.asgi)
    async with httpx.AsyncClient(transport=transport, base_url=BASE_URL) as client:
        gate = GatewayHarness(place.gateway, place.clock, client, place.dialect)
        gate.token = place.gateway.issue_key(management=True)
        await gate.describe()
        name = f"ws-{next(_numbers)}"
        body = {"name": name, "slug": name, **(workspace or {})}
        created = await gate.data("POST", "/workspaces", json=body)
        data, token = await gate.create(workspace_id=created["id"], **key)
        yield Caller(gate, created["id"], data["hash"], token)


def list_price(
    model: str, tag: str, usage: dict[str, Any], prices: dict[str, str] | None = None
) -> Decimal:
    """The cost of a response at catalog prices. See section 6 of the inference contract."""
    wire = dict(build_catalog(1).endpoint(f"{model}|{tag}").wire["pricing"], **(prices or {}))
    details = usage.get("prompt_tokens_details") or {}
    cached = details.get("cached_tokens") or 0
    total = (
        (usage["prompt_tokens"] - cached) * Decimal(wire["prompt"])
        + cached * Decimal(wire.get("input_cache_read", wire["prompt"]))
        + usage.get("completion_tokens", 0) * Decimal(wire["completion"])
        + Decimal(wire.get("request", "0"))
    )
    return (total * (1 - Decimal(str(wire["discount"])))).quantize(Decimal("1e-12"))


def events(text: str) -> list[Any]:
    """The data of a stream's events; the last is "[DONE]" if the stream is complete."""
    results: list[Any] = []
    for block in text.split("\n\n"):
        for line in block.splitlines():
            if line.startswith("data: "):
                data = line.removeprefix("data: ")
                results.append(data if data == "[DONE]" else json.loads(data))
            else:
                assert line.startswith(":"), line
    return results
