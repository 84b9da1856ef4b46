"""What a recorded week should say, reckoned plainly from every reading of it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta
from decimal import Decimal

from gwtui.watch.history.model import SeriesKey
from gwtui.watch.history.reader import HistoryReader
from week_kit import Truth

Value = Decimal | None


@dataclass(frozen=True)
class Figure:
    """A recorded figure, and what the gateway had answered for it."""

    key: SeriesKey
    truth: Truth


def last_before(truth: Truth, moment: datetime) -> Value:
    """What the newest reading said that was there at a moment."""
    return [value for read_at, value in truth if read_at <= moment][-1]


def reckoned(
    truth: Truth, bad: Callable[[Decimal], bool], good: Callable[[Decimal], bool], wait: timedelta
) -> list[tuple[datetime, str]]:
    """When a rule should fire and clear, reckoned from all readings by looking back from each."""
    found: list[tuple[datetime, str]] = []
    known = [(read_at, value) for read_at, value in truth if value is not None]
    firing = False
    for place, (moment, _) in enumerate(known):
        wanted = good if firing else bad
        since = moment
        for read_at, value in reversed(known[: place + 1]):
            if not wanted(value):
                break
            since = read_at
        if wanted(known[place][1]) and moment - since >= wait:
            firing = not firing
            found.append((moment, "fired" if firing else "cleared"))
    return found


def check_curve(
    reader: HistoryReader, figure: Figure, since: datetime, until: datetime, width: int
) -> None:
    """Compare every slot with its readings."""
    curve = reader.points(figure.key, since, until, resolution=width)
    assert curve is not None
    assert curve.width == timedelta(seconds=width)
    inside: dict[int, list[Value]] = {}
    for read_at, value in figure.truth:
        if since <= read_at < until:
            inside.setdefault(int(read_at.timestamp()) // width, []).append(value)
    for point in curve.points:
        values = inside.get(int(point.at.timestamp()) // width, [])
        known = [value for value in values if value is not None]
        if known:
            assert point.state == "value"
            assert (point.low, point.high) == (min(known), max(known))
            assert point.mean is not None
            assert min(known) <= point.mean <= max(known) or len({*known}) == 1
        if values:
            assert point.last == values[-1]
        if values and not known:
            assert point.state == "null"
