"""The gateway under a random walk: in this process, every request counted where it arrives."""

from __future__ import annotations

import shutil
import tempfile
from collections import Counter
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import httpx
import pytest
from pydantic import SecretStr

from gwtui.client.connection import Connection, WriteGate
from gwtui.client.gateway import GatewayClient
from gwtui.client.request_log import ClockSkew, Traffic
from gwtui.client.transport import Transport
from gwtui.domain.clock import Clock
from gwtui.local.ledger import Ledger
from gwtui.ui.app import GwtuiApp
from seeded_gateways import open_gateway

BASE_URL = "https://gateway.test/api/v1"

Arrived = Callable[[str, str], None]
"""Told the method and the path of each request when it arrives, before anything is done."""


class WalkSite:
    """One gateway for one walk. ``requests`` counts what came from the dashboard, by method."""

    def __init__(self, clock: Clock, *, management: bool = True) -> None:
        self.clock = clock
        self.gateway = open_gateway(clock=clock)
        self.token = self.gateway.issue_key(management=management, name="walker")
        self.other = self.gateway.issue_key(management=True, name="colleague")
        self.requests: Counter[str] = Counter()
        self.folder = Path(tempfile.mkdtemp(prefix="gw-"))
        self.ledger = Ledger(self.folder / "audit.jsonl")
        self.arrived: Arrived = lambda _method, _path: None

    async def door(self, scope: Any, receive: Any, send: Any) -> None:
        """Where the dashboard's requests come in."""
        if scope["type"] == "http":
            self.requests[scope["method"]] += 1
            self.arrived(scope["method"], scope["path"])
        await self.gateway.asgi(scope, receive, send)

    def connection(self, **more: Any) -> Connection:
        return Connection(BASE_URL, SecretStr(self.token), label="walk", **more)

    def app(self, connection: Connection, monkeypatch: pytest.MonkeyPatch) -> GwtuiApp:
        """A dashboard that reaches this gateway without a network."""

        def transport(
            where: Connection, clock: Clock, *, gate: WriteGate, skew: ClockSkew, traffic: Traffic
        ) -> Transport:
            http = httpx.ASGITransport(self.door)  # type: ignore[arg-type]
            return Transport(where, clock=clock, gate=gate, skew=skew, traffic=traffic, http=http)

        @asynccontextmanager
        async def connect() -> AsyncIterator[Connection]:
            yield connection

        monkeypatch.setattr("gwtui.client.gateway.new_transport", transport)
        return GwtuiApp(connect, clock=self.clock, ledger=self.ledger)

    @asynccontextmanager
    async def colleague(self) -> AsyncIterator[GatewayClient]:
        """Another administrator, who is not counted."""
        where = replace(self.connection(), token=SecretStr(self.other))
        http = httpx.ASGITransport(self.gateway.asgi)
        transport = Transport(where, clock=self.clock, http=http)
        async with GatewayClient(where, clock=self.clock, transport=transport) as client:
            yield client

    def close(self) -> None:
        self.gateway.close()
        shutil.rmtree(self.folder, ignore_errors=True)
