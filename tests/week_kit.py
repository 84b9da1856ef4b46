"""A week at a small account of the embedded gateway, watched and recorded, in seconds.

Real: the simulator with its usage and figures, the service layer, the feeds, the recorder with its
upkeep, the alert engine, the file. By hand: the clock and the events (``week_scenario``). What the
gateway answered is kept apart, to compare with what was recorded.
"""

from __future__ import annotations

import asyncio
import heapq
import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from datetime import datetime
from decimal import Decimal
from functools import cache, cached_property
from itertools import count
from pathlib import Path
from typing import Any, cast

import httpx
import pytest
from pydantic import SecretStr
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from fake_clock import FakeClock
from gwtui.client.connection import Connection
from gwtui.client.gateway import GatewayClient
from gwtui.client.transport import Transport
from gwtui.contract.budgets import PutBudgetRequest
from gwtui.contract.guardrails import UpdateGuardrailRequest
from gwtui.contract.keys import UpdateKeyRequest
from gwtui.embedded.faults import FaultInjector
from gwtui.embedded.gateway import EmbeddedGateway
from gwtui.embedded.simulator import catalog as simulated_catalog
from gwtui.embedded.simulator.catalog import Catalog, CatalogModel, build_catalog
from gwtui.embedded.simulator.endpoint_figures import EndpointHealth, _Incident
from gwtui.embedded.store import account
from gwtui.watch.alerts import derived_figures, session
from gwtui.watch.alerts.session import AlertScope, open_alerts
from gwtui.watch.history import archive as archive_module
from gwtui.watch.history import recorder as recorder_module
from gwtui.watch.history.archive import Archive
from gwtui.watch.history.recorder import Recorder
from gwtui.watch.history.sources import Paces
from gwtui.watch.history.writer import watch_model
from gwtui.watch.hub import FeedHub
from recorded_gateway_kit import Inline
from seeded_gateways import open_gateway
from week_scenario import (
    DEARER_AT,
    DOWN,
    EDITED_AT,
    END,
    KEPT,
    LIMITED,
    MODEL,
    OUTAGES,
    REAL,
    RENAMED,
    RULES,
    START,
    TOO_LITTLE_AT,
    TOPPED_UP_AT,
    UNREADABLE,
    UPTIMES,
    at,
)


class WeekTime(FakeClock):
    """Wakes everybody who is due at a moment together, and waits for every answer."""

    def __init__(self) -> None:
        super().__init__(START)
        self.under_way = 0
        """Requests that wait for their answer."""

    async def advance(self, seconds: float) -> None:
        until = self.elapsed + seconds
        await self.settle()
        while self._sleepers and self._sleepers[0][0] <= until:
            self.elapsed = max(self.elapsed, self._sleepers[0][0])
            while self._sleepers and self._sleepers[0][0] <= self.elapsed:
                woken = heapq.heappop(self._sleepers)[2]
                if not woken.done():
                    woken.set_result(None)
            await self.settle()
        self.elapsed = until
        await self.settle()

    async def until(self, moment: datetime) -> None:
        await self.advance((moment - self.now()).total_seconds())

    async def settle(self) -> None:
        quiet = 0
        while quiet < 40:
            await asyncio.sleep(0)
            quiet = 0 if self.under_way else quiet + 1


@dataclass
class Witness:
    """Stands at the gateway's door and writes down every good answer to a read, by path."""

    app: ASGIApp
    time: WeekTime
    book: Path
    """On disk: in memory it would hide what the program itself takes."""
    requests: int = 0

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        self.requests += 1
        parts: list[bytes] = []
        status = 0

        async def heard(message: Message) -> None:
            nonlocal status
            status = message.get("status", status)
            parts.append(message.get("body", b""))
            await send(message)

        self.time.under_way += 1
        try:
            await self.app(scope, receive, heard)
        finally:
            self.time.under_way -= 1
        if scope["method"] == "GET" and status == 200:
            path = scope["path"].removeprefix("/api/v1")
            whole = b"".join(parts)
            with self.book.open("ab") as book:
                book.write(f"{self.time.now().isoformat()} {path} {len(whole)}\n".encode() + whole)

    def heard(self, path: str) -> Iterator[tuple[datetime, Any]]:
        """What was answered, exactly as it was written."""
        with self.book.open("rb") as book:
            while head := book.readline():
                moment, of, length = head.decode().split()
                body = book.read(int(length))
                if of == path:
                    said = json.loads(body, parse_float=Decimal, parse_int=Decimal)
                    yield datetime.fromisoformat(moment), said["data"]


