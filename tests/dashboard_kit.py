"""The dashboard on the real embedded gateway, with a clock that stands still."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from pydantic import SecretStr

from gwtui.client.connection import Connection
from gwtui.domain.clock import Clock
from gwtui.embedded.gateway import EmbeddedGateway
from gwtui.embedded.hosting import host_on_socket
from gwtui.local.journal import Journal
from gwtui.ui.app import GwtuiApp

MOMENT = datetime(2026, 11, 21, 9, 30, tzinfo=UTC)


def still_clock() -> Clock:
    """A clock that always says the same moment; sleeping is real."""
    return Clock(now=lambda: MOMENT, chance=lambda: 0.5)


@dataclass
class Demo:
    """One embedded gateway for one test, reached over its own socket."""

    clock: Clock = field(default_factory=still_clock)
    content: Any = "simulated"
    read_only: bool = False
    token: str | None = None
    folder: Path = field(default_factory=lambda: Path(tempfile.mkdtemp(prefix="gw-")))
    gateway: EmbeddedGateway = field(init=False)

    def __post_init__(self) -> None:
        self.gateway = EmbeddedGateway.open(None, content=self.content, clock=self.clock)
        if self.token is None:
            self.token = self.gateway.issue_key(management=True, name="operator")

    @asynccontextmanager
    async def connect(self) -> AsyncIterator[Connection]:
        """What the dashboard enters after its first paint."""
        socket_path = self.folder / "gateway.sock"
        async with host_on_socket(self.gateway, socket_path):
            yield self.connection(socket_path)

    def connection(self, socket_path: Path) -> Connection:
        return Connection(
            base_url="http://demo/api/v1",
            token=SecretStr(self.token or "none"),
            socket_path=socket_path,
            read_only=self.read_only,
            label="demo",
            token_source="demo",
        )

    def app(self, start: str = "keys", theme: str | None = None) -> GwtuiApp:
        return GwtuiApp(
            self.connect,
            clock=self.clock,
            start=start,
            theme=theme,
            local_zone=UTC,
            journal=Journal(self.folder / "journal.jsonl"),
        )

    def close(self) -> None:
        self.gateway.close()
        shutil.rmtree(self.folder, ignore_errors=True)


async def until(pilot: Any, true: Callable[[], bool], what: str = "it") -> None:
    """Let the app work until something holds; fail after a few seconds."""
    for _ in range(200):
        await pilot.pause(0.02)
        if true():
            await pilot.pause()
            return
    raise AssertionError(f"{what} never happened")


async def settled(pilot: Any) -> None:
    """Wait until workers, feeds and painting have come to rest."""
    for _ in range(500):
        await pilot.pause(0.01)
        session = pilot.app.session
        busy = session is None and pilot.app.link.error is None
        if session is not None:
            now = session.hub.feeds and pilot.app.clock.now()
            busy = any(
                feed.watched and (feed.state.refreshing or feed.state.phase(now) == "loading")
                for feed in session.hub.feeds
            )
        if not busy:
            await pilot.pause()
            await pilot.pause()
            return
    raise AssertionError("the dashboard never came to rest")
