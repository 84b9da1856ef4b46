"""Activity of the last completed days (UTC), grouped and ranked.

See section 8 of the extended contract.

Activity is grouped by any of day, model, provider, workspace, key and user. One response of the
gateway has days, models, providers and workspaces. Keys and users need a request each; the user is
then the creator of the key. Activity of keys or users that are gone or were not read forms one more
group, ``OTHERS``. Amounts are USD. The dashboard ranks activity on its own screen; commands list
the rows of ``ACTIVITY_DAYS``.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from decimal import Decimal
from typing import Literal

from gwtui.contract.usage import ActivityRow
from gwtui.crud import cells
from gwtui.crud.cells import count_column, text_column, tokens_column, usd_column
from gwtui.crud.resource import Cell, Column, DetailRow, ResourceSpec, Section
from gwtui.crud.schema_drift import drift_sections
from gwtui.domain import activity, money
from gwtui.domain.activity import ActivitySummary, Grouping, Measure
from gwtui.domain.safe_text import safe_line
from gwtui.watch.feeds.activity import Activity, DayRow, GroupedActivity, days_feed

Part = Grouping | Literal["day"]
"""The dimensions to group by."""
PARTS: tuple[Part, ...] = ("day", *activity.GROUPINGS)
OTHERS = "\0others"
"""The identity of the group of keys or users that are gone or were not read."""
NOT_SAID = "not said"
_NAME = 80
_ASKED_FOR = frozenset({"key", "user"})
"""Dimensions that need a request for each key or user."""

MEASURE_LABELS: Mapping[Measure, str] = {
    "spend": "spend",
    "byok": "BYOK cost",
    "requests": "requests",
    "tokens": "tokens",
}
_SHARES: Mapping[Measure, str] = {
    "spend": "Spend share",
    "byok": "BYOK share",
    "requests": "Request share",
    "tokens": "Token share",
}

_BAR = 8


@dataclass(frozen=True, slots=True)
class UsageRow:
    """A row of activity; ``key`` and ``user`` are None if they were not requested."""

    row: ActivityRow
    key: str | None = None
    user: str | None = None

    def part(self, part: Part) -> str:
        """Return the row's value in a dimension, such as the id of its model; "" if unknown."""
        row = self.row
        match part:
            case "day":
                day = activity.day_of(row)
                identity = row.date if day is None else day.isoformat()
            case "model":
                identity = row.model or row.model_permaslug
            case "provider":
                identity = row.provider_name
            case "workspace":
                identity = row.workspace_id
            case "key":
                identity = self.key
            case "user":
                identity = self.user
        return identity or ""


@dataclass(frozen=True, slots=True)
class UsageRows:
    """Rows to group, with display names by dimension and identity.

    ``rest`` names the group ``OTHERS``; "" if the rows are not by key or user.
    """

    uses: tuple[UsageRow, ...]
    names: Mapping[Part, Mapping[str, str]] = field(default_factory=dict)
    rest: str = ""

    def name(self, part: Part, identity: str) -> str:
        """Return the display name of an identity."""
        if identity == OTHERS:
            return self.rest
        known = self.names.get(part, {}).get(identity)
        return known or safe_line(identity, _NAME) or NOT_SAID


def account_usage(whole: Activity) -> UsageRows:
    """Return the usage of the whole account; its rows name no key and no user."""
    return UsageRows(tuple(map(UsageRow, whole.rows)), {"workspace": whole.workspaces})


def key_usage(keys: GroupedActivity, whole: Activity) -> UsageRows:
    """Return the rows of each key, with its creator as the user."""
    uses = (
        UsageRow(row, key, keys.creators.get(key) or None)
        for key, rows in keys.rows.items()
        for row in rows
    )
    rest = "deleted keys"
    if keys.left_out:
        rest += f" and {keys.left_out} that were not read"
    names: dict[Part, Mapping[str, str]] = {
        "workspace": whole.workspaces,
        "key": keys.names,
        "user": keys.people,
    }
    return UsageRows(tuple(uses), names, rest)


def user_usage(users: GroupedActivity, whole: Activity) -> UsageRows:
    """Return the rows of each user, who created the keys; without key."""
    uses = (UsageRow(row, None, user) for user, rows in users.rows.items() for row in rows)
    rest = "keys of nobody here"
    if users.left_out:
        rest += f" and {users.left_out} people who were not read"
    return UsageRows(tuple(uses), {"workspace": whole.workspaces, "user": users.names}, rest)


def grouped(
    uses: UsageRows, whole: Sequence[ActivityRow], by: Sequence[Part]
) -> Mapping[tuple[str, ...], ActivitySummary]:
    """Sum the rows by the dimensions ``by``; each group is keyed by its identities, in this order.

    ``whole`` has the activity of the account; only its days count. If ``uses`` is by key or user,
    the activity that only ``whole`` has becomes the groups with the identity ``OTHERS``.
    """
    days = {activity.day_of(row) for row in whole}
    rows = _by_parts((use for use in uses.uses if activity.day_of(use.row) in days), by)
    groups = {parts: activity.summarize(group) for parts, group in rows.items()}
    if uses.rest:
        listed: dict[tuple[str, ...], list[ActivitySummary]] = defaultdict(list)
        for parts, summary in groups.items():
            listed[_rest_of(parts, by)].append(summary)
        for parts, group in _by_parts(map(UsageRow, whole), by).items():
            rest = _rest_of(parts, by)
            others = activity.remainder(activity.summarize(group), listed[rest])
            if others.requests or others.spend or others.byok:
                groups[rest] = others
    return groups


