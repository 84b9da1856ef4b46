"""The recorded history of a session: opened in the background, and closed with the connection."""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

from gwtui.domain.clock import SYSTEM_CLOCK, Clock
from gwtui.watch.history.archive import Archive
from gwtui.watch.history.model import HistoryError

if TYPE_CHECKING:
    from datetime import datetime

    from gwtui.domain.history_source import HistorySource
    from gwtui.watch.history.recorder import Recorded, Recorder
    from gwtui.watch.hub import FeedHub

AskPast: TypeAlias = "Callable[[], HistorySource | None]"
"""Asks the gateway for its past; None where it can tell none."""

LAST_WRITE = 0.3
"""Seconds that the end of the program waits for what is being written."""

_log = logging.getLogger(__name__)


class Recording:
    """The recorder of a connection, once its file is open.

    ``recorder`` is None until then, and when there can be none; ``problem`` says why, for a person.
    """

    def __init__(self) -> None:
        self.recorder: Recorder | None = None
        self.problem = ""
        self._opened = asyncio.Event()
        self.filled_until: datetime | None = None
        """Where the past ends that was filled in where nothing was recorded before; else None."""
        self._listeners: list[Callable[[Recorded], None]] = []

    def listen(self, listener: Callable[[Recorded], None]) -> None:
        """Call ``listener`` after each reading that is written, from the first one on."""
        self._listeners.append(listener)
        if self.recorder is not None:
            self.recorder.listen(listener)

    async def record(self, recorder: Recorder) -> None:
        """Start this recorder."""
        for listener in self._listeners:
            recorder.listen(listener)
        await recorder.start()
        self.recorder = recorder
        self._opened.set()

    def give_up(self, problem: str) -> None:
        """There can be no recorder; ``problem`` says why."""
        self.problem = problem
        self._opened.set()

    async def opened(self) -> Recorder | None:
        """The recorder, once it is there; None where there can be none."""
        await self._opened.wait()
        return self.recorder

    @property
    def archive(self) -> Archive | None:
        """The open history file, None while there is none."""
        return None if self.recorder is None else self.recorder.archive


@asynccontextmanager
async def open_recording(
    hub: FeedHub, path: Path | None, clock: Clock = SYSTEM_CLOCK, past: AskPast | None = None
) -> AsyncIterator[Recording]:
    """Record into the file at ``path``, opened in the background; None records nothing.

    With ``past``, what was not recorded of the last days is filled in from it.
    """
    recording = Recording()
    if path is None:
        yield recording
        return
    task = asyncio.create_task(_record(recording, hub, path, clock, past), name="history")
    try:
        yield recording
    finally:
        task.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await task


async def _record(
    recording: Recording, hub: FeedHub, path: Path, clock: Clock, past: AskPast | None
) -> None:
    """Record into the file at ``path`` until cancelled; ``recording`` says how that stands."""
    from gwtui.watch.history.prometheus import open_prometheus  # noqa: PLC0415 - as the recorder
    from gwtui.watch.history.recorder import Recorder  # noqa: PLC0415 - not in one piece with the rest

    try:
        archive = await Archive.open(path, clock, await open_prometheus(hub.connection))
    except HistoryError as error:
        recording.give_up(str(error))
        _log.warning("history: %s", error)
        return
    recorder = Recorder(hub, archive, clock)
    try:
        if past is not None:
            recording.filled_until = await _fill(hub, archive, past)
        await recording.record(recorder)
        await asyncio.Event().wait()
    finally:
        recording.recorder = None
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
