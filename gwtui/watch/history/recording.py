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
    from gwtui.watch.history.backfill import Backfill
    from gwtui.watch.history.recorder import Recorder
    from gwtui.watch.hub import FeedHub

AskPast: TypeAlias = "Callable[[], HistorySource | None]"
"""Asks the gateway for its past; None where it can tell none."""

_log = logging.getLogger(__name__)


class Recording:
    """The recorder of a connection, once its file is open.

    ``recorder`` is None until then, and when there can be none; ``problem`` says why, for a person.
    """

    def __init__(self) -> None:
        self.recorder: Recorder | None = None
        self.problem = ""
        self.filled = asyncio.Event()
        """Set once nothing is left to fill in of the past."""
        self.filled_until: datetime | None = None
        """Where the past ends that was filled in where nothing was recorded before; else None."""

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
    from gwtui.watch.history.recorder import (  # noqa: PLC0415 - not in one piece with the rest
        LAST_WRITE,
        Recorder,
    )

    try:
        archive = await Archive.open(path, clock)
    except HistoryError as error:
        recording.problem = str(error)
        _log.warning("history: %s", error)
        return
    recorder = Recorder(hub, archive, clock)
    try:
        fill = None if past is None else await _begin_backfill(hub, archive, past)
        if fill is not None and fill.first:
            recording.filled_until = fill.past.until
        await recorder.start()
        recording.recorder = recorder
        if fill is not None:
            await _finish_backfill(fill, recorder)
        recording.filled.set()
        await asyncio.Event().wait()
    finally:
        recording.recorder = None
        archive.end_within(LAST_WRITE)  # a reading that takes longer is not recorded
        await recorder.stop()
        await archive.close()


async def _begin_backfill(hub: FeedHub, archive: Archive, ask: AskPast) -> Backfill | None:
    """Fill in the past of the account. None where nothing is missing, or another one records."""
    from gwtui.watch.history.backfill import Backfill  # noqa: PLC0415 - the demo only

    try:
        past = ask() if await archive.hold() else None
        fill = None if past is None else await Backfill.begin(hub, archive, past)
        return fill if fill is not None and await fill.fill_account() else None
    except Exception:  # whatever it is, what happens from now on is recorded
        _log.exception("history: the past cannot be filled in")
        return None


async def _finish_backfill(fill: Backfill, recorder: Recorder) -> None:
    """Fill in the past of the endpoints, while it is recorded already."""
    try:
        await fill.fill_endpoints(recorder.note_filled)
    except Exception:  # as above
        _log.exception("history: the past of endpoints cannot be filled in")
