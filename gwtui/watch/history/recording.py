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

if TYPE_CHECKING:
    from datetime import datetime

    from gwtui.domain.history_source import HistorySource
    from gwtui.watch.history.recorder import Recorder
    from gwtui.watch.hub import FeedHub

AskPast: TypeAlias = "Callable[[], HistorySource | None]"

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
    from gwtui.watch.history.recorder import record  # noqa: PLC0415 - loads SQLite

    await record(held, hub, path, clock, past)
