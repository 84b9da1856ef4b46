"""One plot that gets a new value at each press of u, for ``plot_bytes.py``."""

from __future__ import annotations

import math
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType

from gwtui.domain.money import usd
from gwtui.ui.terminal.app import TerminalApp
from gwtui.ui.themes import DEFAULT_THEME, THEMES, style_sheets
from gwtui.ui.widgets.lines import DrawingView
from gwtui.ui.widgets.plot import SPANS, PlotFigure, PlotLine, window_at
from gwtui.watch.history.model import Curve, Point

START = datetime(2026, 11, 21, 12, tzinfo=UTC)
TICK = timedelta(seconds=30)
SLOTS = 130


class Sample(TerminalApp):
    """A plot of credits over an hour, one slot per tick."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("u", "tick"), Binding("q", "quit")]

    def __init__(self) -> None:
        super().__init__(css_path=style_sheets())
        for theme in THEMES:
            self.register_theme(theme)
        self.theme = DEFAULT_THEME
        self.animation_level = "none"
        self._ticks = 0

    def compose(self) -> ComposeResult:
        yield DrawingView()

    def on_mount(self) -> None:
        self.call_after_refresh(self._show)

    def action_tick(self) -> None:
        self._ticks += 1
        self._show()

    def _show(self) -> None:
        now = START + self._ticks * TICK
        points = tuple(self._point(now - number * TICK) for number in range(SLOTS, -1, -1))
        figure = PlotFigure(
            "Credits left",
            window_at(SPANS[0], now),
            (PlotLine(Curve(TICK, points)),),
            usd,
        )
        self.query_one(DrawingView).draw(figure)

    @staticmethod
    def _point(at: datetime) -> Point:
        number = (at - START) // TICK
        value = Decimal(str(round(500 - number * 0.7 + 9 * math.sin(number / 6), 2)))
        return Point(at, "value", value, value, value, value)


if __name__ == "__main__":
    Sample().run()
