"""Cell formats for figures and curves, and columns for the common kinds of values.

Cells are plain text; gateway text goes through ``safe_text``. None is an unknown value and gives an
em dash, unless the function says otherwise; a field that the gateway reports as unset is a word.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from functools import partial
from typing import TYPE_CHECKING, Any, TypeVar

from gwtui.contract.response import ResponseModel
from gwtui.crud.resource import Cell, Column, DetailRow, SortValue, Tone
from gwtui.domain import money, times
from gwtui.domain.cell_values import UNKNOWN, Verdict
from gwtui.domain.keys import NEAR_LIMIT
from gwtui.domain.safe_text import safe_line, safe_text

if TYPE_CHECKING:
    from gwtui.watch.history.model import Curve, Point


DASH = UNKNOWN
NOTHING = Cell(DASH, "muted")
"""Unknown: missing, unreadable or null."""
READING = Cell("reading…", "muted")
"""A value that is still being read, after the rows."""

_SEVERITY: dict[Tone, int] = {"bad": 0, "warn": 1, "good": 2, "accent": 2, "plain": 2, "muted": 3}
_ONE_LINE = 120
_SECOND = 1000
_PERCENT = Decimal(100)
_CENT = Decimal("0.01")
_FULL, _EMPTY = "█", "░"
_PARTS = ("", "▏", "▎", "▍", "▌", "▋", "▊", "▉")
"""Bar segments of zero to seven eighths of a cell, filled from the left."""
_BARS = "▁▂▃▄▅▆▇█"
_NO_TRAFFIC = "·"
_LEAST_RANGE = Decimal("0.1")
"""Minimum range of a sparkline's scale, as a fraction of the highest value."""


def text(value: object, tone: Tone = "plain") -> Cell:
    """One line of gateway text; empty text is shown as unknown."""
    if value is None or value == "":
        return NOTHING
    return Cell(safe_line(value, _ONE_LINE), tone)


def prose(value: str | None, limit: int = 4000) -> Cell:
    """Multi-line gateway text, cut to ``limit`` characters."""
    if not value:
        return NOTHING
    return Cell(safe_text(value, limit, newlines=True))


def usd(amount: Decimal | None, tone: Tone = "plain") -> Cell:
    """An amount in USD; zero is muted."""
    if amount is None:
        return NOTHING
    return Cell(money.usd(amount), "muted" if amount == 0 and tone == "plain" else tone)


def cents(amount: Decimal | None, tone: Tone = "plain") -> Cell:
    """An amount in USD for a column: always two decimals, so that decimal points align."""
    if amount is None:
        return NOTHING
    if 0 < amount < _CENT:
        return Cell("<$0.01", tone)
    return Cell(money.usd(amount, places=2), tone if amount or tone != "plain" else "muted")


def share(part: Decimal | None, tone: Tone = "plain") -> Cell:
    """A percentage from a fraction in 0..1."""
    return NOTHING if part is None else Cell(money.percent(part), tone)


def count(number: int | None) -> Cell:
    """A whole number with thousands separators."""
    return NOTHING if number is None else Cell(money.grouped(number))


def tokens(number: int | None) -> Cell:
    """A shortened token count: "128k"."""
    return NOTHING if number is None else Cell(money.compact_int(number))


def exact_tokens(number: int | None, missing: str = DASH) -> Cell:
    """A full token count: "128,000 tokens"."""
    return Cell(missing, "muted") if number is None else Cell(f"{money.grouped(number)} tokens")


def yes_no(value: bool | None) -> Cell:
    """A flag as "yes" or "no"."""
    if value is None:
        return NOTHING
    return Cell("yes") if value else Cell("no", "muted")


def ago(moment: datetime | None, now: datetime, missing: Cell = NOTHING) -> Cell:
    """A moment relative to now: "3 h ago"."""
    return missing if moment is None else Cell(times.relative(moment, now))


def moment_row(
    label: str,
    moment: datetime | None,
    now: datetime,
    missing: Cell = NOTHING,
    *,
    seconds: bool = False,
) -> DetailRow:
    """A detail row with the full date and time, and the time relative to now beside it."""
    if moment is None:
        return DetailRow(label, missing)
    distance = times.relative(moment, now)
    return DetailRow(label, Cell(times.utc(moment, seconds=seconds)), distance)


