"""Tests of logging in: a gateway on a port, its keys, and a keyring in memory."""

from __future__ import annotations

import asyncio
import io
import queue
import socket
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from gateway_facts import made_request
from gwtui.cli.main import main
from gwtui.domain.clock import SYSTEM_CLOCK, Clock
from gwtui.embedded.faults import FaultInjector
from gwtui.embedded.gateway import EmbeddedGateway
from gwtui.embedded.hosting import serving
from gwtui.embedded.store.founding import Content
from in_process_requests import short_way


@dataclass(frozen=True)
class ServedGateway:
    """An empty gateway that listens on this machine."""

    base_url: str
    management: str
    ordinary: str
    generation: str = ""
    """The id of its stored generation."""

    @property
    def host(self) -> str:
        return self.base_url.split("/")[2]


@contextmanager
def served_gateway(
    content: Content = "empty",
    faults: FaultInjector | None = None,
    database: Path | None = None,
    before: Callable[[Any], Any] = lambda asgi: asgi,
    speed: float = 1.0,
    now: Callable[[], datetime] = SYSTEM_CLOCK.now,
) -> Iterator[ServedGateway]:
    """Serve in a separate thread, because the tested commands run their own event loops.

    Without ``database`` it is in memory. ``before`` wraps the application. Its models write
    ``speed`` times as fast as they report, and working endpoints never fail at random.
    """
    listener = socket.create_server(("127.0.0.1", 0))
    base_url = f"http://127.0.0.1:{listener.getsockname()[1]}/api/v1"
    ready: queue.Queue[tuple[ServedGateway, Callable[[], object]]] = queue.Queue()
    clock = Clock(now, sleep=lambda seconds: asyncio.sleep(seconds / speed), chance=lambda: 0.99)

    async def serve() -> None:
        gateway = EmbeddedGateway(database, content=content, faults=faults, clock=clock)
        keys = [gateway.issue_key(management=management) for management in (True, False)]
        newest = made_request(gateway, SYSTEM_CLOCK.now())
        app, ending = before(gateway.asgi), asyncio.Event()
        end = partial(asyncio.get_running_loop().call_soon_threadsafe, ending.set)
        with short_way(listener.getsockname(), app, lambda: faults and faults.armed):
            async with serving(app, listener):
                ready.put((ServedGateway(base_url, *keys, newest), end))
                await ending.wait()
        gateway.close()

    thread = threading.Thread(target=lambda: asyncio.run(serve()), daemon=True)
    thread.start()
    served, end = ready.get(timeout=30)
    try:
        yield served
    finally:
        end()
        thread.join(10)
        listener.close()


@dataclass
class DictRing:
    """A keyring in memory; ``trouble`` is raised instead of working."""

    held: dict[tuple[str, str], str] = field(default_factory=dict)
    trouble: Exception | None = None
    keeps: bool = True
    priority: float = 5.0

    def _work(self) -> None:
        if self.trouble is not None:
            raise self.trouble

    def get_password(self, service: str, user: str) -> str | None:
        self._work()
        return self.held.get((service, user))

    def set_password(self, service: str, user: str, secret: str) -> None:
        self._work()
        if self.keeps:
            self.held[service, user] = secret

    def delete_password(self, service: str, user: str) -> None:
        self._work()
        del self.held[service, user]


DictRing.__module__ = "keyring.backends.SecretService"


def send_stdin(monkeypatch: pytest.MonkeyPatch, content: str) -> None:
    """Give the next command this text on a stdin that is no terminal."""
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(content.encode())))


@dataclass
class Commands:
    """Runs commands in this process."""

    monkeypatch: pytest.MonkeyPatch
    capsys: pytest.CaptureFixture[str]

    def __call__(self, *words: str, stdin: str = "") -> tuple[int, str, str]:
        """Run a command; return its exit code, stdout and stderr."""
        send_stdin(self.monkeypatch, stdin)
        try:
            code = main(words)
        except SystemExit as exit:
            code = int(exit.code or 0)
        output = self.capsys.readouterr()
        return code, output.out, output.err

    def expect(self, code: int, *words: str, stdin: str = "") -> tuple[str, str]:
        """Run a command that must end with this exit code; return its stdout and stderr."""
        actual, out, err = self(*words, stdin=stdin)
        assert actual == code, err
        return out, err
