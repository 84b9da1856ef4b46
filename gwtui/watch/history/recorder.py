"""The recorder: samples feeds into the history for as long as this instance holds the lease.

It watches its feeds from the background: neither a hidden screen nor a terminal without focus stops
them, and a feed that a person also looks at is still read only once.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from gwtui.domain.clock import SYSTEM_CLOCK, Clock
from gwtui.watch.history.archive import Archive
from gwtui.watch.history.compaction import step
from gwtui.watch.history.lease import BEAT
from gwtui.watch.history.model import (
    HistoryDamagedError,
    HistoryEndedError,
    HistoryError,
    LeaseLostError,
    Observation,
    RecordedChange,
)
from gwtui.watch.history.sources import DEFAULT_PACES, Build, Paces, Sources
from gwtui.watch.history.watched_models import is_own, set_defaults, unwatch_model, watch_model
from gwtui.watch.history.writer import HistoryWriter
from gwtui.watch.hub import FeedHub

COMPACTION_EVERY = 60.0
"""Seconds between two rounds of compaction."""
STEPS_A_ROUND = 50
"""Steps of compaction in one round at most; what is left waits for the next."""
SETTLING = 3600.0
"""Seconds without compaction after the wall clock jumped: a wrong date must remove nothing."""
LAST_WRITE = 0.3
"""Seconds that the end of the program waits for what is being written."""
JUMP = 3600.0
"""Seconds by which the wall clock may run ahead of the monotonic one between two rounds."""

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class RecorderStatus:
    """How the recording stands; ``error`` and ``notice`` are for a person."""

    recording: bool = False
    """Whether this instance holds the lease."""
    written_at: datetime | None = None
    """The newest reading that is safe on the disk."""
    filled: int = 0
    """How often something of the past was filled in."""
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
    ) -> None:
        self._hub = hub
        self._archive = archive
        self._clock = clock
        self._sources = Sources(hub, paces, clock, self._arrived)
        self._pending: dict[str, Build] = {}
        self._wake = asyncio.Event()
        self._tasks: list[asyncio.Task[None]] = []
        self._listeners: list[Callable[[Recorded], None]] = []
        self._status = RecorderStatus(notice=archive.notice)
        self._errors: dict[str, str] = {}
        self._round_at: tuple[datetime, float] | None = None
        self._compact_from = 0.0
        self._seeded = False

    @property
    def status(self) -> RecorderStatus:
        """How the recording stands."""
        return self._status

    @property
    def archive(self) -> Archive:
        """Where it is recorded; to read from."""
        return self._archive

    def listen(self, listener: Callable[[Recorded], None]) -> Callable[[], None]:
        """Call ``listener`` after each reading this instance wrote; returns the way to stop.

        An instance without the lease writes nothing: follow ``HistoryReader.changes_after`` there.
        """
        self._listeners.append(listener)

        def leave() -> None:
            if listener in self._listeners:
                self._listeners.remove(listener)

        return leave

    async def start(self) -> None:
        """Begin: take the lease if it is free, else wait for it."""
        if not self._tasks:
            loop = asyncio.get_running_loop()
            self._tasks = [
                loop.create_task(self._keep_lease(), name="history lease"),
                loop.create_task(self._write_on(), name="history writing"),
            ]

    async def stop(self) -> None:
        """Write what has arrived and give the lease back. The archive stays open."""
        for task in self._tasks:
            task.cancel()
        if self._tasks:
            await asyncio.wait(self._tasks)
        self._tasks = []
        self._sources.close()
        if self._status.recording:
            await self._write_pending()
            self._set(recording=False)
        try:
            await self._archive.change(self._archive.lease.release)
        except HistoryError as error:
            _log.warning("history: %s", error)

    async def watch(self, model: str) -> None:
        """Record a model's endpoints from now on. Raises ValueError, HistoryUnusableError."""
        now = self._clock.now()
        await self._archive.change(lambda connection: watch_model(connection, model, now))
        await self._follow_models()

    async def unwatch(self, model: str) -> None:
        """Record a model's endpoints no more. Raises HistoryUnusableError."""
        await self._archive.change(lambda connection: unwatch_model(connection, model))
        await self._follow_models()

    def note_filled(self) -> None:
        """Something of the past was filled in: who shows it may ask again."""
        self._set(filled=self._status.filled + 1)

    # The lease --------------------------------------------------------------------------------

    async def _keep_lease(self) -> None:
        while True:
            await self._guarded("lease", self._beat())
            await self._clock.sleep(BEAT)

    async def _beat(self) -> None:
        if not await self._archive.hold():
            self._yield()
            return
        self._set(recording=True)
        self._sources.open()
        if not self._seeded:
            self._seeded = True
            await self._seed()
        await self._follow_models()
        await self._compact()

    def _yield(self) -> None:
        """Another instance records."""
        self._sources.close()
        self._pending.clear()
        self._seeded = False
        self._errors.clear()
        self._set(recording=False, models=())

    async def _guarded(self, part: str, work: Awaitable[None]) -> None:
        """Do something of which no failure may end the recording; the status tells of it."""
        try:
            await work
        except LeaseLostError:
            self._yield()
        except HistoryEndedError as error:
            _log.info("history: a reading is not recorded: %s", error)
        except HistoryError as error:
            self._errors[part] = str(error)
            if isinstance(error, HistoryDamagedError):
                await self._begin_anew(part)
        except Exception as error:
            _log.exception("history: unexpected failure")
            self._errors[part] = f"unexpected {type(error).__name__}"
        else:
            self._errors.pop(part, None)
        self._set(error=next(iter(self._errors.values()), None))

    async def _begin_anew(self, part: str) -> None:
        try:
            await self._archive.reopen()
        except HistoryError as error:
            self._errors[part] = str(error)
        else:
            self._set(notice=self._archive.notice)

    # Models -----------------------------------------------------------------------------------

    async def _seed(self) -> None:
        """Without a list of a person's own, watch what is used most, else what was looked at."""
        if await self._archive.change(is_own):
            return
        models = await self._sources.most_used() or self._sources.looked_at()
        now = self._clock.now()
        if models:
            await self._archive.change(lambda connection: set_defaults(connection, models, now))

    async def _follow_models(self) -> None:
        models = await self._archive.read(lambda history: history.watched_models())
        if self._status.recording:
            self._sources.follow(models)
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
        recorded = await self._archive.write(lambda writer: _observed(writer, build))
        self._set(written_at=recorded.observation.at)
        for listener in tuple(self._listeners):
            try:
                listener(recorded)
            except Exception:
                _log.exception("history: a listener failed")

    # Compaction -------------------------------------------------------------------------------

    async def _compact(self) -> None:
        now, elapsed = self._clock.now(), self._clock.monotonic()
        if self._round_at is not None:
            before, then = self._round_at
            if elapsed - then < COMPACTION_EVERY:
                return
            if abs((now - before).total_seconds() - (elapsed - then)) > JUMP:
                self._compact_from = elapsed + SETTLING
        self._round_at = (now, elapsed)
        if elapsed < self._compact_from:
            return
        for _ in range(STEPS_A_ROUND):
            if not await self._archive.write(lambda writer: step(writer, now)):
                return

    def _set(self, **changes: Any) -> None:
        self._status = replace(self._status, **changes)


def _observed(writer: HistoryWriter, build: Build) -> Recorded:
    """In the writing thread: turning a long list into samples takes a moment."""
    observation = build()
    return Recorded(observation, writer.observe(observation).changes)
