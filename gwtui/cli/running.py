"""Run the asynchronous part of a command, and open feeds for it."""

from __future__ import annotations

import asyncio
import signal
from collections.abc import AsyncIterator, Callable, Coroutine, Iterator
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path
from typing import Any

from gwtui.cli import exits
from gwtui.cli.output import narrate
from gwtui.cli.target import Connect
from gwtui.client.call import RetryNotice
from gwtui.client.connection import Connection
from gwtui.client.errors import GatewayError
from gwtui.client.gateway import GatewayClient
from gwtui.local.paths import Paths
from gwtui.watch.history.file import history_path
from gwtui.watch.hub import FeedHub

_ENDINGS = {signal.SIGINT: exits.INTERRUPTED, signal.SIGTERM: exits.TERMINATED}


def run_async(work: Callable[[], Coroutine[Any, Any, int]]) -> int:
    """Run a coroutine; returns its exit code. Raises CommandError."""
    try:
        return asyncio.run(work())
    except GatewayError as error:
        narrate(error.message)
        return exits.FAILED


@contextmanager
def on_signals(end: Callable[[int], None]) -> Iterator[list[int]]:
    """Call ``end`` on SIGINT and SIGTERM; yields a list that collects the exit codes."""
    loop, codes = asyncio.get_running_loop(), list[int]()

    def signalled(code: int) -> None:
        codes.append(code)
        end(code)

    for number, code in _ENDINGS.items():
        loop.add_signal_handler(number, signalled, code)
    try:
        yield codes
    finally:
        for number in _ENDINGS:
            loop.remove_signal_handler(number)


@asynccontextmanager
async def reading_hub(connect: Connect) -> AsyncIterator[FeedHub]:
    """Connect and yield the feeds. Raises CommandError."""
    async with connect() as connection, hub_over(connection) as hub:
        yield hub


@asynccontextmanager
async def hub_over(connection: Connection) -> AsyncIterator[FeedHub]:
    """Yield the feeds of an open connection."""
    async with GatewayClient(connection, on_retry=report_retry) as gateway:
        hub = FeedHub(gateway)
        serve_recorded(hub)
        try:
            yield hub
        finally:
            await hub.close()


def serve_recorded(hub: FeedHub) -> Path:
    """Let feeds read the recorded history; returns its path, which may not exist.

    The demo gateway fills the history with simulated past data on first use.
    """
    paths, to = Paths.of_user(), hub.connection
    path = hub.history_file = history_path(paths.data, to.label, to.base_url)
    filling: list[asyncio.Task[None]] = []

    async def fill_once() -> None:
        if not filling:
            filling.append(asyncio.create_task(_fill_past(to, path), name="past"))
        await asyncio.shield(filling[0])

    if to.past is not None:
        hub.fill_past = fill_once
    return path


async def _fill_past(connection: Connection, path: Path) -> None:
    from gwtui.watch.history.past import fill_past  # noqa: PLC0415 - the demo only

    past = None if connection.past is None else connection.past()
    if past is None:
        return
    # A hub of its own, so that the command does not start with cached readings.
    async with GatewayClient(connection) as gateway:
        hub = FeedHub(gateway)
        try:
            await fill_past(hub, path, past)
        finally:
            await hub.close()


def report_retry(notice: RetryNotice) -> None:
    """Print that a read is retried."""
    narrate(f"{notice.reason}; retrying")
