"""Plots of recorded figures on the line API: curves and timelines of states."""

from gwtui.ui.widgets.plot.scale import SPANS, Figure, Line, Span, Window, window_at
from gwtui.ui.widgets.plot.timeline import Block, legend, timeline
from gwtui.ui.widgets.plot.view import PlotView

__all__ = [
    "SPANS",
    "Block",
    "Figure",
    "Line",
    "PlotView",
    "Span",
    "Window",
    "legend",
    "timeline",
    "window_at",
]
