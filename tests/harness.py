"""The dashboard harness: an embedded gateway, the app connected to it, and its user.

A second administrator can work at the same gateway (``colleague``).
"""

from __future__ import annotations

import asyncio
import gc
import shutil
import tempfile
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack, asynccontextmanager, nullcontext
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from types import SimpleNamespace
from typing import Any, TypeVar

from pydantic import SecretStr
from textual.pilot import Pilot
from textual.screen import Screen
from textual.strip import Strip

from gwtui.client.connection import Connection
from gwtui.client.gateway import GatewayClient
from gwtui.contract.dialects import GENERIC, Dialect
from gwtui.crud.writes import declared_writes
from gwtui.domain.clock import Clock
from gwtui.embedded.faults import FaultInjector
from gwtui.embedded.gateway import EmbeddedGateway
from gwtui.embedded.hosting import host_on_socket
from gwtui.local.ledger import Ledger, LedgerEntry
from gwtui.ui.app import GwtuiApp
from gwtui.ui.forms.field_editors import TextEditor
from gwtui.ui.forms.row import FieldRow
from gwtui.ui.screens.base import GatewayScreen
from gwtui.ui.screens.resource import ResourceScreen
from gwtui.ui.widgets.lines import OneLine
from in_process_requests import short_way
from screen_text import screen_text
from seeded_gateways import no_chance, open_gateway

MOMENT = datetime(2026, 11, 21, 9, 30, tzinfo=UTC)
"""The time of a stopped clock."""
START = datetime(2026, 11, 21, 7, 0, tzinfo=UTC)
"""The start time of a quick clock."""
ALERTS = 13
"""Number of alerts in the simulated world."""
_CALM = 3
"""Number of consecutive idle checks: the dashboard is also idle between two steps."""
_LOOK, _LATER, _SOON = 0.005, 0.015, 0.05
"""Seconds between two checks of a condition, between later checks, and until those begin."""

H = TypeVar("H", bound="Harness")
Steps = Callable[[Pilot[Any]], Awaitable[None]]


def quick_clock(speed: float = 1.0) -> Clock:
    """Return a clock that runs ``speed`` times as fast as the real one.

    It stands at START until something measures time or sleeps, so that every world begins at the
    same time.
    """
    started: float | None = None

    def elapsed() -> float:
        nonlocal started
        started = time.monotonic() if started is None else started
        return (time.monotonic() - started) * speed

    async def sleep(seconds: float) -> None:
        elapsed()
        await asyncio.sleep(seconds / speed)

    return Clock(
        now=lambda: START if started is None else START + timedelta(seconds=elapsed()),
        monotonic=elapsed,
        sleep=sleep,
        chance=lambda: 0.5,
    )