@dataclass(frozen=True)
class DearerCatalog(Catalog):
    """The catalog, in which an endpoint costs twice as much from a moment on."""

    now: Callable[[], datetime] = field(kw_only=True)

    def model(self, model_id: str) -> CatalogModel | None:
        found = super().model(model_id)
        if found is None or self.now() < DEARER_AT:
            return found
        return replace(found, endpoints=tuple(map(_dearer, found.endpoints)))


def _dearer(endpoint: Any) -> Any:
    if endpoint.key != DOWN:
        return endpoint
    pricing = dict(endpoint.wire["pricing"])
    pricing["prompt"] = str(Decimal(pricing["prompt"]) * 2)
    return replace(endpoint, wire={**endpoint.wire, "pricing": pricing})


@contextmanager
def _troubles(time: WeekTime, pace: int) -> Iterator[None]:
    """What happens in the week; with long pauses between readings nobody beats in between."""
    incident_at = EndpointHealth._incident_at
    outages = [_Incident(begin.timestamp(), end.timestamp(), depth=1.0) for begin, end in OUTAGES]

    def incident(health: EndpointHealth, moment: float) -> _Incident | None:
        if health.key == DOWN:
            for outage in outages:
                if outage.start < moment < outage.end:
                    return outage
        return incident_at(health, moment)

    @cache
    def catalog(seed: int) -> Catalog:
        plain = build_catalog(seed)
        return DearerCatalog(plain.seed, plain.models, plain.providers, now=time.now)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(archive_module, "ThreadPoolExecutor", Inline)
        patch.setattr(EndpointHealth, "_incident_at", incident)
        patch.setattr(simulated_catalog, "build_catalog", catalog)
        if pace > REAL:
            patch.setattr(recorder_module, "CLAIM_EVERY", pace)
            for module in (session, derived_figures):
                patch.setattr(module, "EVERY", pace)
        yield


Truth = list[tuple[datetime, Any]]
"""The moments of all readings, and what each of them said."""


@dataclass(frozen=True)
class Week:
    """What is left of it: the file, what the gateway had answered, the resident bytes."""

    path: Path
    rules: Path
    pace: int
    witness: Witness
    readings: int
    keys: dict[str, str]
    """The hashes of the keys by the names they began with."""
    resident: tuple[int, int]
    """Of the process, after half of the week and at its end; 0 where nobody knows."""

    def endpoint(self, tag: str, name: str) -> Truth:
        """A figure of an endpoint, in every reading."""
        return self._endpoints[tag, name]

    def key(self, name: str) -> Truth:
        """What a key had left of its limit, in every reading."""
        return self._keys[self.keys[name]]

    @cached_property
    def balance(self) -> Truth:
        """What was left of the credits, in every reading."""
        return [
            (moment, data["total_credits"] - data["total_usage"])
            for moment, data in self.witness.heard("/credits")
        ]

    @cached_property
    def _endpoints(self) -> dict[tuple[str, str], Truth]:
        found: dict[tuple[str, str], Truth] = {}
        for moment, data in self.witness.heard(f"/models/{MODEL}/endpoints"):
            for row in data["endpoints"]:
                values = {name: row[name] for name in UPTIMES}
                values["price_prompt"] = Decimal(row["pricing"]["prompt"])
                for name, value in values.items():
                    found.setdefault((row["tag"], name), []).append((moment, value))
        return found

    @cached_property
    def _keys(self) -> dict[str, Truth]:
        found: dict[str, Truth] = {}
        for moment, data in self.witness.heard("/keys"):
            for row in data:
                found.setdefault(row["hash"], []).append((moment, row["limit_remaining"]))
        return found


def run_week(folder: Path, pace: int) -> Week:
    """Live through it, with ``pace`` seconds between two readings."""
    time = WeekTime()
    with _troubles(time, pace):
        return asyncio.run(_live(folder, pace, time))


