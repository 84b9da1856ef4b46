"""A recorder on the gateway of ``recorded_gateway_kit``, as one running program."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from fake_clock import FakeClock
from gwtui.watch.history.archive import Archive
from gwtui.watch.history.model import SeriesKey, endpoint_identity
from gwtui.watch.history.recorder import Recorder
from gwtui.watch.hub import FeedHub
from recorded_gateway_kit import MODEL, World

ENDPOINT = endpoint_identity(MODEL, "northwind/fp8||fp8")
UPTIME = SeriesKey("endpoint", ENDPOINT, "uptime_last_5m")


@asynccontextmanager
async def instance(path: Path, world: World, time: FakeClock) -> AsyncIterator[Recorder]:
    """One running program with its own feeds and its own hands on the file."""
    hub = FeedHub(world.client(), time.clock)
    archive = await Archive.open(path, time.clock)
    recorder = Recorder(hub, archive)
    await recorder.start()
    await time.settle()
    try:
        yield recorder
    finally:
        await recorder.stop()
        await archive.close()
        await hub.close()


async def changed(recorder: Recorder, time: FakeClock) -> list[tuple[str, str]]:
    found = await recorder.archive.read(
        lambda history: history.changes(time.start, time.now(), limit=99)
    )
    return [(change.kind, change.field) for change in reversed(found)]
