"""How the board is looked at: the moment, how far back, in which zone."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, tzinfo

from gwtui.ui.widgets.plot import PlotWindow, Span, window_at
from gwtui.watch.board.questions import LimitUse


@dataclass(frozen=True, slots=True)
class View:
    """``now`` is the moment that is shown: the present one, or one that is replayed.

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
