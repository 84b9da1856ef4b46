"""The recording of a connection: from when its file is asked for until the connection is closed."""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

from gwtui.domain.clock import SYSTEM_CLOCK, Clock

if TYPE_CHECKING:
    from datetime import datetime
    from pathlib import Path

    from gwtui.domain.past import Past
    from gwtui.watch.alerts.session import RuleFile
    from gwtui.watch.history.archive import Archive
    from gwtui.watch.history.backfill import Backfill
    from gwtui.watch.history.model import Observation
    from gwtui.watch.history.recorder import Recorder
    from gwtui.watch.history.writer import HistoryWriter
    from gwtui.watch.hub import FeedHub

AskPast: TypeAlias = "Callable[[], Past | None]"

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
        self.told_until: datetime | None = None
        """Where the past ends that was filled in where nothing was recorded before; else None."""


@asynccontextmanager
async def recording(
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
    """Until it is cancelled."""
    from gwtui.watch.history.archive import Archive  # noqa: PLC0415 - loads SQLite
    from gwtui.watch.history.model import HistoryError  # noqa: PLC0415
    from gwtui.watch.history.recorder import Recorder  # noqa: PLC0415

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
            held.told_until = fill.past.until
        await recorder.start()
        held.recorder = recorder
        if fill is not None:
            await _finish_backfill(fill, recorder)
        held.filled.set()
        await asyncio.Event().wait()
    finally:
        held.recorder = None
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


async def fill_past(hub: FeedHub, path: Path, past: Past, rules: RuleFile) -> None:
    """Fill in what the history at ``path`` lacks, and run the alert rules over what is now.

    Nothing where another instance records, or less than an hour is missing. Never fails: the
    recorded past is done without then.
    """
    from gwtui.watch.history.archive import Archive  # noqa: PLC0415 - loads SQLite
    from gwtui.watch.history.backfill import Backfill  # noqa: PLC0415
    from gwtui.watch.history.model import HistoryError  # noqa: PLC0415

    try:
        archive = await Archive.open(path, hub.clock)
    except HistoryError as error:
        _log.warning("history: %s", error)
        return
    try:
        fill = await Backfill.begin(hub, archive, past) if await archive.hold() else None
        if fill is not None and await fill.fill_account():
            await fill.fill_endpoints(lambda: None)
            await _evaluate(hub, archive, rules)
    except Exception:  # whatever it is, what is read now is shown
        _log.exception("history: the past cannot be filled in")
    finally:
        await archive.close()


async def _evaluate(hub: FeedHub, archive: Archive, rules: RuleFile) -> None:
    """Record a reading of the account and the watched models, and what the rules say of it."""
    from gwtui.watch.alerts.engine import AlertThread  # noqa: PLC0415 - not for every command

    models = await archive.read(lambda history: history.watched_models())
    seen, now = await _present(hub, models), hub.clock.now()

    def work(writer: HistoryWriter) -> None:
        for observation in seen:
            writer.observe(observation)
        AlertThread().run(writer, rules.refresh(), seen, now)

    await archive.write(work)


async def _present(hub: FeedHub, models: Sequence[str]) -> Sequence[Observation]:
    """What the recorder would read first."""
    from gwtui.watch.history.sources import DEFAULT_PACES, Build, Sources  # noqa: PLC0415

    builds: list[Build] = []
    sources = Sources(hub, DEFAULT_PACES, hub.clock, lambda _name, build: builds.append(build))
    sources.open()
    sources.follow(models)
    try:
        await sources.settled()
    finally:
        sources.close()
    return [build() for build in builds]
