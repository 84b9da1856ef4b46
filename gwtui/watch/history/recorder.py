"""The recorder: samples feeds into the history while no other process does.

It watches its feeds from the background: neither a hidden screen nor a terminal without focus stops
them, and a feed that a person also looks at is still read only once.
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

from gwtui.domain.clock import SYSTEM_CLOCK, Clock
from gwtui.watch.history.archive import Archive
from gwtui.watch.history.model import (
    HistoryDamagedError,
    HistoryError,
    Observation,
    RecordedChange,
)
from gwtui.watch.history.sources import DEFAULT_PACES, Build, Paces, Sources
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
"""Asks the gateway for its past; None where it can tell none."""
CLAIM_EVERY = 10.0
"""Seconds between two attempts to become the one who records."""

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class RecorderStatus:
    """How the recording stands; ``error`` and ``notice`` are for a person."""

    recording: bool = False
    """Whether this instance records."""
    written_at: datetime | None = None
    """The newest reading that is safe on the disk."""
    models: tuple[str, ...] = ()
    """The models whose endpoints are recorded by this instance."""
    error: str | None = None
    notice: str = ""


@dataclass(frozen=True, slots=True)
class Recorded:
    """A reading that was written, and what changed with it."""

    observation: Observation
    changes: tuple[RecordedChange, ...]


class Recorder:
    """Records one gateway; needs a running event loop. ``start`` it, and ``stop`` it at the end."""

    def __init__(
        self,
        hub: FeedHub,
        archive: Archive,
        clock: Clock = SYSTEM_CLOCK,
        paces: Paces = DEFAULT_PACES,
        *,
        past: AskPast | None = None,
    ) -> None:
        self._hub = hub
        self._past = past
        self.filled_until: datetime | None = None
        """Where the past ends that was filled in where nothing was recorded before; else None."""
        self._archive = archive
        self._clock = clock
        self.sources = Sources(hub, paces, clock, self._arrived)
        self._pending: dict[str, Build] = {}
        self._wake = asyncio.Event()
        self._tasks: list[asyncio.Task[None]] = []
        self._listeners: list[Callable[[Recorded], None]] = []
        self._status = RecorderStatus()
        self._errors: dict[str, str] = {}
        self._seeded = False

    @property
    def status(self) -> RecorderStatus:
        """How the recording stands."""
        return self._status

    @property
    def archive(self) -> Archive:
        """Where it is recorded; to read from."""
        return self._archive

    @property
    def open_archive(self) -> Archive | None:
        """The same once it is open, else None."""
        return self._archive if self._archive.is_open else None

    def listen(self, listener: Callable[[Recorded], None]) -> Callable[[], None]:
        """Call ``listener`` after each reading this instance wrote; returns the way to stop.

        An instance that does not record writes nothing.
        """
        self._listeners.append(listener)

        def leave() -> None:
            if listener in self._listeners:
                self._listeners.remove(listener)

        return leave

    async def start(self) -> None:
        """Begin: record if no other process does, else wait for it to end."""
        if not self._tasks:
            loop = asyncio.get_running_loop()
            self._tasks = [
                loop.create_task(self._keep_claim(), name="history claim"),
                loop.create_task(self._write_on(), name="history writing"),
            ]

    async def stop(self) -> None:
        """Write what has arrived and let others record. The archive stays open."""
        for task in self._tasks:
            task.cancel()
        if self._tasks:
            await asyncio.wait(self._tasks)
        self._tasks = []
        self.sources.close()
        if self._status.recording:
            await self._write_pending()
            self._set(recording=False)
        self._archive.release()

    async def watch(self, model: str) -> None:
        """Record a model's endpoints from now on. Raises ValueError, HistoryUnusableError."""
        now = self._clock.now()
        await self._archive.write(lambda db: watch_model(db, model, now))
        await self._follow_models()

    async def unwatch(self, model: str) -> None:
        """Record a model's endpoints no more. Raises HistoryUnusableError."""
        await self._archive.write(lambda db: unwatch_model(db, model))
        await self._follow_models()

    # Recording --------------------------------------------------------------------------------

    async def _keep_claim(self) -> None:
        while True:
            await self._guarded("claim", self._beat())
            await self._clock.sleep(CLAIM_EVERY)

    async def _beat(self) -> None:
        if not self._archive.is_open:
            await self._open()
        if not await self._archive.claim():
            return
        self._set(recording=True)
        self.sources.open()
        if not self._seeded:
            await self._seed()
            self._seeded = True
        await self._follow_models()
        now = self._clock.now()
        await self._archive.write(lambda db: tidy(db, now))

    async def _open(self) -> None:
        """Open the file, and fill in the past the first time."""
        from gwtui.watch.history.prometheus import open_prometheus  # noqa: PLC0415 - few profiles

        if self._archive.server is None:
            self._archive.server = await open_prometheus(self._hub.connection)
        await self._archive.connect()
        self._set(notice=self._archive.notice)
        past, self._past = self._past, None
        if past is not None:
            self.filled_until = await _fill(self._hub, self._archive, past)

    async def _guarded(self, part: str, work: Awaitable[None]) -> None:
        """Do something of which no failure may end the recording; the status tells of it."""
        try:
            await work
        except HistoryError as error:
            self._errors[part] = str(error)
            if isinstance(error, HistoryDamagedError):
                await self._archive.disconnect()
        except Exception as error:
            _log.exception("history: unexpected failure")
            self._errors[part] = f"unexpected {type(error).__name__}"
        else:
            self._errors.pop(part, None)
        self._set(error=next(iter(self._errors.values()), None))

    # Models -----------------------------------------------------------------------------------

    async def _seed(self) -> None:
        """Watch the most used models unless the person chose others."""
        if await self._archive.write(has_own_models):
            return
        models = await self.sources.most_used()
        now = self._clock.now()
        if models:
            await self._archive.write(lambda db: set_default_models(db, models, now))

    async def _follow_models(self) -> None:
        models = await self._archive.read(lambda history: history.watched_models())
        if self._status.recording:
            self.sources.follow(models)
            self._set(models=models)

    # Writing ----------------------------------------------------------------------------------

    def _arrived(self, source: str, build: Build) -> None:
        """A reading came; only the newest one of a source waits."""
        self._pending[source] = build
        self._wake.set()

    async def _write_on(self) -> None:
        while True:
            await self._wake.wait()
            self._wake.clear()
            await self._write_pending()

    async def _write_pending(self) -> None:
        while self._pending:
            build = self._pending.pop(next(iter(self._pending)))
            await self._guarded("writing", self._write(build))

    async def _write(self, build: Build) -> None:
        recorded = await self._archive.write(lambda db: _observed(db, build))
        self._set(written_at=recorded.observation.at)
        for listener in tuple(self._listeners):
            try:
                listener(recorded)
            except Exception:
                _log.exception("history: a listener failed")

    def _set(self, **changes: Any) -> None:
        self._status = replace(self._status, **changes)


