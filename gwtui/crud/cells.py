"""Formats of figures and curves, the same in every list and detail pane.

Every cell is plain text; what comes from the gateway goes through ``safe_text``. An unknown field
is an em dash, one that the gateway says is not set is a word.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import TYPE_CHECKING

from gwtui.contract.response import ResponseModel
from gwtui.crud.resource import Cell, DetailRow, Tone
from gwtui.domain import money, times
from gwtui.domain.cell_values import UNKNOWN
from gwtui.domain.safe_text import safe_line, safe_text

if TYPE_CHECKING:
    from gwtui.watch.history.model import Curve, Point

DASH = UNKNOWN
NOTHING = Cell(DASH, "muted")
"""Unknown: missing, unreadable or null."""
READING = Cell("reading…", "muted")
"""Not known yet, because it is read after the rows."""

_ONE_LINE = 120
_PERCENT = Decimal(100)
_CENT = Decimal("0.01")
_FULL, _EMPTY = "█", "░"
_PARTS = ("", "▏", "▎", "▍", "▌", "▋", "▊", "▉")
"""Eighths of a cell, from the left."""
_BARS = "▁▂▃▄▅▆▇█"
_NO_TRAFFIC = "·"
_LEAST_RANGE = Decimal("0.1")
"""Minimum range of the scale, as a part of the highest value."""


def text(value: object, tone: Tone = "plain") -> Cell:
    """Text from the gateway on one line; empty text counts as unknown."""
    if value is None or value == "":
        return NOTHING
    return Cell(safe_line(value, _ONE_LINE), tone)


def prose(value: str | None, limit: int = 4000) -> Cell:
    """Longer text from the gateway, line breaks kept."""
    if not value:
        return NOTHING
    return Cell(safe_text(value, limit, newlines=True))


def usd(amount: Decimal | None, tone: Tone = "plain") -> Cell:
    """An amount in USD; nothing spent is there but stays quiet."""
    if amount is None:
        return NOTHING
    return Cell(money.usd(amount), "muted" if amount == 0 and tone == "plain" else tone)


def cents(amount: Decimal | None, tone: Tone = "plain") -> Cell:
    """An amount in a column: always in cents so that points stand below each other."""
    if amount is None:
        return NOTHING
    if 0 < amount < _CENT:
        return Cell("<$0.01", tone)
    return Cell(money.usd(amount, places=2), tone if amount or tone != "plain" else "muted")


def share(part: Decimal | None, tone: Tone = "plain") -> Cell:
    """A share, 0..1, as a percentage."""
    return NOTHING if part is None else Cell(money.percent(part), tone)


def count(number: int | None) -> Cell:
    """A whole number with thousands separated."""
    return NOTHING if number is None else Cell(money.grouped(number))


def tokens(number: int | None) -> Cell:
    """A token count, short ("128k")."""
    return NOTHING if number is None else Cell(money.compact_int(number))


def exact_tokens(number: int | None, missing: str = DASH) -> Cell:
    """A token count in full."""
    return Cell(missing, "muted") if number is None else Cell(f"{money.grouped(number)} tokens")


def yes_no(value: bool | None) -> Cell:
    """A flag as a word."""
    if value is None:
        return NOTHING
    return Cell("yes") if value else Cell("no", "muted")


def ago(moment: datetime | None, now: datetime, missing: Cell = NOTHING) -> Cell:
    """A moment as seen from now."""
    return missing if moment is None else Cell(times.relative(moment, now))


def moment_row(
    label: str, moment: datetime | None, now: datetime, missing: Cell = NOTHING
) -> DetailRow:
    """A moment in full, with the distance from now beside it."""
    if moment is None:
        return DetailRow(label, missing)
    distance = times.relative(moment, now)
    return DetailRow(label, Cell(times.utc(moment)), distance)


def hint(text: str) -> DetailRow:
    """A line about keys of the dashboard."""
    return DetailRow("", Cell(text, "muted"), hint=True)


def from_unix(seconds: int | None) -> datetime | None:
    """A Unix timestamp as a moment; None when it is outside the calendar."""
    if seconds is None:
        return None
    try:
        return datetime(1970, 1, 1, tzinfo=UTC) + timedelta(seconds=seconds)
    except OverflowError:
        return None


def names(values: Iterable[str] | None, missing: Cell = NOTHING) -> Cell:
    """A list of names in the gateway's order."""
    if values is None:
        return missing
    joined = ", ".join(safe_line(value, _ONE_LINE) for value in values)
    return Cell(joined) if joined else Cell("none", "muted")


