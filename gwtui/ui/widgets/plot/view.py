"""The widget that shows a plot."""

from __future__ import annotations

from gwtui.ui.widgets.lines import LinesView
from gwtui.ui.widgets.plot.paint import plot_lines
from gwtui.ui.widgets.plot.scale import PlotFigure


class PlotView(LinesView):
    """Draws a figure in the room it has; only cells that changed are sent."""

    DEFAULT_CSS = "PlotView { overflow: hidden hidden; }"

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self.figure: PlotFigure | None = None
        """What is drawn."""

    def draw(self, figure: PlotFigure) -> None:
        """Draw this figure, unless it is drawn already."""
        if figure != self.figure:
            self.figure = figure
            self.on_resize()

    def on_resize(self) -> None:
        """Draw in the room there is."""
        if self.figure is not None and self.size.width and self.size.height:
            self.show(plot_lines(self.figure, self.size.width, self.size.height))
