"""Activity of the last completed days, ranked by what did it: extended contract section 8."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from typing import TYPE_CHECKING

from gwtui.client.errors import GatewayError, NotFoundError
from gwtui.contract.activity import ActivityRow
from gwtui.crud import cells
from gwtui.crud.columns import count_column, figure_column, text_column, usd_column
from gwtui.crud.resource import Cell, Column, Scope
from gwtui.domain import activity, money
from gwtui.domain.activity import ActivitySummary, Grouping, Measure
from gwtui.domain.safe_text import safe_line
from gwtui.watch import cadence
from gwtui.watch.feed import Feed
from gwtui.watch.feeds.fetching import fetch_each
from gwtui.watch.feeds.keys import KeyRow, fetch_keys
from gwtui.watch.hub import FeedHub

if TYPE_CHECKING:
    from gwtui.client.gateway import GatewayClient

MEASURE_WORDS: Mapping[Measure, str] = {
    "spend": "spend",
    "byok": "BYOK cost",
    "requests": "requests",
    "tokens": "tokens",
}
MOST_KEYS = 100
"""Keys that are read one by one; the gateway does not tell keys apart in one answer."""
OTHERS = "\0others"
"""Identity of what no listed key did."""
_NAME = 80
_BAR = 8


@dataclass(frozen=True, slots=True)
class Activity:
    """Everything that was done, told apart by workspace, and what the workspaces are called."""

    rows: tuple[ActivityRow, ...]
    workspaces: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class KeyActivity:
    """What single keys did: rows and names by hash; ``left_out`` used keys were not read."""

    rows: Mapping[str, tuple[ActivityRow, ...]]
    names: Mapping[str, str]
    left_out: int = 0


@dataclass(frozen=True, slots=True)
class Ranked:
    """A model, provider, workspace or key, and its share (0..1) of the measure."""

    identity: str
    name: str
    tally: ActivitySummary
    share: Decimal | None
    rows: tuple[ActivityRow, ...] = field(default=(), compare=False, repr=False)


async def fetch_activity(
    client: GatewayClient, workspace: str | None, key_hash: str | None, user: str | None = None
) -> Activity:
    """The last 30 completed days of the account, a workspace, a key, or the keys of a user.

    Raises GatewayError.
    """
    found = await client.activity.list(
        workspace_id=workspace, api_key_hash=key_hash, user_id=user, by_workspace=True
    )
    try:
        spaces = (await client.workspaces.list()).items
    except GatewayError:
        spaces = ()  # their ids will do
    names = {
        space.id: safe_line(space.name or space.slug or space.id, _NAME)
        for space in spaces
        if space.id
    }
    return Activity(found.items, names)


def activity_feed(hub: FeedHub, scope: Scope) -> Feed[Activity]:
    """The activity of a scope; ``parent`` narrows it to one key by its hash."""
    workspace, key = scope.workspace, scope.parent
    if key is not None:
        workspace = None  # a key is in one workspace only
    name = ":".join(["activity", workspace or "", *([key] if key else [])])
    return hub.feed(
        name,
        lambda client: fetch_activity(client, workspace, key),
        cadence.ACTIVITY,
        passing=True,
    )


def user_activity_feed(hub: FeedHub, user: str) -> Feed[Activity]:
    """What the keys did that one person made, in every workspace."""
    return hub.feed(
        f"activity:user:{user}",
        lambda client: fetch_activity(client, None, None, user),
        cadence.ACTIVITY,
        passing=True,
    )


async def fetch_key_activity(client: GatewayClient, workspace: str | None) -> KeyActivity:
    """What each key did that was ever used, the busiest first. Raises GatewayError."""
    listed = [row for row in await fetch_keys(client, workspace) if row.key.hash]
    used = [row for row in listed if row.key.usage != 0 or row.key.byok_usage != 0]
    used.sort(key=_this_month, reverse=True)
    hashes = [row.key.hash or "" for row in used[:MOST_KEYS]]

    async def of_key(key_hash: str) -> tuple[ActivityRow, ...]:
        try:
            return (await client.activity.list(api_key_hash=key_hash)).items
        except NotFoundError:
            return ()  # deleted since the keys were listed

    found = await fetch_each(hashes, of_key)
    return KeyActivity(
        dict(zip(hashes, found, strict=True)),
        {
            row.key.hash or "": cells.text(row.key.name or row.key.label or row.key.hash).text
            for row in used
        },
        len(used) - len(hashes),
    )


def _this_month(row: KeyRow) -> Decimal:
    """What a key cost since the first, own provider keys included: USD."""
    return (row.key.usage_monthly or Decimal(0)) + (row.key.byok_usage_monthly or Decimal(0))


def key_activity_feed(hub: FeedHub, scope: Scope) -> Feed[KeyActivity]:
    """What single keys did; it takes a request per key, so it is read only when looked at."""
    workspace = scope.workspace
    return hub.feed(
        f"activity-keys:{workspace or ''}",
        lambda client: fetch_key_activity(client, workspace),
        cadence.ACTIVITY,
        passing=True,
    )


def ranking(
    found: Activity, rows: Sequence[ActivityRow], grouping: Grouping, measure: Measure
) -> tuple[Ranked, ...]:
    """The models, providers or workspaces of ``rows``, the biggest first."""
    groups = activity.grouped(
        rows,
        {
            "model": lambda row: row.model or row.model_permaslug,
            "provider": lambda row: row.provider_name,
            "workspace": lambda row: row.workspace_id,
        }[grouping],
    )
    names = found.workspaces if grouping == "workspace" else {}
    whole = activity.tally(rows).measure(measure)
    return _by_size(
        [
            _ranked(
                identity,
                names.get(identity) or safe_line(identity, _NAME) or "not said",
                activity.tally(members),
                whole,
                measure,
                members,
            )
            for identity, members in groups.items()
        ],
        measure,
    )


def key_ranking(
    keys: KeyActivity, rows: Sequence[ActivityRow], measure: Measure
) -> tuple[Ranked, ...]:
    """The keys, and what no listed key did: deleted keys and those that were left out."""
    whole = activity.tally(rows)
    in_all = whole.measure(measure)
    days = {activity.day_of(row) for row in rows}
    found = []
    for identity, done in keys.rows.items():
        members = tuple(row for row in done if activity.day_of(row) in days)
        if members:
            name = keys.names.get(identity, identity)
            found.append(_ranked(identity, name, activity.tally(members), in_all, measure, members))
    others = activity.rest(whole, [one.tally for one in found])
    if others.requests or others.spend or others.byok:
        name = "deleted keys"
        if keys.left_out:
            name += f" and {keys.left_out} that were not read"
        found.append(_ranked(OTHERS, name, others, in_all, measure, ()))
    return _by_size(found, measure)


def _ranked(
    identity: str,
    name: str,
    tally: ActivitySummary,
    whole: Decimal | None,
    measure: Measure,
    rows: tuple[ActivityRow, ...],
) -> Ranked:
    amount = tally.measure(measure)
    share = None if amount is None or not whole else amount / whole
    return Ranked(identity, name, tally, share, rows)


def _by_size(found: Sequence[Ranked], measure: Measure) -> tuple[Ranked, ...]:
    def size(one: Ranked) -> tuple[bool, Decimal, str]:
        amount = one.tally.measure(measure)
        return amount is None, -(amount or Decimal(0)), one.name.casefold()

    return tuple(sorted(found, key=size))


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
    if one.share is None:
        return cells.NOTHING
    if one.share == 0:
        return Cell("")
    return Cell(f"{cells.bar(one.share, _BAR)} {money.percent(one.share)}", "accent")


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