def bar(part: Decimal, width: int = 20) -> str:
    """A share as a bar of ``width`` cells: full at 1 and above, empty at 0 and below.

    It grows by eighths of a cell. Only nothing looks empty, and only all of it full.
    """
    steps = width * len(_PARTS)
    inside = min(max(part, Decimal(0)), Decimal(1))
    filled = min(
        max(int(inside * steps), 1 if inside > 0 else 0), steps - 1 if inside < 1 else steps
    )
    whole, more = divmod(filled, len(_PARTS))
    drawn = _FULL * whole + _PARTS[more]
    return drawn + _EMPTY * (width - len(drawn))


def ranked_share(part: Decimal | None, largest: Decimal | None, width: int) -> Cell:
    """A share, 0..1, behind a bar that is full for the largest share of the ranking."""
    if part is None:
        return NOTHING
    if part <= 0:
        return Cell("")
    drawn = bar(part / largest if largest else part, width).replace(_EMPTY, " ")
    return Cell(f"{drawn} {money.percent(part)}", "accent")


def in_percent(part: Decimal | None) -> Decimal | None:
    """A share as the number people type in a filter: 0.83 -> 83."""
    return None if part is None else part * _PERCENT


def missing(model: ResponseModel, name: str, null: str = "never") -> Cell:
    """The cell of a field without a value: ``null`` if the gateway sent null, else unknown."""
    return Cell(null, "muted") if model.sent_null(name) else NOTHING


def text_or(model: ResponseModel, name: str, null: str) -> Cell:
    """The text of a field; null reads as ``null``."""
    value = getattr(model, name)
    return missing(model, name, null) if value is None else text(value)


def moment_or_never(label: str, model: ResponseModel, name: str, now: datetime) -> DetailRow:
    """The row of a moment; null reads as "never"."""
    return moment_row(label, getattr(model, name), now, missing(model, name))


def milliseconds(value: Decimal | None) -> Cell:
    """A latency; the title of the column or row names the unit."""
    return NOTHING if value is None else Cell(f"{value:,.0f}")


def speed(value: Decimal | None) -> Cell:
    """Tokens per second; the title of the column or row names the unit."""
    return NOTHING if value is None else Cell(f"{value:,.1f}")


def uptime(points: Decimal | None) -> Cell:
    """A percentage 0..100 as the gateway gives it; what is not quite all never reads as 100%."""
    return NOTHING if points is None else Cell(money.percent_points(points, places=2))


def sparkline(
    curve: Curve | None,
    width: int,
    *,
    floor: Decimal | None = None,
    ceiling: Decimal | None = None,
) -> str:
    """The last ``width`` slots of a curve: bars from lowest to highest; dots mean no traffic.

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
    signs = _BARS
    if ceiling is None:
        signs = signs[:-1]
        if floor is None:
            room = max(Decimal(0), abs(top) * _LEAST_RANGE - (top - bottom)) / 2
            bottom, top = bottom - room, top + room
    return "".join(_curve_sign(point, bottom, top, signs) for point in points).rjust(width)


def _curve_sign(point: Point, bottom: Decimal, top: Decimal, signs: Sequence[str]) -> str:
    if point.state == "gap":
        return " "
    value = point.mean if point.mean is not None else point.last
    if point.state == "null" or value is None:
        return _NO_TRAFFIC
    if top <= bottom:
        return signs[len(signs) // 2]
    share = float((value - bottom) / (top - bottom))
    return signs[min(len(signs) - 1, max(0, round(share * (len(signs) - 1))))]
