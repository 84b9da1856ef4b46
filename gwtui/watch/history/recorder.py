"""The recorder: writes readings of feeds to the history while no other process does.

It is a background viewer of the feeds: hidden screens and a terminal without focus do not stop
them, and a feed that is also on a screen is read only once.
"""

from __future__ import annotations

import asyncio
import logging
import sqlite3
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

from gwtui.watch.history.archive import Archive
from gwtui.watch.history.model import (
    HistoryDamagedError,
    HistoryError,
    Observation,
)
from gwtui.watch.history.sources import Build, Sources, most_used_feed
from gwtui.watch.history.writer import (
    has_own_models,
    observe,
    set_default_models,
    tidy,
    unwatch_model,
    watch_model,
)
from gwtui.watch.hub import FeedHub

if TYPE_CHECKING:
    from gwtui.domain.history_source import HistorySource

AskPast: TypeAlias = "Callable[[], HistorySource | None]"
"""Returns the source of the gateway's past, None if the gateway cannot report it."""
CLAIM_EVERY = 10.0
"""Seconds between two attempts to take the recording lock."""

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class RecorderStatus:
    """The state of the recording; ``error`` and ``notice`` are messages to show."""

    recording: bool = False
    """Whether this process records."""
    written_at: datetime | None = None
    """The time of the newest stored reading."""
    models: tuple[str, ...] = ()
    """The models whose endpoints this process records."""
    error: str | None = None
    notice: str = ""


class Recorder:
    """Writes the figures and facts of one gateway to the history, between ``start`` and ``stop``.

    It writes while no other process does. Needs a running event loop.
    """

    def __init__(self, hub: FeedHub, archive: Archive, past: AskPast | None = None) -> None:
        self.hub = hub
        self._past = past
        self.filled_until: datetime | None = None
        """The last moment that was filled in from the past.

        None if nothing was filled in, or something was recorded before.
        """
        self.archive = archive
        self._clock = hub.clock
        self._waiting: asyncio.Queue[Build] = asyncio.Queue()
        """The readings to write."""
        self.sources = Sources(hub, lambda _name, build: self._waiting.put_nowait(build))
        self._tasks: list[asyncio.Task[None]] = []
        self.on_recorded: Callable[[Observation], Awaitable[None]] | None = None
        """Called with each observation that this process has stored."""
        self.status = RecorderStatus()
        self._errors: dict[str, str] = {}
        self._seeded = False

    @property
    def open_archive(self) -> Archive | None:
        """The history once it is open, else None."""
        return self.archive if self.archive.is_open else None

    async def start(self) -> None:
        """Start recording as soon as no other process does."""
        if not self._tasks:
            loop = asyncio.get_running_loop()
            self._tasks = [
                loop.create_task(self._claim_lock(), name="history claim"),
                loop.create_task(self._write_readings(), name="history writing"),
            ]

    async def stop(self) -> None:
        """Write pending readings and release the lock. The archive stays open."""
        for task in self._tasks:
            task.cancel()
        if self._tasks:
            await asyncio.wait(self._tasks)
        self._tasks = []
        self.sources.close()
        if self.status.recording:
            while not self._waiting.empty():
                await self._guarded("writing", self._write(self._waiting.get_nowait()))
            self._set(recording=False)
        self.archive.release()

    async def watch(self, model: str) -> None:
        """Start recording a model's endpoints. Raises ValueError, HistoryUnusableError."""
        now = self._clock.now()
        await self.archive.write(lambda db: watch_model(db, model, now))
        await self._follow_models()

    async def unwatch(self, model: str) -> None:
        """Stop recording a model's endpoints. Raises HistoryUnusableError."""
        await self.archive.write(lambda db: unwatch_model(db, model))
        await self._follow_models()

    # Recording --------------------------------------------------------------------------------

    async def _claim_lock(self) -> None:
        while True:
            await self._guarded("claim", self._claim_once())
            await self._clock.sleep(CLAIM_EVERY)

    async def _claim_once(self) -> None:
        if not self.archive.is_open:
            await self._open()
        if not await self.archive.claim():
            return
        self._set(recording=True)
        self.sources.open()
        if not self._seeded:
            await self._seed()
            self._seeded = True
        await self._follow_models()
        now = self._clock.now()
        await self.archive.write(lambda db: tidy(db, now))

    async def _open(self) -> None:
        from gwtui.watch.history.prometheus import open_prometheus  # noqa: PLC0415 - few profiles

        if self.archive.server is None:
            self.archive.server = await open_prometheus(self.hub.connection)
        await self.archive.connect()
        self._set(notice=self.archive.notice)
        ask, self._past = self._past, None
        if ask is not None:
            from gwtui.watch.history.past import fill_open  # noqa: PLC0415 - the demo only

            self.filled_until = await fill_open(self.hub, self.archive, ask)

    async def _guarded(self, part: str, work: Awaitable[None]) -> None:
        try:
            await work
        except HistoryError as error:
            self._errors[part] = str(error)
            if isinstance(error, HistoryDamagedError):
                await self.archive.disconnect()
        except Exception as error:
            _log.exception("history: unexpected failure")
            self._errors[part] = f"unexpected {type(error).__name__}"
        else:
            self._errors.pop(part, None)
        self._set(error=next(iter(self._errors.values()), None))

    # Models -----------------------------------------------------------------------------------

    async def _seed(self) -> None:
        if await self.archive.write(has_own_models):
            return
        models = (await most_used_feed(self.hub).refresh()).value
        now = self._clock.now()
        if models:
            await self.archive.write(lambda db: set_default_models(db, models, now))

    async def _follow_models(self) -> None:
        models = await self.archive.read(lambda history: history.watched_models())
        if self.status.recording:
            self.sources.follow(models)
            self._set(models=models)

    # Writing ----------------------------------------------------------------------------------

    async def _write_readings(self) -> None:
        while True:
            await self._guarded("writing", self._write(await self._waiting.get()))

    async def _write(self, build: Build) -> None:
        observation = await self.archive.write(lambda db: _observed(db, build))
        self._set(written_at=observation.at)
        if self.on_recorded is not None:
            await self.on_recorded(observation)

    def _set(self, **changes: Any) -> None:
        self.status = replace(self.status, **changes)


def _observed(db: sqlite3.Connection, build: Build) -> Observation:
    # In the writing thread, because long lists take time to convert.
    observation = build()
    observe(db, observation)
    return observation


# Of a session -------------------------------------------------------------------------------------

LAST_WRITE = 0.3
"""The maximum seconds that the end of the program waits for a write."""


@asynccontextmanager
async def open_recording(
    hub: FeedHub, path: Path, past: AskPast | None = None
) -> AsyncIterator[Recorder]:
    """Record to the file at ``path``, which is opened in the background.

    Missing readings of the last days are filled from ``past`` if given.
    """
    archive = Archive(path, hub.clock)
    recorder = Recorder(hub, archive, past)
    await recorder.start()
    try:
        yield recorder
    finally:
        # A write that takes longer is rolled back.
        late = asyncio.get_running_loop().call_later(LAST_WRITE, archive.interrupt)
        await recorder.stop()
        await archive.close()
        late.cancel()
