"""The widget that shows a plot: read-out at the cursor or the pointer, zoom by key."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import ClassVar

from textual import events
from textual.binding import Binding, BindingType
from textual.message import Message

from gwtui.ui.widgets.lines import LinesView
from gwtui.ui.widgets.plot.paint import plot_lines
from gwtui.ui.widgets.plot.scale import PlotFigure

_STEPS = 60
"""Key presses from one end of the plot to the other."""


class PlotView(LinesView):
    """Draws a figure in the room it has; only cells that changed are sent."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("left,h", "cursor(-1)", show=False),
        Binding("right,l", "cursor(1)", show=False),
        Binding("home,g", "cursor(-60)", show=False),
        Binding("end,G", "cursor(60)", show=False),
        Binding("plus,equals_sign", "zoom(-1)", show=False),
        Binding("minus", "zoom(1)", show=False),
    ]
    DEFAULT_CSS = "PlotView { overflow: hidden hidden; }"

    class Zoomed(Message):
        """Another span is wanted: ``by`` -1 is the next shorter one, 1 the next longer one."""

        def __init__(self, view: PlotView, by: int) -> None:
            super().__init__()
            self.view = view
            self.by = by

        @property
        def control(self) -> PlotView:
            """The plot."""
            return self.view

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self._figure: PlotFigure | None = None
        self._cursor: datetime | None = None
        self._hover: datetime | None = None

    @property
    def figure(self) -> PlotFigure | None:
        """What is drawn."""
        return self._figure

    @property
    def cursor(self) -> datetime | None:
        """The moment that is read out, None while it is the newest."""
        return self._hover or self._cursor

    def draw(self, figure: PlotFigure) -> None:
        """Draw this; the cursor stays on its moment as long as that is in the window."""
        if figure == self._figure:
            return
        self._figure = figure
        self._cursor = self._within(self._cursor)
        self._hover = self._within(self._hover)
        self._lay_out()

    def _within(self, moment: datetime | None) -> datetime | None:
        if moment is None or self._figure is None:
            return None
        window = self._figure.window
        return moment if window.since <= moment < window.until else None

    def on_resize(self) -> None:
        """Draw for the new size."""
        self._lay_out()

    def on_blur(self) -> None:
        """Without the focus the newest figures are shown."""
        self._cursor = None
        self._lay_out()

    def on_mouse_move(self, event: events.MouseMove) -> None:
        """Read out the moment under the pointer."""
        if self._figure is None or not self.size.width:
            return
        axis = self._axis_width()
        share = (event.x - axis) / max(1, self.size.width - axis)
        self._hover = self._moment(share) if 0 <= share <= 1 else None
        self._lay_out()

    def on_leave(self) -> None:
        """The pointer went away."""
        self._hover = None
        self._lay_out()

    def action_cursor(self, steps: int) -> None:
        """Move the read-out; it begins at the newest moment."""
        if self._figure is None:
            return
        window = self._figure.window
        step = timedelta(seconds=window.seconds / _STEPS)
        moment = (self._cursor or self._newest()) + step * steps
        last = window.until - timedelta(seconds=1)
        self._cursor = min(last, max(window.since, moment))
        self._lay_out()

    def action_zoom(self, by: int) -> None:
        """Ask for a shorter or a longer span."""
        self.post_message(self.Zoomed(self, by))

    def _newest(self) -> datetime:
        """When the curves end: the window reaches a little beyond the present."""
        assert self._figure is not None  # noqa: S101 - checked by the callers
        window = self._figure.window
        ends = [
            point.at + line.curve.width
            for line in self._figure.lines
            if line.curve is not None
            for point in line.points(window)
            if point.state != "gap"
        ]
        return min(max(ends, default=window.until), window.until)

    def _moment(self, share: float) -> datetime | None:
        assert self._figure is not None  # noqa: S101 - checked by the callers
        window = self._figure.window
        seconds = min(window.seconds - 1, max(0.0, share * window.seconds))
        return window.since + timedelta(seconds=seconds)

    def _axis_width(self) -> int:
        """The cells of the vertical axis, from the first line that has a wall."""
        for line in self.text.splitlines()[1:]:
            for wall in "┤│+|":
                if wall in line:
                    return line.index(wall) + 1
        return 0

    def _lay_out(self) -> None:
        if self._figure is not None and self.size.width and self.size.height:
            self.show(plot_lines(self._figure, self.size.width, self.size.height, self.cursor))