async def _live(folder: Path, pace: int, time: WeekTime) -> Week:
    gateway = open_gateway(clock=time.clock, faults=FaultInjector())
    witness = Witness(gateway.asgi, time, folder / "answers")
    token = SecretStr(gateway.issue_key(management=True))
    where = Connection("http://localhost/api/v1", token=token)
    http = httpx.ASGITransport(cast("Any", witness))
    transport = Transport(where, clock=time.clock, http=http)
    async with GatewayClient(where, clock=time.clock, transport=transport) as client:
        keys = await _small_account(client, gateway)
        witness.book.write_bytes(b"")
        path, rules = folder / "history" / "week.sqlite3", folder / "alerts.toml"
        rules.write_text(RULES)
        hub = FeedHub(client, time.clock)
        archive = await Archive.open(path, time.clock)
        await archive.write(lambda db: watch_model(db, MODEL, START))
        paces = Paces(pace, pace, pace, 5 * pace, 5 * pace)
        recorder = Recorder(hub, archive, time.clock, paces)
        written = count()
        recorder.listen(lambda _: next(written))
        scope = AlertScope("week", where.base_url, rules)
        await recorder.start()
        async with open_alerts(
            recorder, hub, scope=scope, who="kim@ops", clock=time.clock
        ) as alerts:
            half = await _events(time, client, gateway, keys)
            assert not alerts.problem
        assert recorder.status.error is None
        await recorder.stop()
        await archive.close()
        await hub.close()
    gateway.close()
    resident = (half, _resident())
    return Week(path, rules, pace, witness, next(written), keys, resident)


async def _events(
    time: WeekTime, client: GatewayClient, gateway: EmbeddedGateway, keys: dict[str, str]
) -> int:
    """Let the week pass with what people do in it; the resident bytes after half of it."""
    assert gateway.faults is not None
    await time.until(at(4, 12))
    half = _resident()
    await time.until(EDITED_AT)
    await _edit(client, keys)
    await time.until(TOO_LITTLE_AT)
    _buy(gateway, Decimal(4))
    await time.until(UNREADABLE[0])
    gateway.faults.arm("503=300")
    await time.until(UNREADABLE[1])
    gateway.faults.clear()
    await time.until(TOPPED_UP_AT)
    _buy(gateway, Decimal(500))
    await time.until(END)
    return half


async def _small_account(client: GatewayClient, gateway: EmbeddedGateway) -> dict[str, str]:
    """One workspace with three keys, one of them with a limit, and credits for some days."""
    kept: dict[str, str] = {}
    for workspace in (await client.workspaces.list()).items:
        for key in (await client.keys.list(workspace_id=workspace.id)).items:
            if key.name in KEPT:
                kept[key.name or ""] = key.hash or ""
            else:
                await client.keys.delete(key.hash or "")
        if workspace.slug != "default":
            await client.workspaces.delete(workspace.id or "")
    limit = UpdateKeyRequest(limit=Decimal(10), limit_reset="weekly")
    await client.keys.update(kept[LIMITED], limit)
    left = (await client.credits.get()).balance
    assert left is not None
    _buy(gateway, 43 - left)
    return kept


def _buy(gateway: EmbeddedGateway, amount: Decimal) -> None:
    """The gateway's API sells none; less than nothing takes some away."""
    with gateway._database.write() as db:
        account.buy(db, gateway.clock.now(), amount)


async def _edit(client: GatewayClient, keys: dict[str, str]) -> None:
    await client.keys.update(keys[RENAMED], UpdateKeyRequest(name="chat bot"))
    await client.workspaces.put_budget(
        "default", "monthly", PutBudgetRequest(limit_usd=Decimal(5000))
    )
    guardrail = next(one for one in (await client.guardrails.list()).items if one.limit_usd is None)
    await client.guardrails.update(guardrail.id or "", UpdateGuardrailRequest(limit_usd=Decimal(7)))


def _resident() -> int:
    try:
        return int(Path("/proc/self/statm").read_text("ascii").split()[1]) * 4096
    except OSError:
        return 0