def hint(text: str) -> DetailRow:
    """A detail row that explains a key of the dashboard."""
    return DetailRow("", Cell(text, "muted"), hint=True)


def share_tone(share: Decimal) -> Tone:
    """Return the tone of a used share of a limit: "warn" close to 1, "bad" from 1."""
    if share >= 1:
        return "bad"
    return "warn" if share >= NEAR_LIMIT else "plain"


def left_tone(left: Decimal | None) -> Tone:
    """Return the tone of the unspent amount of a limit: "bad" if nothing is left."""
    return "bad" if left is not None and left <= 0 else "plain"


def judged(verdict: Verdict) -> Cell:
    """A verdict as a coloured word."""
    return Cell(verdict.word, verdict.tone)


def from_unix(seconds: int | None) -> datetime | None:
    """Return the moment of a Unix timestamp; None if it is out of range."""
    if seconds is None:
        return None
    try:
        return datetime(1970, 1, 1, tzinfo=UTC) + timedelta(seconds=seconds)
    except OverflowError:
        return None


def names(values: Iterable[str] | None, missing: Cell = NOTHING) -> Cell:
    """A comma-separated list of names in the gateway's order; "none" if empty."""
    if values is None:
        return missing
    joined = ", ".join(safe_line(value, _ONE_LINE) for value in values)
    return Cell(joined) if joined else Cell("none", "muted")


def bar(part: Decimal, width: int = 20) -> str:
    """Draw a fraction as a bar of ``width`` cells, in steps of an eighth of a cell.

    Values are clamped to 0..1. Only 0 looks empty, and only 1 looks full.
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
    """A fraction in 0..1 as a bar and a percentage; the bar is full for ``largest``."""
    if part is None:
        return NOTHING
    if part <= 0:
        return Cell("")
    drawn = bar(part / largest if largest else part, width).replace(_EMPTY, " ")
    return Cell(f"{drawn} {money.percent(part)}", "accent")


def in_percent(part: Decimal | None) -> Decimal | None:
    """Return a fraction as percentage points, the unit of filters: 0.83 -> 83."""
    return None if part is None else part * _PERCENT


def missing(model: ResponseModel, name: str, null: str = "never") -> Cell:
    """The cell of a field without a value: the text ``null`` if the gateway sent null, else "—"."""
    return Cell(null, "muted") if model.sent_null(name) else NOTHING


def text_or(model: ResponseModel, name: str, null: str) -> Cell:
    """The cell of a text field; shows the text ``null`` if the gateway sent null."""
    value = getattr(model, name)
    return missing(model, name, null) if value is None else text(value)


def moment_or_never(label: str, model: ResponseModel, name: str, now: datetime) -> DetailRow:
    """A detail row for a moment; "never" if the gateway sent null."""
    return moment_row(label, getattr(model, name), now, missing(model, name))


def milliseconds(value: Decimal | None) -> Cell:
    """A latency in milliseconds, without the unit."""
    return NOTHING if value is None else Cell(f"{value:,.0f}")


def milliseconds_or_seconds(value: float | Decimal | None) -> Cell:
    """A duration in milliseconds, with its unit; in seconds from 1 s."""
    if value is None:
        return NOTHING
    return Cell(f"{value / _SECOND:,.2f} s" if value >= _SECOND else f"{value:,.0f} ms")


def speed(value: Decimal | None) -> Cell:
    """A speed in tokens per second, without the unit."""
    return NOTHING if value is None else Cell(f"{value:,.1f}")


def uptime(points: Decimal | None) -> Cell:
    """A percentage from 0..100; values just below 100 are never rounded up to "100%"."""
    return NOTHING if points is None else Cell(money.percent_points(points, places=2))


def sparkline(
    curve: Curve | None,
    width: int,
    *,
    floor: Decimal | None = None,
    ceiling: Decimal | None = None,
) -> str:
    """Draw the last ``width`` slots of a curve as bars; a dot means no traffic, a blank no sample.

    ``floor`` and ``ceiling`` fix the ends of the scale, so that a steady 99.9% does not look like a
    drop. Without a ceiling, the highest bar stays below the line above, and small variations do not
    fill the height.
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


