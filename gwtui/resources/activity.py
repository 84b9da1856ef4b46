"""Activity of the last completed days (UTC), grouped, ranked, and row by row: extended contract 8.

Groups are by one or several of day, model, provider, workspace, key and user. The gateway gives
days, models, providers and workspaces in one answer; keys and users only when each is asked for by
itself, and the user is then the one who made the key. What no listed key or user did is shown as
one further group. Amounts are USD. The dashboard ranks on a screen of its own; ``ACTIVITY_DAYS``
is the list of rows for commands.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from decimal import Decimal
from typing import Literal

from gwtui.contract.usage import ActivityRow
from gwtui.crud import cells
from gwtui.crud.columns import count_column, text_column, tokens_column, usd_column
from gwtui.crud.resource import Cell, Column, DetailRow, ResourceSpec, Section
from gwtui.crud.schema_drift import drift_sections
from gwtui.domain import activity, money
from gwtui.domain.activity import ActivitySummary, Grouping, Measure
from gwtui.domain.safe_text import safe_line
from gwtui.watch.feeds.activity import Activity, DayRow, PartedActivity, days_feed

Part = Grouping | Literal["day"]
"""The dimensions for grouping rows."""
PARTS: tuple[Part, ...] = ("day", *activity.GROUPINGS)
OTHERS = "\0others"
"""In place of a key or user: what no listed one did."""
NOT_SAID = "not said"
_NAME = 80
_ASKED_FOR = frozenset({"key", "user"})
"""Parts that the gateway gives only in a request for each of them."""

MEASURE_LABELS: Mapping[Measure, str] = {
    "spend": "spend",
    "byok": "BYOK cost",
    "requests": "requests",
    "tokens": "tokens",
}

_SEPARATOR = "\1"
_BAR = 8


@dataclass(frozen=True, slots=True)
class UsageRow:
    """A row of activity, and whose it is as far as that was asked for."""

    row: ActivityRow
    key: str | None = None
    user: str | None = None

    def part(self, part: Part) -> str:
        """The identity of the group that it belongs to; "" when it is unknown."""
        row = self.row
        match part:
            case "day":
                day = activity.day_of(row)
                found = row.date if day is None else day.isoformat()
            case "model":
                found = row.model or row.model_permaslug
            case "provider":
                found = row.provider_name
            case "workspace":
                found = row.workspace_id
            case "key":
                found = self.key
            case "user":
                found = self.user
        return found or ""


@dataclass(frozen=True, slots=True)
class UsageRows:
    """Rows to be grouped, and names by identity; ``rest`` names the group of everything else."""

    uses: tuple[UsageRow, ...]
    names: Mapping[Part, Mapping[str, str]] = field(default_factory=dict)
    rest: str = ""

    def name(self, part: Part, identity: str) -> str:
        """The display name."""
        if identity == OTHERS:
            return self.rest
        known = self.names.get(part, {}).get(identity)
        return known or safe_line(identity, _NAME) or NOT_SAID


@dataclass(frozen=True, slots=True)
class ActivityGroup:
    """Rows that have the same parts, and their sums."""

    parts: tuple[str, ...]
    summary: ActivitySummary
    rows: tuple[ActivityRow, ...] = field(default=(), compare=False, repr=False)


def account_usage(found: Activity) -> UsageRows:
    """Rows without keys and users."""
    return UsageRows(tuple(map(UsageRow, found.rows)), {"workspace": found.workspaces})


def key_usage(keys: PartedActivity, found: Activity) -> UsageRows:
    """Rows by key, and by who made it."""
    uses = (
        UsageRow(row, key, keys.makers.get(key) or None)
        for key, rows in keys.rows.items()
        for row in rows
    )
    rest = "deleted keys"
    if keys.left_out:
        rest += f" and {keys.left_out} that were not read"
    names: dict[Part, Mapping[str, str]] = {
        "workspace": found.workspaces,
        "key": keys.names,
        "user": keys.people,
    }
    return UsageRows(tuple(uses), names, rest)


def user_usage(users: PartedActivity, found: Activity) -> UsageRows:
    """Rows by the user who made the key."""
    uses = (UsageRow(row, None, user) for user, rows in users.rows.items() for row in rows)
    rest = "keys of nobody here"
    if users.left_out:
        rest += f" and {users.left_out} people who were not read"
    return UsageRows(tuple(uses), {"workspace": found.workspaces, "user": users.names}, rest)


def grouped(
    uses: UsageRows, whole: Sequence[ActivityRow], by: Sequence[Part]
) -> tuple[ActivityGroup, ...]:
    """The groups on the days of ``whole``, which is all that was done, and the rest of it.

    The rest is what no listed key or person did, grouped by the other parts.
    """
    days = {activity.day_of(row) for row in whole}
    found = _by_parts((use for use in uses.uses if activity.day_of(use.row) in days), by)
    groups = [
        ActivityGroup(parts, activity.summarize(rows), tuple(rows)) for parts, rows in found.items()
    ]
    if uses.rest:
        listed: dict[tuple[str, ...], list[ActivitySummary]] = defaultdict(list)
        for group in groups:
            listed[_rest_of(group.parts, by)].append(group.summary)
        for parts, rows in _by_parts(map(UsageRow, whole), by).items():
            rest = _rest_of(parts, by)
            others = activity.remainder(activity.summarize(rows), listed[rest])
            if others.requests or others.spend or others.byok:
                groups.append(ActivityGroup(rest, others))
    return tuple(groups)


def _by_parts(
    uses: Iterable[UsageRow], by: Sequence[Part]
) -> Mapping[tuple[str, ...], list[ActivityRow]]:
    found: dict[tuple[str, ...], list[ActivityRow]] = defaultdict(list)
    for use in uses:
        found[tuple(use.part(part) for part in by)].append(use.row)
    return found


def _rest_of(parts: Sequence[str], by: Sequence[Part]) -> tuple[str, ...]:
    """The same parts without the key and the user."""
    pairs = zip(parts, by, strict=True)
    return tuple(OTHERS if part in _ASKED_FOR else identity for identity, part in pairs)


@dataclass(frozen=True, slots=True)
class RankedGroup:
    """A model, provider, workspace, key or user, or two at once, and its share (0..1).

    ``largest`` is the highest share of the ranking.
    """

    identity: str
    name: str
    summary: ActivitySummary
    share: Decimal | None
    rows: tuple[ActivityRow, ...] = field(default=(), compare=False, repr=False)
    parts: tuple[str, ...] = ()
    """The identity of each group that it is in; empty for the rest."""
    largest: Decimal | None = None


def ranked(
    uses: UsageRows, rows: Sequence[ActivityRow], by: Sequence[Part], measure: Measure
) -> tuple[RankedGroup, ...]:
    """The groups of what was done, the biggest first; ``rows`` are all that was done then."""
    whole = activity.summarize(rows).measure(measure)
    return _by_size(
        [
            _ranked(
                _SEPARATOR.join(group.parts),
                " · ".join(
                    uses.name(part, identity)
                    for part, identity in zip(by, group.parts, strict=True)
                ),
                group.summary,
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
    summary: ActivitySummary,
    whole: Decimal | None,
    measure: Measure,
    group: ActivityGroup,
) -> RankedGroup:
    amount = summary.measure(measure)
    share = None if amount is None or not whole else amount / whole
    return RankedGroup(identity, name, summary, share, group.rows, group.parts)


def _by_size(found: Sequence[RankedGroup], measure: Measure) -> tuple[RankedGroup, ...]:
    def size(one: RankedGroup) -> tuple[bool, Decimal, str]:
        amount = one.summary.measure(measure)
        return amount is None, -(amount or Decimal(0)), one.name.casefold()

    largest = max((one.share for one in found if one.share is not None), default=None)
    return tuple(replace(one, largest=largest) for one in sorted(found, key=size))


def measure_text(measure: Measure, amount: Decimal | None) -> str:
    """A figure of the measure with its unit, in short."""
    if amount is None:
        return cells.DASH
    if measure in {"spend", "byok"}:
        return money.usd(amount, places=2 if amount < 1000 else 0)  # noqa: PLR2004
    return money.compact_int(amount)


def total_cells(summary: ActivitySummary) -> Sequence[Cell]:
    """All the sums in words."""
    parts = [
        Cell(f"{money.usd(summary.spend)} spent", "accent"),
        Cell(f"{money.usd(summary.byok)} BYOK"),
        Cell(f"{money.compact_int(summary.requests)} requests"),
        Cell(f"tokens {money.compact_int(summary.prompt)} in"),
        Cell(f"{money.compact_int(summary.completion)} out"),
        Cell(f"{money.compact_int(summary.reasoning)} reasoning", "muted"),
        Cell(f"{money.compact_int(summary.cached)} cached", "muted"),
    ]
    if summary.unknown:
        noun = "row lacks" if summary.unknown == 1 else "rows lack"
        parts.insert(0, Cell(f"{summary.unknown} {noun} figures", "warn"))
    return parts


def share_cell(one: RankedGroup) -> Cell:
    """The share as a bar and a percentage."""
    return cells.ranked_share(one.share, one.largest, _BAR)


def _tokens(
    name: str, title: str, help: str, value: Callable[[ActivitySummary], int | None]
) -> Column[RankedGroup]:
    return tokens_column(name, title, lambda one: value(one.summary), 7, help)


COLUMNS: tuple[Column[RankedGroup], ...] = (
    text_column("name", "Name", lambda one: one.name, 26, help="what did it", grow=True),
    usd_column("spend", "Spend", lambda one: one.summary.spend, 10, "spent credits, USD"),
    Column(
        "share",
        "Share",
        lambda one, _now: share_cell(one),
        lambda one, _now: cells.in_percent(one.share),
        15,
        help="share of the measure that is drawn",
        kind="number",
    ),
    count_column("requests", "Requests", lambda one: one.summary.requests, 9, "requests"),
    _tokens("tokens", "Tokens", "prompt and completion tokens", lambda summary: summary.tokens),
    usd_column("byok", "BYOK", lambda one: one.summary.byok, 10, "BYOK cost, USD"),
    _tokens("prompt", "In", "prompt tokens", lambda summary: summary.prompt),
    _tokens("completion", "Out", "completion tokens", lambda summary: summary.completion),
    _tokens("reasoning", "Reason", "reasoning tokens", lambda summary: summary.reasoning),
    _tokens("cached", "Cached", "cached prompt tokens", lambda summary: summary.cached),
)


def _count(
    name: str, title: str, value: Callable[[ActivityRow], int | None], help: str
) -> Column[DayRow]:
    return count_column(name, title, lambda row: value(row.row), 10, help)


DAY_COLUMNS: tuple[Column[DayRow], ...] = (
    Column(
        "day",
        "Day",
        lambda row, _now: cells.text(row.row.date),
        lambda row, _now: row.day,
        10,
        help="UTC day; day>=2026-11-01 filters",
        export=lambda row, _now: row.row.date,
        kind="moment",
    ),
    text_column("model", "Model", lambda row: row.row.model, 28, help="model identifier"),
    usd_column("spend", "Spend", lambda row: row.row.usage, 10, "spent credits, USD"),
    _count("requests", "Requests", lambda row: row.requests, "requests"),
    text_column("provider", "Provider", lambda row: row.row.provider_name, 14, help="provider"),
    text_column("workspace", "Workspace", lambda row: row.workspace_name, 16, help="workspace"),
    usd_column("byok", "BYOK", lambda row: row.row.byok_usage_inference, 10, "BYOK cost, USD"),
    _count("prompt", "In", lambda row: row.prompt_tokens, "prompt tokens"),
    _count("completion", "Out", lambda row: row.completion_tokens, "completion tokens"),
    _count("reasoning", "Reason", lambda row: row.reasoning_tokens, "reasoning tokens"),
    _count("cached", "Cached", lambda row: row.cached_tokens, "cached prompt tokens"),
    text_column("endpoint", "Endpoint", lambda row: row.row.endpoint_id, 36, help="endpoint"),
)


ACTIVITY_DAYS: ResourceSpec[DayRow] = ResourceSpec(
    id="activity",
    title="Activity",
    singular="row",
    identity=lambda row: row.identity,
    has_id=False,
    name=lambda row: f"{cells.text(row.row.date).text} {cells.text(row.row.model).text}",
    columns=DAY_COLUMNS,
    sections=(
        Section(
            "Activity",
            lambda row, now: [
                DetailRow(column.title, column.cell(row, now)) for column in DAY_COLUMNS
            ],
        ),
        *drift_sections(lambda row: row.row),
    ),
    feed=days_feed,
    raw=lambda row: row.row.raw,
    empty="Nothing was used in the last 30 completed days.",
    scoped=True,
    default_sort=("day", False),
)
