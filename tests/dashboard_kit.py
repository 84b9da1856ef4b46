"""The dashboard on the real embedded gateway, with a clock that stands still."""

from __future__ import annotations

import asyncio
import shutil
import tempfile
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from pydantic import SecretStr
from textual.pilot import Pilot
from textual.screen import Screen

from gwtui.client.connection import Connection
from gwtui.domain.clock import Clock
from gwtui.embedded.gateway import EmbeddedGateway
from gwtui.embedded.hosting import host_on_socket
from gwtui.local.ledger import Ledger
from gwtui.ui.app import GwtuiApp
from in_process_requests import short_way
from seeded_gateways import no_chance, open_gateway

MOMENT = datetime(2026, 11, 21, 9, 30, tzinfo=UTC)

_CALM = 3
"""Looks in a row that find a dashboard at rest: it is so for a moment between two steps, too."""

Steps = Callable[[Pilot[Any]], Awaitable[None]]


@dataclass
class Demo:
    """One embedded gateway for one test, reached over its own socket.

    ``fault`` decides what becomes of each request: "" answers it, "silent" never does, a status
    refuses it; where ``released`` is given, each waits for that first. ``write_faults`` are those
    of the next requests that change something. ``passed`` is how far the clock was moved by hand.
    """

    content: Any = "simulated"
    read_only: bool = False
    management: bool = True
    fault: str = ""
    released: asyncio.Event | None = None
    write_faults: list[str] = field(default_factory=list)
    passed: timedelta = timedelta()
    unreachable: bool = False
    folder: Path = field(default_factory=lambda: Path(tempfile.mkdtemp(prefix="gw-")))
    gateway: EmbeddedGateway = field(init=False)
    clock: Clock = field(init=False)

    def __post_init__(self) -> None:
        self.clock = Clock(
            now=lambda: MOMENT + self.passed,
            sleep=lambda seconds: asyncio.sleep(3600 if self.unreachable else seconds / 50),
            chance=lambda: 0.5,
        )
        self.gateway = open_gateway(content=self.content, clock=Clock(now=lambda: MOMENT))
        with no_chance():
            self.token = self.gateway.issue_key(management=self.management, name="operator")

    def fall_silent(self) -> None:
        """Answer nothing from now on, and let no time pass after which that would be said."""
        self.fault = "silent"
        self.clock = replace(self.clock, monotonic=lambda: 0.0)

    async def answer(self, scope: Any, receive: Any, send: Any) -> None:
        """The gateway, or its failure."""
        if scope["type"] == "http" and self.released is not None:
            await self.released.wait()
        fault = self.fault
        if scope["type"] == "http" and scope["method"] != "GET" and self.write_faults:
            fault = self.write_faults.pop(0)
        if scope["type"] != "http" or not fault:
            await self.gateway.asgi(scope, receive, send)
        elif fault == "silent":
            while (await receive())["type"] != "http.disconnect":
                pass
        else:
            body = b'{"error": {"code": %s, "message": "The service is down for maintenance"}}'
            headers = [(b"content-type", b"application/json"), (b"x-request-id", b"req-1")]
            status = {"type": "http.response.start", "status": int(fault)}
            await send({**status, "headers": headers})
            await send({"type": "http.response.body", "body": body % fault.encode()})

    @asynccontextmanager
    async def connect(self) -> AsyncIterator[Connection]:
        """What the dashboard enters after its first paint."""
        if self.unreachable:
            raise ConnectionRefusedError(111, "Connection refused")
        socket_path = self.folder / "gateway.sock"
        host: Any = SimpleNamespace(asgi=self.answer, faults=None, clock=self.gateway.clock)
        async with host_on_socket(host, socket_path):
            with short_way(str(socket_path), self.answer, lambda: self.fault or self.write_faults):
                yield Connection(
                    base_url="http://demo/api/v1",
                    token=SecretStr(self.token),
                    socket_path=socket_path,
                    read_only=self.read_only,
                    label="demo",
                    token_source="demo",
                )

    def app(
        self,
        start: str = "keys",
        theme: str | None = None,
        data: Path | None = None,
        config: Path | None = None,
    ) -> GwtuiApp:
        return GwtuiApp(
            self.connect,
            clock=self.clock,
            start=start,
            theme=theme,
            local_zone=UTC,
            ledger=Ledger(self.folder / "audit.jsonl"),
            data=data,
            config=config,
        )

    def close(self) -> None:
        self.gateway.close()
        shutil.rmtree(self.folder, ignore_errors=True)


async def settled(pilot: Pilot[Any]) -> None:
    """Wait until connection, feeds and painting have come to rest."""
    app = pilot.app
    assert isinstance(app, GwtuiApp)
    deadline, calm = time.monotonic() + 60, 0
    while calm < _CALM:
        assert time.monotonic() < deadline, "the dashboard never came to rest"
        await pilot.pause()
        calm = calm + 1 if not _busy(app) else 0


def _busy(app: GwtuiApp) -> bool:
    if app._typed.pending or app._batch_count:  # nothing is laid out in a batch of updates
        return True
    if app.session is None:
        return app.link.error is None
    if app.navigation.screen is None:
        return True
    # The detail pane follows a moment after the cursor.
    detail = getattr(app.navigation.screen, "detail", None)
    if detail is not None and detail._resting is not None:
        return True
    if _unpainted(app.screen):
        return True
    now = app.clock.now()
    return any(
        feed.watched and (feed.state.refreshing or feed.state.phase(now) == "loading")
        for feed in app.session.hub.feeds
    )


def _unpainted(screen: Screen[Any]) -> bool:
    """Whether a change is still to be painted, or something waits for the paint."""
    wanted = screen._layout_required or screen._repaint_required or bool(screen._dirty_widgets)
    return wanted or bool(getattr(screen, "_after_paint", ()))


def pressing(*keys: str) -> Steps:
    """Press keys one by one, letting the app come to rest after each; "type ..." types a text."""

    async def steps(pilot: Pilot[Any]) -> None:
        await settled(pilot)
        for key in keys:
            text = key.removeprefix("type ")
            await pilot.press(*([key] if text == key else text))
            await settled(pilot)

    return steps
