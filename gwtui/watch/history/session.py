"""Opens the recorded history of a session in the background, and closes it with the connection.

It is loaded behind the first rows: with it come SQLite and the recorder.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from gwtui.domain.clock import SYSTEM_CLOCK, Clock
from gwtui.watch.history.archive import Archive
from gwtui.watch.history.model import HistoryError
from gwtui.watch.history.recorder import LAST_WRITE, Recorder
from gwtui.watch.history.recording import AskPast, Recording
from gwtui.watch.hub import FeedHub

if TYPE_CHECKING:
    from gwtui.watch.history.backfill import Backfill

_log = logging.getLogger(__name__)


@asynccontextmanager
async def open_recording(
    hub: FeedHub, path: Path | None, clock: Clock = SYSTEM_CLOCK, past: AskPast | None = None
) -> AsyncIterator[Recording]:
    """Record into the file at ``path``, opened in the background; None records nothing.

    With ``past``, what was not recorded of the last days is filled in from it.
    """
    held = Recording()
    if path is None:
        yield held
        return
    task = asyncio.create_task(_record(held, hub, path, clock, past), name="history")
    try:
        yield held
    finally:
        task.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await task


async def _record(
    held: Recording, hub: FeedHub, path: Path, clock: Clock, past: AskPast | None
) -> None:
    """Record into the file at ``path`` until it is cancelled; ``held`` says how that stands."""
    try:
        archive = await Archive.open(path, clock)
    except HistoryError as error:
        held.problem = str(error)
        _log.warning("history: %s", error)
        return
    recorder = Recorder(hub, archive, clock)
    try:
        fill = None if past is None else await _begin_backfill(hub, archive, past)
        if fill is not None and fill.first:
            held.filled_until = fill.past.until
        await recorder.start()
        held.recorder = recorder
        if fill is not None:
            await _finish_backfill(fill, recorder)
        held.filled.set()
        await asyncio.Event().wait()
    finally:
        held.recorder = None
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
