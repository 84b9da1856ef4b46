"""The base of a panel of the board."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from textual.containers import Vertical

from gwtui.ui.board.view import View
from gwtui.watch.board.snapshot import BoardSnapshot
from gwtui.watch.history.reader import HistoryReader

Question = Callable[[HistoryReader], Any]
"""Asked in the thread of the history: it must touch no widget."""


class Panel(Vertical):
    """A part of the board. It is given what is known, and asks the history for the rest."""

    @property
    def wants(self) -> bool:
        """Whether it came to show something that it has not asked the history about yet."""
        return False

    def see(self, sight: BoardSnapshot, view: View) -> None:
        """Show what is known as of the view's moment; called often, must cost nothing when same."""

    def question(self, _view: View) -> Question | None:
        """What to ask the history for this view; None for nothing."""
        return None

    def answer(self, found: Any, view: View) -> None:
        """Show what the history answered; None when there is no history to ask."""
