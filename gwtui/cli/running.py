"""Running the asynchronous part of a command, with every foreseen fault told in one way."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Coroutine
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from gwtui.cli import exits
from gwtui.cli.output import narrate
from gwtui.cli.target import Connect
from gwtui.client.connection import Connection
from gwtui.client.errors import GatewayError
from gwtui.client.gateway import GatewayClient
from gwtui.client.retry import RetryNotice
from gwtui.local.paths import Paths
from gwtui.watch.history.file import history_path
from gwtui.watch.hub import FeedHub


def run_async(work: Callable[[], Coroutine[Any, Any, int]]) -> int:
    """Run it in an event loop of its own; returns its exit code. Raises CommandError."""
    try:
        return asyncio.run(work())
    except GatewayError as error:
        narrate(error.message)
        return exits.FAILED


@asynccontextmanager
async def reading_hub(connect: Connect) -> AsyncIterator[FeedHub]:
    """Feeds over a connection that nothing is written with. Raises CommandError."""
    async with connect() as connection, hub_over(connection) as hub:
        yield hub


@asynccontextmanager
async def hub_over(connection: Connection) -> AsyncIterator[FeedHub]:
    """The same over a connection that is open."""
    async with GatewayClient(connection, on_retry=tell_retry) as gateway:
        hub = FeedHub(gateway)
        hub.history_file = recorded_at(connection)
        try:
            yield hub
        finally:
            await hub.close()


def recorded_at(connection: Connection) -> Path:
    """The file of what this machine recorded of a gateway; it may not exist."""
    return history_path(Paths.of_user().data, connection.label, connection.base_url)


def tell_retry(notice: RetryNotice) -> None:
    """Why it takes longer."""
    narrate(f"{notice.reason}; trying again")