def _observed(db: sqlite3.Connection, build: Build) -> Recorded:
    """In the writing thread: turning a long list into samples takes a moment."""
    observation = build()
    return Recorded(observation, observe(db, observation))


# Of a session -------------------------------------------------------------------------------------

LAST_WRITE = 0.3
"""Seconds that the end of the program waits for what is being written."""


@asynccontextmanager
async def open_recording(
    hub: FeedHub, path: Path, clock: Clock = SYSTEM_CLOCK, past: AskPast | None = None
) -> AsyncIterator[Recorder]:
    """Record into the file at ``path``, opened in the background.

    With ``past``, what was not recorded of the last days is filled in from it.
    """
    archive = Archive(path, clock)
    recorder = Recorder(hub, archive, clock, past=past)
    await recorder.start()
    try:
        yield recorder
    finally:
        # A reading that takes longer to write is not recorded.
        late = asyncio.get_running_loop().call_later(LAST_WRITE, archive.interrupt)
        await recorder.stop()
        await archive.close()
        late.cancel()


async def _fill(hub: FeedHub, archive: Archive, ask: AskPast) -> datetime | None:
    """Fill in the past; its end, where nothing was recorded before."""
    from gwtui.watch.history.past import fill  # noqa: PLC0415 - the demo only

    try:
        past = ask() if await archive.claim() else None
        is_first = await archive.read(lambda history: history.span()) is None
        if past is not None and await fill(hub, archive, past) and is_first:
            return past.until
    except Exception:  # whatever it is, what happens from now on is recorded
        _log.exception("history: the past cannot be filled in")
    return None
