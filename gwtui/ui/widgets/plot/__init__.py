"""Plots of recorded figures on the line API: curves and timelines of states."""

from gwtui.ui.widgets.plot.paint import Block, legend, timeline
from gwtui.ui.widgets.plot.scale import (
    SPANS,
    PlotFigure,
    PlotLine,
    PlotWindow,
    Span,
    fitted,
    window_at,
)
from gwtui.ui.widgets.plot.view import PlotView

__all__ = [
    "SPANS",
    "Block",
    "PlotFigure",
    "PlotLine",
    "PlotView",
    "PlotWindow",
    "Span",
    "fitted",
    "legend",
    "timeline",
    "window_at",
]
