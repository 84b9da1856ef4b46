"""The past that a gateway can tell, the demo's, for a command that only reads what is recorded.

The dashboard fills it in before it records (``gwtui.watch.history.recording``). Where none ran, the
first command that asks for the past does so, once: the same past, and the alerts that stand now.
"""

from __future__ import annotations

import logging
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from gwtui.domain.past import Past
    from gwtui.watch.alerts.watching import RuleFile
    from gwtui.watch.history.archive import Archive
    from gwtui.watch.history.model import Observation
    from gwtui.watch.history.writer import HistoryWriter
    from gwtui.watch.hub import FeedHub

_log = logging.getLogger(__name__)


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
