"""What this machine recorded of a gateway: only read, and done without where it is absent."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from datetime import datetime
from pathlib import Path
from typing import TypeVar

from gwtui.domain.runway import Outlook
from gwtui.watch.alerts.model import Present
from gwtui.watch.alerts.store import present_alerts
from gwtui.watch.history.file import ask
from gwtui.watch.history.model import HistoryError
from gwtui.watch.history.queries import credits_state
from gwtui.watch.history.reader import HistoryReader

T = TypeVar("T")
Q = TypeVar("Q")


class RecordedHistory:
    """The history of one gateway; None for a path means that there is none."""

    def __init__(self, path: Path | None) -> None:
        self._path = path

    async def watched_models(self) -> tuple[str, ...]:
        """The models that are watched; none where nothing is recorded."""
        return await self._ask(lambda reader: reader.watched_models()) or ()

    async def outlook(self, now: datetime) -> Outlook | None:
        """When the credits will be gone, by what was recorded of their use."""
        return await self._ask(lambda reader: credits_state(reader, now).outlook)

    async def present_alerts(self, now: datetime) -> Present | None:
        """The alerts as they were last evaluated; None where nothing is recorded."""
        return await self._try(present_alerts, now)

    async def _ask(self, question: Callable[[HistoryReader], T]) -> T | None:
        return await self._try(ask, question)

    async def _try(self, read: Callable[[Path, Q], T], given: Q) -> T | None:
        if self._path is None:
            return None
        try:
            return await asyncio.to_thread(read, self._path, given)
        except HistoryError:
            return None
