"""Credits as a list of one, for commands, and keys and workspaces ranked by what they used.

Contract "Credits". Amounts are USD. The dashboard has a screen of its own for both.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from decimal import Decimal
from typing import Literal

from gwtui.contract.keys import ApiKey
from gwtui.crud import cells
from gwtui.crud.columns import figure_column, text_column, usd_column
from gwtui.crud.resource import Cell, Column, Completion, DetailRow, ResourceSpec, Section
from gwtui.crud.schema_drift import drift_sections
from gwtui.domain.cell_values import SortValue
from gwtui.domain.keys import key_state
from gwtui.resources.credits import balance
from gwtui.watch.feeds.credits import Around, CreditsRow, around_feed, credits_rows_feed
from gwtui.watch.feeds.keys import KeyRow

_DAY = timedelta(days=1)
Window = Literal["today", "week", "month"]
WINDOWS: tuple[Window, ...] = ("today", "week", "month")
WINDOW_WORDS = {"today": "today", "week": "this week", "month": "this month"}
_BAR = 10

_FIGURES: dict[Window, Callable[[ApiKey], Decimal | None]] = {
    "today": lambda key: key.usage_daily,
    "week": lambda key: key.usage_weekly,
    "month": lambda key: key.usage_monthly,
}


def _complete(row: CreditsRow, around: Around) -> CreditsRow:
    used, past = around
    return replace(row, used_today=used, past=past)


def _burn_cell(row: CreditsRow, now: datetime) -> Cell:
    rate = row.rate(now)
    return cells.NOTHING if rate is None else cells.cents(rate.usd_per_hour)


def _burn(row: CreditsRow, now: datetime) -> SortValue:
    rate = row.rate(now)
    return None if rate is None else rate.usd_per_hour


def _days(row: CreditsRow, now: datetime) -> Decimal | None:
    """Whole and part days that are left; None when that is not known, or very far away."""
    found = row.outlook(now)
    if found is None or found.likely is None:
        return None
    return Decimal((found.likely - now) / _DAY).quantize(Decimal("0.1"))


def _days_cell(row: CreditsRow, now: datetime) -> Cell:
    found, days = row.outlook(now), _days(row, now)
    if days is None:
        return cells.NOTHING if found is None else Cell("more than 10 years")
    return Cell(f"{days:,f}")


COLUMNS: tuple[Column[CreditsRow], ...] = (
    usd_column("balance", "Balance", lambda row: row.credits.balance, 12, 0, "what is left, USD"),
    usd_column(
        "purchased",
        "Purchased",
        lambda row: row.credits.total_credits,
        12,
        1,
        "what was bought in all, USD",
    ),
    usd_column(
        "used", "Used", lambda row: row.credits.total_usage, 12, 2, "what was used in all, USD"
    ),
    figure_column(
        "share",
        "Used %",
        lambda row: cells.in_percent(row.credits.used_share),
        7,
        3,
        show=lambda row: cells.share(row.credits.used_share),
        help="share of what was bought that is used, in percent",
    ),
    Column(
        "burn",
        "USD/h",
        _burn_cell,
        _burn,
        9,
        4,
        right=True,
        help="use per hour, by what the keys used since 00:00 UTC",
        kind="number",
    ),
    Column(
        "runway_days",
        "Runway days",
        _days_cell,
        _days,
        12,
        5,
        right=True,
        help="days that the balance lasts, by what is recorded, else by today's use",
        kind="number",
    ),
)


def _credits_rows(row: CreditsRow, now: datetime) -> Sequence[DetailRow]:
    lines = (*balance.balance_lines(row.credits), *balance.burn_lines(row, now))
    return [
        DetailRow(head.text.strip(), Cell("".join(part.text for part in rest)))
        for head, *rest in lines
    ]


CREDITS: ResourceSpec[CreditsRow] = ResourceSpec(
    id="credits",
    title="Credits",
    singular="balance",
    identity=lambda _row: "credits",
    has_id=False,
    name=lambda _row: "Credits",
    columns=COLUMNS,
    sections=(Section("Standing", _credits_rows), *drift_sections(lambda row: row.credits)),
    feed=credits_rows_feed,
    raw=lambda row: row.credits.raw,
    empty="The gateway did not give a balance.",
    default_sort=("balance", False),
    completion=Completion(
        around_feed,
        _complete,
        columns=frozenset({"burn", "runway_days"}),
    ),
)


@dataclass(frozen=True, slots=True)
class Spender:
    """A key or a workspace and what it used in a window.

    ``share`` is of all keys, 0..1; ``largest`` is the highest share of the ranking.
    """

    identity: str
    name: str | None
    amount: Decimal | None
    share: Decimal | None
    key: KeyRow | None = None
    keys: int = 1
    """How many keys are counted in."""
    largest: Decimal | None = None


@dataclass(frozen=True, slots=True)
class Spending:
    """All keys of the account over one window. ``unknown`` keys did not say what they used."""

    window: Window
    total: Decimal
    keys: tuple[Spender, ...]
    workspaces: tuple[Spender, ...]
    unknown: int


def spending(rows: Iterable[KeyRow], window: Window) -> Spending:
    """Rank by usage, the biggest first; what is unknown comes last."""
    rows = tuple(rows)
    figure = _FIGURES[window]
    amounts = {row.identity: figure(row.key) for row in rows}
    total = sum((amount for amount in amounts.values() if amount is not None), Decimal(0))
    by_workspace: dict[str, list[KeyRow]] = defaultdict(list)
    for row in rows:
        by_workspace[row.key.workspace_id or ""].append(row)
    keys = (
        Spender(
            row.identity,
            row.key.name or row.key.label,
            amounts[row.identity],
            _share_of(amounts[row.identity], total),
            row,
        )
        for row in rows
    )
    workspaces = (
        _workspace(identity, members, [amounts[row.identity] for row in members], total)
        for identity, members in by_workspace.items()
    )
    return Spending(
        window,
        total,
        _ranked(keys),
        _ranked(workspaces),
        sum(amount is None for amount in amounts.values()),
    )


def _workspace(
    identity: str, members: Sequence[KeyRow], amounts: Sequence[Decimal | None], total: Decimal
) -> Spender:
    known = [amount for amount in amounts if amount is not None]
    amount = sum(known, Decimal(0)) if known else None
    name = members[0].workspace_name
    return Spender(identity, name, amount, _share_of(amount, total), keys=len(members))


def _share_of(amount: Decimal | None, total: Decimal) -> Decimal | None:
    return None if amount is None or total <= 0 else amount / total


def _ranked(spenders: Iterable[Spender]) -> tuple[Spender, ...]:
    found = sorted(
        spenders,
        key=lambda one: (one.amount is None, -(one.amount or 0), (one.name or "").casefold()),
    )
    return tuple(replace(one, largest=found[0].share) for one in found)


def share_cell(spender: Spender) -> Cell:
    """The share as a bar and a percentage."""
    return cells.ranked_share(spender.share, spender.largest, _BAR)


def _state(spender: Spender, now: datetime) -> Cell:
    if spender.key is None:
        return cells.NOTHING
    state = key_state(spender.key.key, now)
    return Cell(state.word, state.tone)


_AMOUNT: Column[Spender] = usd_column(
    "amount", "Used", lambda one: one.amount, 11, 1, "usage in the chosen window, USD"
)

_SHARE: Column[Spender] = Column(
    "share",
    "Share of all keys",
    lambda one, _now: share_cell(one),
    lambda one, _now: cells.in_percent(one.share),
    18,
    2,
    help="share of what all keys used in the window",
    kind="number",
)

KEY_COLUMNS: tuple[Column[Spender], ...] = (
    text_column("name", "Key", lambda one: one.name, 20, 0, help="name of the key"),
    _AMOUNT,
    _SHARE,
    text_column(
        "workspace",
        "Workspace",
        lambda one: None if one.key is None else one.key.workspace_name,
        16,
        3,
        help="workspace that the key belongs to",
        most=32,
    ),
    Column(
        "state", "State", _state, lambda one, now: _state(one, now).text, 13, 4, help="key state"
    ),
)

WORKSPACE_COLUMNS: tuple[Column[Spender], ...] = (
    text_column("name", "Workspace", lambda one: one.name, 14, 0, help="workspace"),
    _AMOUNT,
    _SHARE,
    Column(
        "keys",
        "Keys",
        lambda one, _now: cells.count(one.keys),
        lambda one, _now: one.keys,
        5,
        3,
        right=True,
        help="keys in the workspace",
        kind="number",
    ),
)
