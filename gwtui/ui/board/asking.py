"""Asks the history what the panels want to know: one round at a time, the newest wish last."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

from gwtui.ui.board.panel import Question
from gwtui.ui.board.view import View
from gwtui.watch.board.questions import Recording, recording
from gwtui.watch.board.sight import Sight, recorded
from gwtui.watch.history.errors import HistoryError
from gwtui.watch.history.reader import HistoryReader
from gwtui.watch.history.replay import snapshot_at

if TYPE_CHECKING:
    from gwtui.watch.history.archive import Archive


@dataclass(frozen=True, slots=True)
class Wish:
    """A round: a question for each panel, and ``past``: whether all that was known is needed."""

    archive: Archive
    view: View
    questions: Sequence[Question | None]
    past: bool


@dataclass(frozen=True, slots=True)
class Answers:
    """What came of a round, all of it from one consistent state of the history."""

    view: View
    known: Recording
    past: Sight | None
    found: Sequence[Any]


class Asking:
    """Whoever asks while a round is under way gets another one after it.

    ``wish`` says what to ask now, None for nothing; ``take`` is given the answers.
    """

    def __init__(
        self,
        wish: Callable[[], Wish | None],
        take: Callable[[Answers], None],
        start: Callable[[Any], object],
    ) -> None:
        self._wish = wish
        self._take = take
        self._start = start
        self._again = False
        self.busy = False
        """Whether a round is under way."""
        self.problem = ""
        """Why the last round had no answer, for a person."""

    def soon(self) -> None:
        """Ask."""
        if self.busy:
            self._again = True
            return
        self.busy = True
        self._start(self._run())

    async def _run(self) -> None:
        try:
            while True:
                self._again = False
                await self._round()
                if not self._again:
                    return
        finally:
            self.busy = False

    async def _round(self) -> None:
        wish = self._wish()
        if wish is None:
            return
        try:
            answers = await wish.archive.read(partial(_answered, wish))
        except HistoryError as error:
            self.problem = str(error)
        else:
            self.problem = ""
            self._take(answers)


def _answered(wish: Wish, reader: HistoryReader) -> Answers:
    return Answers(
        wish.view,
        recording(reader),
        recorded(snapshot_at(reader, wish.view.now)) if wish.past else None,
        [None if ask is None else ask(reader) for ask in wish.questions],
    )
