"""What every panel of the board has: how it is looked at, what it shows, what it asks."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, tzinfo
from typing import Any

from textual.containers import Vertical

from gwtui.ui.widgets.plot import PlotWindow, Span, window_at
from gwtui.watch.board.questions import LimitUse
from gwtui.watch.board.snapshot import BoardSnapshot
from gwtui.watch.history.reader import HistoryReader


@dataclass(frozen=True, slots=True)
class View:
    """How the board is looked at: the moment, how far back, in which zone.

    ``now`` is the moment that is shown: the present one, or one that is replayed.

    ``zone`` None means UTC. ``ascii`` avoids what old terminals lack.
    """

    now: datetime
    span: Span
    past: bool = False
    zone: tzinfo | None = None
    ascii: bool = False

    @property
    def window(self) -> PlotWindow:
        """What plots show."""
        return window_at(self.span, self.now)

    @property
    def reach(self) -> LimitUse:
        """What is asked of the history: nothing after the moment."""
        return LimitUse(self.window.since, self.now)


Question = Callable[[HistoryReader], Any]
"""Asked in the thread of the history: it must touch no widget."""


class Panel(Vertical):
    """A part of the board. It is given what is known, and asks the history for the rest."""

    @property
    def wants(self) -> bool:
        """Whether it came to show something that it has not asked the history about yet."""
        return False

    def show_snapshot(self, snapshot: BoardSnapshot, view: View) -> None:
        """Show what is known as of the view's moment; called often, must cost nothing when same."""

    def question(self, _view: View) -> Question | None:
        """What to ask the history for this view; None for nothing."""
        return None

    def answer(self, found: Any, view: View) -> None:
        """Show what the history answered; None when there is no history to ask."""