@dataclass(repr=False)
class Harness:
    """An embedded gateway for one test behind a socket, and the dashboard connected to it.

    Without a ``ticking`` clock, time stands still at MOMENT; ``passed`` advances it. ``fault``
    decides about each request: "" answers it, "silent" never does, a status refuses it; if
    ``released`` is given, each request waits for it first. ``write_faults`` are the faults of the
    next write requests. ``refuse`` is raised instead of connecting.
    """

    ticking: Clock | None = None
    content: Any = "simulated"
    dialect: Dialect = GENERIC
    read_only: bool = False
    management: bool = True
    faults: FaultInjector | None = None
    fault: str = ""
    released: asyncio.Event | None = None
    write_faults: list[str] = field(default_factory=list)
    passed: timedelta = timedelta()
    refuse: Exception | None = None
    token_source: str = "demo"
    disconnected: bool = False
    """Whether the dashboard closed its connection."""
    folder: Path = field(default_factory=lambda: Path(tempfile.mkdtemp(prefix="gw-")))
    """The directory of the socket; ``tmp_path`` is too long for a socket path."""
    entries_before: int = 0
    """Number of ledger entries before this step."""
    clock: Clock = field(init=False)
    gateway: EmbeddedGateway = field(init=False)
    ledger: Ledger = field(init=False)
    app: GwtuiApp = field(init=False)
    pilot: Pilot[int] = field(init=False)

    def __post_init__(self) -> None:
        self.clock = self.ticking or Clock(
            now=lambda: MOMENT + self.passed,
            sleep=lambda seconds: asyncio.sleep(3600 if self.refuse else seconds / 50),
            chance=lambda: 0.5,
        )
        self.gateway = open_gateway(
            content=self.content,
            clock=self.ticking or Clock(now=lambda: MOMENT),
            dialect=self.dialect,
            faults=self.faults,
        )
        with nullcontext() if self.ticking else no_chance():  # pictures contain the key's label
            self.token = self.gateway.issue_key(management=self.management, name="operator")
        self.ledger = Ledger(self.folder / "audit.jsonl")
        self.socket = self.folder / "s"
        self._hosting: AsyncExitStack | None = None
        self._kept_running = False

    # The gateway ------------------------------------------------------------------------------

    async def start(self) -> None:
        """Serve until ``stop``, not only while a client is connected."""
        self._kept_running = True
        self._hosting = AsyncExitStack()
        await self._host(self._hosting)

    async def stop(self) -> None:
        if self._hosting is not None:
            await self._hosting.aclose()
            self._hosting = None

    def close(self) -> None:
        self.gateway.close()
        shutil.rmtree(self.folder, ignore_errors=True)

    async def _host(self, stack: AsyncExitStack) -> None:
        host: Any = SimpleNamespace(asgi=self.answer, faults=self.faults, clock=self.gateway.clock)
        await stack.enter_async_context(host_on_socket(host, self.socket))
        stack.enter_context(short_way(str(self.socket), self.answer, self._fails))

    def _fails(self) -> object:
        return self.fault or self.write_faults or (self.faults and self.faults.armed)

    def fall_silent(self) -> None:
        """Stop responding, and stop the clock so that no timeout is reported."""
        self.fault = "silent"
        self.clock = replace(self.clock, monotonic=lambda: 0.0)

    async def answer(self, scope: Any, receive: Any, send: Any) -> None:
        """Return the response of the gateway, or raise its failure."""
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
    async def connect(
        self, *, read_only: bool | None = None, critical: bool = False, token: str | None = None
    ) -> AsyncIterator[Connection]:
        """Return what the dashboard connects to after its first paint."""
        if self.refuse is not None:
            raise self.refuse
        async with AsyncExitStack() as stack:
            if not self._kept_running:
                await self._host(stack)
            try:
                yield Connection(
                    base_url="http://demo/api/v1",
                    token=SecretStr(token or self.token),
                    socket_path=self.socket,
                    dialect=self.dialect,
                    read_only=self.read_only if read_only is None else read_only,
                    critical=critical,
                    label="demo",
                    token_source=self.token_source,
                )
            finally:
                self.disconnected = True

    @asynccontextmanager
    async def colleague(self) -> AsyncIterator[GatewayClient]:
        """A second administrator."""
        async with (
            self.connect() as connection,
            GatewayClient(connection, clock=self.clock) as client,
        ):
            yield client

    # The dashboard ----------------------------------------------------------------------------

    def make_app(self, start: str = "keys", **options: Any) -> GwtuiApp:
        return GwtuiApp(
            self.connect,
            clock=self.clock,
            start=start,
            local_zone=UTC,
            ledger=self.ledger,
            **options,
        )

    async def press(
        self, *keys: str, opens: type[Screen[Any]] | None = None, says: str = ""
    ) -> Any:
        """Press keys, then wait for a notice or a screen of this class, which is returned."""
        await self.pilot.press(*keys)
        if says:
            await self.until_notice(says)
        return None if opens is None else await self.wait_for(opens)

    async def until(self, holds: Callable[[], Any], what: str) -> None:
        await until(self.pilot, holds, what)

    async def wait_for(self, kind: type[Screen[Any]]) -> Any:
        """Wait until a screen of this class is on top, and return it."""
        await self.until(lambda: isinstance(self.app.screen, kind), kind.__name__)
        return self.app.screen

    async def back_to_list(self) -> None:
        """Wait until no dialog is above the list."""
        await self.until(lambda: self.app.screen is self.app.navigation.screen, "the list")

    async def until_notice(self, words: str) -> None:
        """Wait until a notice contains this text."""
        await self.until(lambda: words in notices(self.app), words)

    async def reads(self, words: str) -> None:
        """Wait until the screen contains this text, wherever its lines break."""
        await self.until(lambda: words in self.text, f"“{words}” in {self.text}")

    @property
    def text(self) -> str:
        """The text of the screen, with white space and frames collapsed."""
        return " ".join(screen_text(self.app).replace("│", " ").replace("▌", " ").split())

    async def rows(self, resource: str) -> Any:
        """Wait until a list has rows, and return its table."""
        await self.until(lambda: listing(self.app).resource == resource, resource)
        await self.until(lambda: listing(self.app).table.model.total, "rows")
        return listing(self.app).table

    @property
    def selected(self) -> Any:
        return listing(self.app).table.selected

    async def select(self, **values: Any) -> Any:
        """Select the first row whose resource has these values, and return the resource."""
        screen = listing(self.app)
        of_row = declared_writes(screen.declared).of_row
        for identity in screen.table.model.order:
            screen.table.select(identity)
            resource = of_row(self.selected)
            if all(getattr(resource, name) == value for name, value in values.items()):
                await self.pilot.pause()
                return resource
        raise AssertionError(f"no row with {values}")

    async def read(self, identity: str | None) -> Any:
        """Return a resource of the visible list, freshly read from the gateway."""
        async with self.colleague() as client:
            writes = declared_writes(listing(self.app).declared)
            return await writes.read(client, identity or "")

    async def focus(self, name: str) -> None:
        """Focus a field of the form."""
        self.app.screen.query_one(f"#field-{name}", FieldRow).editor.focus()
        await self.pilot.pause()

    async def type_into(self, name: str, text: str) -> None:
        """Replace the text of a field of the form."""
        editor = self.app.screen.query_one(f"#field-{name}", FieldRow).query_one(TextEditor)
        editor.focus()
        await self.press("end", *["backspace"] * len(editor.value), *text)
        await self.pilot.pause()

    async def acknowledge(self) -> None:
        """Confirm that the value of a new key is stored."""
        self.app.screen.query_one("#stored").focus()
        await self.press("space", "tab", "enter")
        await self.back_to_list()

    def entries(self) -> list[LedgerEntry]:
        """The ledger entries of this step."""
        return [*self.ledger.entries()][::-1][self.entries_before :]

    def events(self) -> list[str]:
        return [entry.outcome for entry in self.entries()]

    async def walk(self, *steps: Callable[[Any], Awaitable[None]]) -> None:
        """Run several steps on one dashboard, because starting one takes longer than most steps.

        Each step begins on the list, without dialogs and notices. Changes at the gateway remain. A
        failure names its step.
        """
        for step in steps:
            try:
                await step(self)
                await start_over(self.app, self.pilot)
            except BaseException as error:
                error.add_note(f"in the step {step.__name__}")
                raise
            self.entries_before = sum(1 for _ in self.ledger.entries())


