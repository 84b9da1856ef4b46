"""A curve in a few cells of one line, for a table."""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal

from gwtui.watch.history.model import Curve, Point

_EIGHTHS = "▁▂▃▄▅▆▇█"
_ASCII = "_.-=*#"
ABSENT = "·"
_LEAST_RANGE = Decimal("0.1")
"""The range of the scale, at least, as a part of the highest value."""


def sparkline(
    curve: Curve | None,
    width: int,
    *,
    floor: Decimal | None = None,
    ceiling: Decimal | None = None,
    ascii: bool = False,
) -> str:
    """The last ``width`` slots: bars between the lowest and the highest, a dot for no traffic.

    What was not recorded is left blank. ``floor`` and ``ceiling`` hold the scale, so that a
    steady 99.9 % does not look like a fall. Without a ceiling the highest bar is not a full block,
    which would touch the line above, and what hardly moves does not fill the height.
    """
    if curve is None:
        return " " * width
    points = curve.points[-width:]
    lows = [point.low for point in points if point.low is not None]
    highs = [point.high for point in points if point.high is not None]
    bottom = min(lows, default=Decimal(0)) if floor is None else floor
    top = max(highs, default=Decimal(1)) if ceiling is None else ceiling
    signs = _ASCII if ascii else _EIGHTHS
    if ceiling is None:
        signs = signs[:-1]
        if floor is None:
            room = max(Decimal(0), abs(top) * _LEAST_RANGE - (top - bottom)) / 2
            bottom, top = bottom - room, top + room
    absent = "," if ascii else ABSENT
    return "".join(_sign(point, bottom, top, signs, absent) for point in points).rjust(width)


def _sign(point: Point, bottom: Decimal, top: Decimal, signs: Sequence[str], absent: str) -> str:
    if point.state == "gap":
        return " "
    value = point.mean if point.mean is not None else point.last
    if point.state == "null" or value is None:
        return absent
    if top <= bottom:
        return signs[len(signs) // 2]
    share = float((value - bottom) / (top - bottom))
    return signs[min(len(signs) - 1, max(0, round(share * (len(signs) - 1))))]
