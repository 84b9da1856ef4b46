"""What a plot draws: one figure or a few of one unit, over a window of time."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime, tzinfo
from decimal import Decimal

from gwtui.crud.resource import Tone
from gwtui.ui.widgets.plot.spans import Window
from gwtui.watch.history.model import Curve, Point


@dataclass(frozen=True, slots=True)
class Line:
    """One curve; ``name`` tells it from the others of the plot. None: nothing is recorded."""

    curve: Curve | None
    name: str = ""
    tone: Tone = "accent"

    def points(self, window: Window) -> tuple[Point, ...]:
        """The points that lie in a window."""
        if self.curve is None:
            return ()
        return tuple(
            point for point in self.curve.points if window.since <= point.at < window.until
        )

    def at(self, moment: datetime) -> Point | None:
        """The slot that a moment falls into, None outside of the curve."""
        if self.curve is None or not self.curve.points:
            return None
        index = (moment - self.curve.points[0].at) // self.curve.width
        return self.curve.points[index] if 0 <= index < len(self.curve.points) else None


@dataclass(frozen=True, slots=True)
class Figure:
    """A plot: ``words`` gives a figure with its unit; ``title`` must have passed ``safe_text``.

    ``floor`` and ``ceiling`` are figures that the vertical axis reaches at least. ``absent`` says
    in words what a null stands for. ``zone`` None means UTC.
    """

    title: str
    window: Window
    lines: tuple[Line, ...]
    words: Callable[[Decimal], str]
    floor: Decimal | None = None
    ceiling: Decimal | None = None
    absent: str = "no traffic"
    zone: tzinfo | None = None
    ascii: bool = False
    marks: tuple[datetime, ...] = field(default=())
    """Moments to be marked on the time axis, such as alerts."""
