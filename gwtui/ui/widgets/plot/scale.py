"""Round figures and moments for the axes of a plot."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta, tzinfo
from decimal import ROUND_CEILING, ROUND_FLOOR, Decimal

from gwtui.crud.resource import Tone
from gwtui.domain.times import DAY, HOUR, MINUTE
from gwtui.watch.history.model import Curve, Point


@dataclass(frozen=True, slots=True)
class Span:
    """A span to choose: its name, its length, and the stride by which its window moves on.

    The window stands still for a stride, so that a tick adds to the curve and moves nothing: a
    moving curve would send the whole plot at each tick.
    """

    name: str
    length: timedelta
    stride: timedelta


@dataclass(frozen=True, slots=True)
class PlotWindow:
    """From when to when a plot reaches, UTC."""

    since: datetime
    until: datetime

    @property
    def seconds(self) -> float:
        """Its length."""
        return (self.until - self.since).total_seconds()


SPANS: tuple[Span, ...] = (
    Span("1h", timedelta(hours=1), timedelta(minutes=10)),
    Span("24h", timedelta(hours=24), timedelta(hours=3)),
    Span("7d", timedelta(days=7), timedelta(hours=12)),
    Span("30d", timedelta(days=30), timedelta(days=3)),
)
"""What can be zoomed to, shortest first."""


def window_at(span: Span, now: datetime) -> PlotWindow:
    """The window of a span that holds ``now``: it ends at the next whole stride, UTC."""
    stride = int(span.stride.total_seconds())
    moment = int(now.timestamp())
    until = datetime.fromtimestamp((moment // stride + 1) * stride, UTC)
    return PlotWindow(until - span.length - span.stride, until)


_LINES_A_STEP = 3
_MOST_STEPS = 8
"""Lines between two figures of the vertical axis, about; a tall one needs no more figures."""
_FINER = 2
"""So many steps more may be taken where they fit the curve better."""
_WASTE = Decimal("1.2")
"""A coarser step is taken as long as its range is not larger than this times the tightest one."""
_STEPS = tuple(Decimal(step) for step in ("1", "2", "2.5", "5", "10"))
_TIME_STEPS = (
    *(MINUTE, 2 * MINUTE, 5 * MINUTE, 10 * MINUTE, 15 * MINUTE, 30 * MINUTE),
    *(HOUR, 2 * HOUR, 3 * HOUR, 6 * HOUR, 12 * HOUR),
    *(DAY, 2 * DAY, 3 * DAY, 7 * DAY, 14 * DAY),
)
_MONDAY = 4 * DAY
"""Seconds from the epoch, a Thursday, to a Monday."""


@dataclass(frozen=True, slots=True)
class Scale:
    """The range of the vertical axis; ``step`` lies between two of its round figures."""

    bottom: Decimal
    top: Decimal
    step: Decimal

    @property
    def figures(self) -> Iterator[Decimal]:
        """The round figures from the bottom to the top."""
        value = self.bottom
        while value < self.top:
            yield value
            value += self.step
        yield self.top

    def share(self, value: Decimal) -> float:
        """Where a value lies: 0 at the bottom, 1 at the top; outside it is put on the edge."""
        return min(1.0, max(0.0, float((value - self.bottom) / (self.top - self.bottom))))


def scale_of(
    low: Decimal | None,
    high: Decimal | None,
    *,
    ceiling: Decimal | None = None,
    rows: int = 8,
    finest: Decimal = Decimal(0),
) -> Scale:
    """A range of round figures around ``low`` to ``high``, with room for them on ``rows`` lines.

    ``ceiling`` is a figure that the range reaches at least, and does not pass while nothing else
    does. No step is smaller than ``finest``.
    """
    found = [value for value in (low, high, ceiling) if value is not None]
    bottom, top = (min(found), max(found)) if found else (Decimal(0), Decimal(1))
    if bottom == top:
        room = abs(top) / 10 or Decimal(1)
        bottom, top = bottom - room, top if top == ceiling else top + room
    fewest = min(_MOST_STEPS, max(1, rows // _LINES_A_STEP))
    steps = dict.fromkeys(
        _round_up(max((top - bottom) / count, finest))
        for count in range(fewest, max(fewest, min(fewest + _FINER, (rows + 1) // 2)) + 1)
    )
    ranges = [_range(bottom, top, step, ceiling) for step in steps]
    ranges = [scale for scale in ranges if (scale.top - scale.bottom) / scale.step < rows] or ranges
    tightest = min(scale.top - scale.bottom for scale in ranges)
    return next(scale for scale in ranges if scale.top - scale.bottom <= tightest * _WASTE)


def _range(bottom: Decimal, top: Decimal, step: Decimal, ceiling: Decimal | None) -> Scale:
    """What is reached in whole steps, cut off where nothing can be beyond."""
    lowest = (bottom / step).to_integral_value(ROUND_FLOOR) * step
    highest = (top / step).to_integral_value(ROUND_CEILING) * step
    if ceiling is not None and top <= ceiling:
        highest = min(highest, ceiling)
    return Scale(lowest, highest, step)


def _round_up(size: Decimal) -> Decimal:
    """The next round figure from ``size`` on."""
    power = Decimal(1).scaleb(size.adjusted())
    return next(power * step for step in _STEPS if power * step >= size)


@dataclass(frozen=True, slots=True)
class Tick:
    """A round moment on the horizontal axis; ``share`` is where it lies, 0 to 1."""

    share: float
    label: str


def ticks_of(window: PlotWindow, zone: tzinfo | None, most: int) -> Iterator[Tick]:
    """At most about ``most`` round moments of a window, named in ``zone`` (None: UTC)."""
    seconds = window.seconds
    step = next((one for one in _TIME_STEPS if seconds / one <= max(1, most)), _TIME_STEPS[-1])
    zone = zone or UTC
    offset = window.since.astimezone(zone).utcoffset() or timedelta()
    shift = offset.total_seconds() - (_MONDAY if step % (7 * DAY) == 0 else 0)
    local = window.since.timestamp() + shift
    first = -(-local // step) * step - shift
    moment = first
    while moment < window.until.timestamp():
        shown = datetime.fromtimestamp(moment, UTC).astimezone(zone)
        label = shown.strftime("%m-%d" if step >= DAY else "%H:%M")
        yield Tick((moment - window.since.timestamp()) / seconds, label)
        moment += step


_LEAST_SEEN = 4
"""A window that little is recorded of is not shortened to less than this part of it."""


def fitted(window: PlotWindow, curves: Iterable[Curve | None]) -> PlotWindow:
    """The window from the first reading in it on: what is before the recording takes no room.

    It begins at a quarter, a half or three quarters of the window, so that a plot does not move
    while readings come.
    """
    quarter = (window.until - window.since) / _LEAST_SEEN
    firsts = (
        point.at
        for curve in curves
        if curve is not None
        for point in curve.points
        if point.state != "gap" and window.since <= point.at < window.until
    )
    first = min(firsts, default=window.since)
    quarters = min(_LEAST_SEEN - 1, (first - window.since) // quarter)
    return PlotWindow(window.since + quarters * quarter, window.until)


@dataclass(frozen=True, slots=True)
class PlotLine:
    """One curve; ``name`` tells it from the others of the plot. None: nothing is recorded."""

    curve: Curve | None
    name: str = ""
    tone: Tone = "accent"

    def points(self, window: PlotWindow) -> tuple[Point, ...]:
        """The points that lie in a window."""
        if self.curve is None:
            return ()
        return tuple(
            point for point in self.curve.points if window.since <= point.at < window.until
        )


@dataclass(frozen=True, slots=True)
class PlotFigure:
    """A plot. ``format_value`` gives the text of a figure, with its unit.

    ``title`` must have passed ``safe_text``. ``ceiling`` is a figure that the vertical axis
    reaches at least. ``absent`` says in words what a null stands for. ``zone`` None means UTC.
    """

    title: str
    window: PlotWindow
    lines: tuple[PlotLine, ...]
    format_value: Callable[[Decimal], str]
    ceiling: Decimal | None = None
    absent: str = "no traffic"
    zone: tzinfo | None = None
    marks: tuple[datetime, ...] = field(default=())
    """Moments to be marked on the time axis, such as alerts."""
