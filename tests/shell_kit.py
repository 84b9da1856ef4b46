"""A dashboard on a real gateway behind a unix socket that tests can stop and start again."""

from __future__ import annotations

import asyncio
import gc
import shutil
import tempfile
import time
from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from pydantic import SecretStr
from textual.pilot import Pilot
from textual.strip import Strip

from gwtui.client.connection import Connection
from gwtui.domain.clock import Clock
from gwtui.embedded.faults import FaultInjector
from gwtui.embedded.hosting import host_on_socket
from gwtui.local.ledger import Ledger
from gwtui.ui.app import GwtuiApp
from gwtui.ui.screens.base import GatewayScreen
from gwtui.ui.screens.resource import ResourceScreen
from gwtui.ui.widgets.lines import OneLine
from in_process_requests import short_way
from seeded_gateways import open_gateway

_LOOK = 0.005
_LATER = 0.015
_SOON = 0.05
"""Seconds between two looks at what is waited for, and after so many seconds the further ones."""

START = datetime(2026, 11, 21, 7, 0, tzinfo=UTC)


def quick_clock(speed: float = 1.0) -> Clock:
    """A clock that runs ``speed`` times as fast as the real one.

    It stands at START until something measures time or sleeps, so that every world begins at the
    same moment.
    """
    begun: float | None = None

    def elapsed() -> float:
        nonlocal begun
        begun = time.monotonic() if begun is None else begun
        return (time.monotonic() - begun) * speed

    async def sleep(seconds: float) -> None:
        elapsed()
        await asyncio.sleep(seconds / speed)

    return Clock(
        now=lambda: START if begun is None else START + timedelta(seconds=elapsed()),
        monotonic=elapsed,
        sleep=sleep,
        chance=lambda: 0.5,
    )


class Site:
    """The gateway's side of a test."""

    def __init__(
        self, clock: Clock, *, content: Any = "simulated", faults: FaultInjector | None = None
    ) -> None:
        self.clock = clock
        self.gateway = open_gateway(content=content, clock=clock, faults=faults)
        self.token = self.gateway.issue_key(management=True)
        # A test's own folder has too long a name for a socket.
        self.folder = Path(tempfile.mkdtemp(prefix="gw-"))
        self.socket = self.folder / "s"
        self._hosting: AsyncExitStack | None = None
        self.refuse: Exception | None = None
        self.left = False

    async def start(self) -> None:
        self._hosting = AsyncExitStack()
        await self._hosting.enter_async_context(host_on_socket(self.gateway, self.socket))
        faults = self.gateway.faults
        self._hosting.enter_context(
            short_way(str(self.socket), self.gateway.asgi, lambda: faults and faults.armed)
        )

    async def stop(self) -> None:
        if self._hosting is not None:
            await self._hosting.aclose()
            self._hosting = None

    @asynccontextmanager
    async def connect(
        self, *, read_only: bool = False, critical: bool = False, token: str | None = None
    ) -> Any:
        if self.refuse is not None:
            raise self.refuse
        try:
            yield Connection(
                "http://localhost/api/v1",
                SecretStr(token or self.token),
                socket_path=self.socket,
                read_only=read_only,
                critical=critical,
                label="test",
                token_source="environment",
            )
        finally:
            self.left = True


@asynccontextmanager
async def site(
    *, speed: float = 1.0, content: Any = "simulated", faults: FaultInjector | None = None
) -> AsyncIterator[Site]:
    place = Site(quick_clock(speed), content=content, faults=faults)
    await place.start()
    try:
        yield place
    finally:
        await place.stop()
        place.gateway.close()
        shutil.rmtree(place.folder, ignore_errors=True)


@asynccontextmanager
async def dashboard(
    place: Site,
    folder: Path,
    *,
    start: str = "keys",
    size: tuple[int, int] = (120, 40),
    read_only: bool = False,
    token: str | None = None,
    loaded: bool = True,
) -> AsyncIterator[tuple[GwtuiApp, Pilot[int]]]:
    """The app on that gateway; with its first data unless ``loaded`` is False."""
    app = GwtuiApp(
        lambda: place.connect(read_only=read_only, token=token),
        clock=place.clock,
        start=start,
        ledger=Ledger(folder / "audit.jsonl"),
    )
    async with app.run_test(size=size, notifications=True, tooltips=True) as pilot:
        await until(pilot, lambda: app.navigation.screen is not None, "the start screen")
        if loaded:
            await until(pilot, lambda: has_data(app), "the first data")
        yield app, pilot


def has_data(app: GwtuiApp) -> bool:
    screen = app.navigation.screen
    states = screen.states if screen is not None else ()
    return bool(states) and states[0].fetched_at is not None and app.screen is screen


async def until(
    pilot: Pilot[int], holds: Callable[[], Any], what: str, seconds: float = 60
) -> None:
    """Wait until something holds, for a bounded time."""
    begun = time.monotonic()
    while not holds():
        passed = time.monotonic() - begun
        assert passed < seconds, f"waited in vain for {what}"
        assert pilot.app._exception is None, f"the app failed before {what}"
        # Not the pilot's pause, which goes through every widget first.
        await asyncio.sleep(_LOOK if passed < _SOON else _LATER)
    await pilot.pause()


def listing(app: GwtuiApp) -> ResourceScreen:
    screen = app.navigation.screen
    assert isinstance(screen, ResourceScreen)
    return screen


def strips() -> int:
    """How many lines are kept as they were painted, by whatever runs in this process."""
    gc.collect()
    return sum(isinstance(one, Strip) for one in gc.get_objects())


def line(screen: GatewayScreen, name: str) -> str:
    """The text of a line of the frame, empty while it is hidden."""
    widget = screen.query_one(f"#{name}", OneLine)
    return widget.text if widget.display else ""


def notices(app: GwtuiApp) -> str:
    return "\n".join(str(notice.message) for notice in app._notifications)