def _by_parts(
    uses: Iterable[UsageRow], by: Sequence[Part]
) -> Mapping[tuple[str, ...], list[ActivityRow]]:
    groups: dict[tuple[str, ...], list[ActivityRow]] = defaultdict(list)
    for use in uses:
        groups[tuple(use.part(part) for part in by)].append(use.row)
    return groups


def _rest_of(parts: Sequence[str], by: Sequence[Part]) -> tuple[str, ...]:
    pairs = zip(parts, by, strict=True)
    return tuple(OTHERS if part in _ASKED_FOR else identity for identity, part in pairs)


@dataclass(frozen=True, slots=True)
class RankedGroup:
    """A group and its share of the total (0..1), None if unknown or if the total is zero.

    ``largest`` is the highest share of all groups.
    """

    identity: str
    name: str
    summary: ActivitySummary
    share: Decimal | None
    largest: Decimal | None


def ranked(
    uses: UsageRows, rows: Sequence[ActivityRow], by: Grouping, measure: Measure
) -> tuple[RankedGroup, ...]:
    """Return the groups, unsorted, with their shares of ``measure``.

    ``rows`` has the activity of the account.
    """
    whole = activity.summarize(rows).measure(measure)
    groups = {parts[0]: summary for parts, summary in grouped(uses, rows, (by,)).items()}
    amounts = {identity: summary.measure(measure) for identity, summary in groups.items()}
    shares = {
        identity: None if amount is None or not whole else amount / whole
        for identity, amount in amounts.items()
    }
    largest = max((share for share in shares.values() if share is not None), default=None)
    return tuple(
        RankedGroup(identity, uses.name(by, identity), summary, shares[identity], largest)
        for identity, summary in groups.items()
    )


def measure_text(measure: Measure, amount: Decimal | None) -> str:
    """Return a short figure with its unit: "$12.50", "128k"; a dash for None."""
    if amount is None:
        return cells.DASH
    if measure in {"spend", "byok"}:
        return money.usd(amount, places=2 if amount < 1000 else 0)  # noqa: PLR2004
    return money.compact_int(amount)


def total_cells(summary: ActivitySummary) -> Sequence[Cell]:
    """Return the sums as labelled cells."""
    parts = [
        Cell(f"{money.usd(summary.spend)} spent", "accent"),
        Cell(f"{money.usd(summary.byok)} BYOK"),
        Cell(f"{money.compact_int(summary.requests)} requests"),
        Cell(f"tokens {money.compact_int(summary.prompt)} in"),
        Cell(f"{money.compact_int(summary.completion)} out"),
    ]
    if summary.unknown:
        noun = "row lacks" if summary.unknown == 1 else "rows lack"
        parts.insert(0, Cell(f"{summary.unknown} {noun} figures", "warn"))
    return parts


def share_cell(group: RankedGroup) -> Cell:
    """A group's share as a bar and a percentage."""
    return cells.ranked_share(group.share, group.largest, _BAR)


def _tokens(
    name: str, title: str, help: str, value: Callable[[ActivitySummary], int | None]
) -> Column[RankedGroup]:
    return tokens_column(name, title, lambda row: value(row.summary), 7, help)


COLUMNS: tuple[Column[RankedGroup], ...] = (
    text_column("name", "Name", lambda row: row.name, 26, help="what did it", grow=True),
    usd_column("spend", "Spend", lambda row: row.summary.spend, 10, "credits spent, USD"),
    Column(
        "share",
        "Share",
        lambda row, _now: share_cell(row),
        lambda row, _now: cells.in_percent(row.share),
        15,
        help="share of the chosen metric",
        kind="number",
    ),
    count_column("requests", "Requests", lambda row: row.summary.requests, 9, "requests"),
    _tokens("tokens", "Tokens", "prompt and completion tokens", lambda summary: summary.tokens),
    usd_column("byok", "BYOK", lambda row: row.summary.byok, 10, "BYOK cost, USD"),
    _tokens("prompt", "In", "prompt tokens", lambda summary: summary.prompt),
    _tokens("completion", "Out", "completion tokens", lambda summary: summary.completion),
    tokens_column(
        "reasoning", "Reasoning", lambda row: row.summary.reasoning, 9, "reasoning tokens"
    ),
    _tokens("cached", "Cached", "cached prompt tokens", lambda summary: summary.cached),
)


def columns(measure: Measure) -> tuple[Column[RankedGroup], ...]:
    """Return the columns of the ranking; the heading of the share names the measure."""
    return tuple(
        replace(column, title=_SHARES[measure]) if column.id == "share" else column
        for column in COLUMNS
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
        help="UTC day; filter such as day>=2026-11-01",
        export=lambda row, _now: row.row.date,
        kind="moment",
    ),
    text_column("model", "Model", lambda row: row.row.model, 28, help="model identifier"),
    usd_column("spend", "Spend", lambda row: row.row.usage, 10, "credits spent, USD"),
    _count("requests", "Requests", lambda row: row.requests, "requests"),
    text_column("provider", "Provider", lambda row: row.row.provider_name, 14, help="provider"),
    text_column("workspace", "Workspace", lambda row: row.workspace_name, 16, help="workspace"),
    usd_column("byok", "BYOK", lambda row: row.row.byok_usage_inference, 10, "BYOK cost, USD"),
    _count("prompt", "In", lambda row: row.prompt_tokens, "prompt tokens"),
    _count("completion", "Out", lambda row: row.completion_tokens, "completion tokens"),
    _count("reasoning", "Reasoning", lambda row: row.reasoning_tokens, "reasoning tokens"),
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
