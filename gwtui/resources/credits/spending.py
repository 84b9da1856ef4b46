"""What burns the credits: keys and workspaces ranked by usage. Amounts are USD."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from decimal import Decimal
from typing import Literal

from gwtui.contract.keys import ApiKey
from gwtui.crud import cells
from gwtui.crud.columns import text_column, usd_column
from gwtui.crud.resource import Cell, Column
from gwtui.domain.keys import key_state
from gwtui.watch.feeds.keys import KeyRow

Window = Literal["today", "week", "month"]
WINDOWS: tuple[Window, ...] = ("today", "week", "month")
WINDOW_WORDS = {"today": "today", "week": "this week", "month": "this month"}

_BAR = 10
_FIGURES: dict[Window, Callable[[ApiKey], Decimal | None]] = {
    "today": lambda key: key.usage_daily,
    "week": lambda key: key.usage_weekly,
    "month": lambda key: key.usage_monthly,
}


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
            _share(amounts[row.identity], total),
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
    return Spender(identity, name, amount, _share(amount, total), keys=len(members))


def _share(amount: Decimal | None, total: Decimal) -> Decimal | None:
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
