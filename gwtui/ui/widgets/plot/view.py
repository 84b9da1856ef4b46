"""The widget that shows a plot; keys zoom."""

from __future__ import annotations

from typing import ClassVar

from textual.binding import Binding, BindingType
from textual.message import Message

from gwtui.ui.widgets.lines import LinesView
from gwtui.ui.widgets.plot.paint import plot_lines
from gwtui.ui.widgets.plot.scale import PlotFigure


class PlotView(LinesView):
    """Draws a figure in the room it has; only cells that changed are sent."""

    BINDINGS: ClassVar[list[BindingType]] = [
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

    @property
    def figure(self) -> PlotFigure | None:
        """What is drawn."""
        return self._figure

    def draw(self, figure: PlotFigure) -> None:
        """Draw this figure, unless it is drawn already."""
        if figure != self._figure:
            self._figure = figure
            self._lay_out()

    def on_resize(self) -> None:
        """Draw for the new size."""
        self._lay_out()

    def action_zoom(self, by: int) -> None:
        """Ask for a shorter or a longer span."""
        self.post_message(self.Zoomed(self, by))

    def _lay_out(self) -> None:
        if self._figure is not None and self.size.width and self.size.height:
            self.show(plot_lines(self._figure, self.size.width, self.size.height))
