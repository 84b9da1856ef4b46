"""Asks the history what the panels want to know: one round at a time, the newest wish last."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from typing import TYPE_CHECKING, Any

from gwtui.ui.board.panel import Question

if TYPE_CHECKING:
    from gwtui.watch.history.archive import Archive


class Asking:
    """Whoever wishes for a round while one is under way gets another one after it."""

    def __init__(
        self, round_: Callable[[], Awaitable[None]], start: Callable[[Any], object]
    ) -> None:
        self._round = round_
        self._start = start
        self._busy = False
        self._again = False

    @property
    def busy(self) -> bool:
        """Whether a round is under way."""
        return self._busy

    def wish(self) -> None:
        """Ask soon."""
        if self._busy:
            self._again = True
            return
        self._busy = True
        self._start(self._run())

    async def _run(self) -> None:
        try:
            while True:
                self._again = False
                await self._round()
                if not self._again:
                    return
        finally:
            self._busy = False


async def answers(archive: Archive, questions: Sequence[Question | None]) -> list[Any]:
    """All answers from one consistent state; None where nothing was asked. Raises HistoryError."""
    return await archive.read(
        lambda reader: [None if ask is None else ask(reader) for ask in questions]
    )