# Columns for the common kinds of values -----------------------------------------------------------


T = TypeVar("T")


def text_column(  # noqa: PLR0913 - a column has as many properties
    name: str,
    title: str,
    value: Callable[[T], str | None],
    width: int,
    *,
    help: str,
    missing: Callable[[T], Cell] | None = None,
    most: int = 0,
    grow: bool = False,
) -> Column[T]:
    """A column of gateway text, sorted case-insensitively.

    ``name`` is the id of the column. ``missing`` returns the cell of an item whose value is None.
    ``grow``: the column takes its share of unused width. ``most`` is the width in cells to grow to
    before the unused width is shared.
    """

    def cell(item: T, _now: datetime) -> Cell:
        content = value(item)
        return missing(item) if missing is not None and content is None else text(content)

    def raw(item: T, _now: datetime) -> str | None:
        return value(item)

    return Column(
        name,
        title,
        cell,
        raw,
        width,
        grow=grow,
        most=most,
        help=help,
        export=raw,
    )


def word_column(
    name: str, title: str, cell: Callable[[T], Cell], width: int, help: str
) -> Column[T]:
    """A column whose cell text is also its value for sorting, filters and export."""
    return Column(
        name,
        title,
        lambda item, _now: cell(item),
        lambda item, _now: cell(item).text,
        width,
        help=help,
    )


def verdict_column(
    name: str, title: str, value: Callable[[T, datetime], Verdict], width: int, help: str
) -> Column[T]:
    """A column of verdicts, which sorts the worst first."""

    def rank(item: T, now: datetime) -> str:
        verdict = value(item, now)
        return f"{_SEVERITY[verdict.tone]} {verdict.word}"

    return Column(name, title, lambda item, now: judged(value(item, now)), rank, width, help=help)


def figure_column(
    name: str,
    title: str,
    value: Callable[[T], Decimal | int | None],
    width: int,
    *,
    show: Callable[[T], Cell],
    help: str,
) -> Column[T]:
    """A column of numbers; ``show`` formats the row, ``value`` is used to sort and filter."""
    return Column(
        name,
        title,
        lambda item, _now: show(item),
        lambda item, _now: value(item),
        width,
        right=True,
        help=help,
        kind="number",
    )


def value_column(  # noqa: PLR0913 - a column has as many properties
    name: str,
    title: str,
    value: Callable[[T], Any],
    width: int,
    help: str,
    *,
    show: Callable[[Any], Cell],
    sort: Callable[[Any], SortValue] = lambda value: value,
) -> Column[T]:
    """A column of values; ``show`` formats a value, ``sort`` converts it for sorting."""
    return Column(
        name,
        title,
        lambda item, _now: show(value(item)),
        lambda item, _now: sort(value(item)),
        width,
        right=True,
        help=help,
        kind="number",
    )


usd_column = partial(value_column, show=cents)
"""A column of amounts in USD, with two decimals."""
count_column = partial(value_column, show=count)
"""A column of whole numbers."""
tokens_column = partial(value_column, show=tokens)
"""A column of shortened token counts."""
share_column = partial(value_column, show=share, sort=in_percent)
"""A column of percentages, from fractions in 0..1."""


def moment_column(
    name: str,
    title: str,
    value: Callable[[T], datetime | None],
    width: int,
    help: str,
) -> Column[T]:
    """A column of moments, displayed relative to now."""
    return Column(
        name,
        title,
        lambda item, now: ago(value(item), now),
        lambda item, _now: value(item),
        width,
        help=help,
        kind="moment",
    )


def flag_column(
    name: str, title: str, value: Callable[[T], bool | None], width: int, help: str
) -> Column[T]:
    """A column of flags, displayed as "yes" or "no"."""
    return Column(
        name,
        title,
        lambda item, _now: yes_no(value(item)),
        lambda item, _now: value(item),
        width,
        help=help,
        kind="flag",
    )