@asynccontextmanager
async def harness(
    kind: type[H] = Harness,  # type: ignore[assignment] - only whoever names another gets another
    *,
    speed: float = 1.0,
    clock: Clock | None = None,
    **options: Any,
) -> AsyncIterator[H]:
    """A gateway that is served while the context lasts, with a running clock."""
    opened = kind(clock or quick_clock(speed), token_source="environment", **options)
    await opened.start()
    try:
        yield opened
    finally:
        await opened.stop()
        opened.close()


@asynccontextmanager
async def dashboard(
    of: Harness,
    *,
    size: tuple[int, int] = (120, 40),
    read_only: bool | None = None,
    critical: bool = False,
    token: str | None = None,
    loaded: bool = True,
    **options: Any,
) -> AsyncIterator[tuple[GwtuiApp, Pilot[int]]]:
    """The app on this gateway, after its first data unless ``loaded`` is False."""
    of.ledger = options.setdefault("ledger", of.ledger)
    of.app = app = GwtuiApp(
        lambda: of.connect(read_only=read_only, critical=critical, token=token),
        clock=of.clock,
        **options,
    )
    async with app.run_test(size=size, notifications=True, tooltips=True) as of.pilot:
        await until(of.pilot, lambda: app.navigation.screen is not None, "the start screen")
        if loaded:
            await until(of.pilot, lambda: has_data(app), "the first data")
        yield app, of.pilot


