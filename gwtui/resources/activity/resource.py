"""Activity of the last completed days, ranked by what did it: extended contract section 8."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from decimal import Decimal

from gwtui.contract.usage import ActivityRow
from gwtui.crud import cells
from gwtui.crud.columns import count_column, figure_column, text_column, usd_column
from gwtui.crud.resource import Cell, Column
from gwtui.domain import activity, money
from gwtui.domain.activity import ActivitySummary, Measure
from gwtui.resources.activity.breakdown import OTHERS as OTHERS  # noqa: PLC0414 - of a ranking, too
from gwtui.resources.activity.breakdown import ActivityGroup, Part, Uses, grouped

MEASURE_WORDS: Mapping[Measure, str] = {
    "spend": "spend",
    "byok": "BYOK cost",
    "requests": "requests",
    "tokens": "tokens",
}
_SEPARATOR = "\1"
_BAR = 8


@dataclass(frozen=True, slots=True)
class Ranked:
    """A model, provider, workspace, key or user, or two at once, and its share (0..1).

    ``largest`` is the highest share of the ranking.
    """

    identity: str
    name: str
    tally: ActivitySummary
    share: Decimal | None
    rows: tuple[ActivityRow, ...] = field(default=(), compare=False, repr=False)
    parts: tuple[str, ...] = ()
    """The identity of each group that it is in; none for what cannot be told further."""
    largest: Decimal | None = None


def ranked(
    uses: Uses, rows: Sequence[ActivityRow], by: Sequence[Part], measure: Measure
) -> tuple[Ranked, ...]:
    """The groups of what was done, the biggest first; ``rows`` are all that was done then."""
    whole = activity.tally(rows).measure(measure)
    return _by_size(
        [
            _ranked(
                _SEPARATOR.join(group.parts),
                " · ".join(
                    uses.name(part, identity)
                    for part, identity in zip(by, group.parts, strict=True)
                ),
                group.tally,
                whole,
                measure,
                group,
            )
            for group in grouped(uses, rows, by)
        ],
        measure,
    )


def _ranked(
    identity: str,
    name: str,
    tally: ActivitySummary,
    whole: Decimal | None,
    measure: Measure,
    group: ActivityGroup,
) -> Ranked:
    amount = tally.measure(measure)
    share = None if amount is None or not whole else amount / whole
    return Ranked(identity, name, tally, share, group.rows, group.parts)


def _by_size(found: Sequence[Ranked], measure: Measure) -> tuple[Ranked, ...]:
    def size(one: Ranked) -> tuple[bool, Decimal, str]:
        amount = one.tally.measure(measure)
        return amount is None, -(amount or Decimal(0)), one.name.casefold()

    largest = max((one.share for one in found if one.share is not None), default=None)
    return tuple(replace(one, largest=largest) for one in sorted(found, key=size))


def in_words(measure: Measure, amount: Decimal | None) -> str:
    """A figure of the measure with its unit, short."""
    if amount is None:
        return cells.DASH
    if measure in {"spend", "byok"}:
        return money.usd(amount, places=2 if amount < 1000 else 0)  # noqa: PLR2004
    return money.compact_int(amount)


def totals(tally: ActivitySummary) -> Sequence[Cell]:
    """All the sums in words."""
    parts = [
        Cell(f"{money.usd(tally.spend)} spent", "accent"),
        Cell(f"{money.usd(tally.byok)} on own keys"),
        Cell(f"{money.compact_int(tally.requests)} requests"),
        Cell(f"tokens {money.compact_int(tally.prompt)} in"),
        Cell(f"{money.compact_int(tally.completion)} out"),
        Cell(f"{money.compact_int(tally.reasoning)} reasoning", "muted"),
        Cell(f"{money.compact_int(tally.cached)} cached", "muted"),
    ]
    if tally.unknown:
        noun = "row lacks" if tally.unknown == 1 else "rows lack"
        parts.insert(0, Cell(f"{tally.unknown} {noun} figures", "warn"))
    return parts


def share_cell(one: Ranked) -> Cell:
    """The share as a bar and a percentage."""
    return cells.ranked_share(one.share, one.largest, _BAR)


def _tokens(
    name: str, title: str, priority: int, help: str, value: Callable[[ActivitySummary], int | None]
) -> Column[Ranked]:
    return figure_column(
        name,
        title,
        lambda one: value(one.tally),
        7,
        priority,
        show=lambda one: cells.tokens(value(one.tally)),
        help=help,
    )


COLUMNS: tuple[Column[Ranked], ...] = (
    text_column("name", "Name", lambda one: one.name, 26, 0, help="what did it"),
    usd_column("spend", "Spend", lambda one: one.tally.spend, 10, 1, "spent credits, USD"),
    Column(
        "share",
        "Share",
        lambda one, _now: share_cell(one),
        lambda one, _now: cells.in_percent(one.share),
        15,
        2,
        help="share of the measure that is drawn",
        kind="number",
    ),
    count_column("requests", "Requests", lambda one: one.tally.requests, 9, 3, "requests"),
    _tokens("tokens", "Tokens", 4, "prompt and completion tokens", lambda tally: tally.tokens),
    usd_column("byok", "BYOK", lambda one: one.tally.byok, 10, 5, "cost on own keys, USD"),
    _tokens("prompt", "In", 6, "prompt tokens", lambda tally: tally.prompt),
    _tokens("completion", "Out", 7, "completion tokens", lambda tally: tally.completion),
    _tokens("reasoning", "Reason", 8, "reasoning tokens", lambda tally: tally.reasoning),
    _tokens("cached", "Cached", 9, "cached prompt tokens", lambda tally: tally.cached),
)