async def start_over(app: GwtuiApp, pilot: Pilot[Any]) -> None:
    """Close every dialog without a choice, and clear the notices."""
    while app.screen is not app.navigation.screen:
        await app.screen.dismiss(None)
        await pilot.pause()
    app.clear_notifications()
    await pilot.pause()


# Waiting ------------------------------------------------------------------------------------------


async def until(
    pilot: Pilot[int], holds: Callable[[], Any], what: str, seconds: float = 60
) -> None:
    """Wait until a condition holds; raises AssertionError after a timeout."""
    start = time.monotonic()
    while not holds():
        passed = time.monotonic() - start
        assert passed < seconds, f"waited in vain for {what}"
        assert pilot.app._exception is None, f"the app failed before {what}"
        # The pilot's pause would visit every widget first.
        await asyncio.sleep(_LOOK if passed < _SOON else _LATER)
    await pilot.pause()


async def all_fired(pilot: Pilot[Any]) -> None:
    """Wait until every alert of the simulated world has fired and is on the badge."""
    app = pilot.app
    assert isinstance(app, GwtuiApp)

    def fired() -> bool:
        badge = None if app.notices is None else app.notices.badge
        return badge is not None and badge.text.startswith(f"{ALERTS} ")

    await until(pilot, fired, f"{ALERTS} alerts")


async def settled(pilot: Pilot[Any]) -> None:
    """Wait until connection, feeds and painting are idle."""
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
    """Whether a change is not painted yet, or something waits for the paint."""
    pending = screen._layout_required or screen._repaint_required or bool(screen._dirty_widgets)
    return pending or bool(getattr(screen, "_after_paint", ()))


def pressing(*keys: str) -> Steps:
    """Press keys one by one and wait after each; "type ..." types a text."""

    async def steps(pilot: Pilot[Any]) -> None:
        await settled(pilot)
        for key in keys:
            text = key.removeprefix("type ")
            await pilot.press(*([key] if text == key else text))
            await settled(pilot)

    return steps


# What is shown ------------------------------------------------------------------------------------


def has_data(app: GwtuiApp) -> bool:
    screen = app.navigation.screen
    states = screen.states if screen is not None else ()
    return bool(states) and states[0].fetched_at is not None and app.screen is screen


def listing(app: GwtuiApp) -> ResourceScreen:
    screen = app.navigation.screen
    assert isinstance(screen, ResourceScreen)
    return screen


def strips() -> int:
    """The number of cached painted lines in this process."""
    gc.collect()
    return sum(isinstance(item, Strip) for item in gc.get_objects())


def line(screen: GatewayScreen, name: str) -> str:
    """The text of a line of the frame, empty while it is hidden."""
    widget = screen.query_one(f"#{name}", OneLine)
    return widget.text if widget.display else ""


def notices(app: GwtuiApp) -> str:
    return "\n".join(str(notice.message) for notice in app._notifications)
