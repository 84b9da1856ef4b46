"""Two lists: the credits (a single row), and the top spenders among keys and workspaces.

See "Credits" in the contract. Amounts are USD. The dashboard shows both on one screen.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import Literal

from gwtui.contract.keys import ApiKey
from gwtui.contract.usage import Credits
from gwtui.crud import cells
from gwtui.crud.cells import count_column, share_column, text_column, usd_column
from gwtui.crud.resource import Cell, Column, Completion, DetailRow, ResourceSpec, Section, Tone
from gwtui.crud.schema_drift import drift_sections
from gwtui.domain import money, times
from gwtui.domain.cell_values import SortValue
from gwtui.domain.keys import key_state
from gwtui.domain.runway import WINDOWS as RATE_WINDOWS
from gwtui.domain.runway import Rate, Runway
from gwtui.watch.feed import FeedState
from gwtui.watch.feeds.credits import CreditsRow, OutlookData, credits_rows_feed, outlook_data_feed
from gwtui.watch.feeds.keys import KeyRow

Line = tuple[Cell, ...]
"""A line of text, as adjacent cells."""

_LOW = Decimal("0.9")
_LABEL = 11
_LEFT_BAR = 20
_WHOLE = 0.95
"""A window counts as complete if at least this share of it was recorded."""
_SOON, _THIS_WEEK = timedelta(days=2), timedelta(days=7)

_NAMES = {
    timedelta(hours=1): "1 h",
    timedelta(hours=24): "24 h",
    timedelta(days=7): "7 d",
}


def balance_text(credits: Credits) -> str:
    """Return the balance as an amount in USD."""
    return money.usd(credits.balance)


def balance_tone(credits: Credits) -> Tone:
    """Return the tone of the balance: bad if used up, warn from 90% used."""
    if credits.balance is None:
        return "muted"
    if credits.balance <= 0:
        return "bad"
    share = credits.used_share
    return "warn" if share is not None and share >= _LOW else "plain"


def balance_lines(credits: Credits) -> Sequence[Line]:
    """Return the balance, the purchased and the used credits as lines of text."""
    return (
        _line(
            "Balance",
            _left(credits),
            Cell(" of ", "muted"),
            cells.usd(credits.total_credits),
            Cell(" purchased", "muted"),
        ),
        _line("Used", cells.usd(credits.total_usage), Cell("  "), _share(credits)),
    )


def _left(credits: Credits) -> Cell:
    balance = credits.balance
    if balance is None:
        return Cell("unknown: the gateway did not report credits bought or used", "warn")
    if balance < 0:
        return Cell(f"overdrawn by {money.usd(-balance)}", "bad")
    return Cell(f"{money.usd(balance)} left", balance_tone(credits))


def _share(credits: Credits) -> Cell:
    share = credits.used_share
    if share is None:
        return cells.NOTHING
    tone: Tone = "accent" if balance_tone(credits) == "plain" else balance_tone(credits)
    return Cell(f"{cells.bar(share, _LEFT_BAR)} {money.percent(share)}", tone)


def burn_lines(row: CreditsRow, now: datetime, *, brief: bool = False) -> Sequence[Line]:
    """Return today's rate, the recorded rates and the runway; ``brief`` as in ``burn_cells``."""
    rates = () if row.past is None else row.past.rates
    return (
        _line("Burn", *_today_cells(row.today)),
        _line("", *burn_cells(rates, brief=brief)),
        _line("Runway", *runway_cells(row.credits, row.runway, now)),
    )


def _today_cells(today: Rate | None) -> Line:
    if today is None:
        return cells.NOTHING, Cell("  the day is too young", "muted")
    source = "  from key usage since 00:00 UTC"
    return Cell(f"{money.usd(today.usd_per_hour)}/h"), Cell(source, "muted")


def _line(label: str, *parts: Cell) -> Line:
    return (Cell(f"{label:<{_LABEL}}", "muted"), *parts)


def left_cells(state: FeedState[Credits], now: datetime, *, past: bool = False) -> Line:
    """Return the balance, now or at a past moment, with its age if it is stale."""
    credits = state.value
    if credits is None:
        if past:
            return (Cell("not recorded", "muted"),)
        return (Cell("not read yet" if state.error is None else "cannot be read", "warn"),)
    words = Cell("unknown", "warn") if credits.balance is None else _left(credits)
    if state.is_old(now):
        return words, Cell(f"  {times.age(state.age(now))} old", "warn")
    return (words,)


def burn_cells(rates: Sequence[Rate | None], *, brief: bool = False) -> Line:
    """Return the rate of each window, per hour.

    ``brief`` omits windows that were not recorded completely, except the first.
    """
    parts: list[Cell] = []
    for window, rate in zip(RATE_WINDOWS, rates, strict=False):
        is_whole = rate is not None and rate.share >= _WHOLE
        if brief and parts and not is_whole:
            continue
        parts.append(Cell(f"{'   ' if parts else ''}{_NAMES[window]} ", "muted"))
        parts.append(cells.NOTHING if rate is None else Cell(f"{money.usd(rate.usd_per_hour)}/h"))
        if rate is not None and not is_whole and not brief:
            observed = times.age(rate.over.total_seconds())
            parts.append(Cell(f" (only {observed})", "muted"))
    return tuple(parts) or (Cell("no recorded history yet", "muted"),)


def runway_cells(credits: Credits | None, runway: Runway | None, now: datetime) -> Line:
    """Return when the balance will run out, and the burn rate that the estimate assumes."""
    balance = None if credits is None else credits.balance
    if balance is not None and balance <= 0:
        return (Cell("none: buy credits to send paid requests", "bad"),)
    if runway is None:
        return (Cell("unknown: too little usage recorded", "muted"),)
    name = "today's" if runway.window is None else f"the {_NAMES[runway.window]}"
    basis = Cell(f" at {name} rate", "muted")
    if runway.is_endless:
        return Cell("more than 10 years", "good"), basis
    end = runway.end(now)
    until = f"{times.relative(end, now).removeprefix('in ')}, until {_day(end, now)}"
    return Cell(until, _tone(end, now)), basis


def _day(moment: datetime, now: datetime) -> str:
    shown = moment.astimezone(UTC)
    return f"{shown:%m-%d %H:%M} UTC" if moment - now < _SOON else f"{shown:%Y-%m-%d}"


def _tone(moment: datetime, now: datetime) -> Tone:
    if moment - now < _SOON:
        return "bad"
    return "warn" if moment - now < _THIS_WEEK else "plain"


Window = Literal["today", "week", "month"]
WINDOWS: tuple[Window, ...] = ("today", "week", "month")
WINDOW_WORDS = {"today": "today", "week": "this week", "month": "this month"}
_BAR = 10

_FIGURES: dict[Window, Callable[[ApiKey], Decimal | None]] = {
    "today": lambda key: key.usage_daily,
    "week": lambda key: key.usage_weekly,
    "month": lambda key: key.usage_monthly,
}


def _complete(row: CreditsRow, data: OutlookData) -> CreditsRow:
    today, past = data
    return replace(row, today=today, past=past)


def _burn_cell(row: CreditsRow, _now: datetime) -> Cell:
    rate = row.today
    return cells.NOTHING if rate is None else cells.cents(rate.usd_per_hour)


def _burn(row: CreditsRow, _now: datetime) -> SortValue:
    rate = row.today
    return None if rate is None else rate.usd_per_hour


def _days(row: CreditsRow, _now: datetime) -> Decimal | None:
    runway = row.runway
    return None if runway is None else runway.days.quantize(Decimal("0.1"))


def _days_cell(row: CreditsRow, now: datetime) -> Cell:
    runway = row.runway
    if runway is None:
        return cells.NOTHING
    return Cell("more than 10 years" if runway.is_endless else f"{_days(row, now):,f}")


COLUMNS: tuple[Column[CreditsRow], ...] = (
    usd_column("balance", "Balance", lambda row: row.credits.balance, 12, "remaining credits, USD"),
    usd_column(
        "purchased",
        "Purchased",
        lambda row: row.credits.total_credits,
        12,
        "credits bought so far, USD",
    ),
    usd_column("used", "Used", lambda row: row.credits.total_usage, 12, "credits used so far, USD"),
    share_column(
        "share",
        "Used %",
        lambda row: row.credits.used_share,
        7,
        "share of the purchased credits that is used, in percent",
    ),
    Column(
        "burn",
        "USD/h",
        _burn_cell,
        _burn,
        9,
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
        right=True,
        help="days that the balance lasts at the recorded rate, else at today's rate",
        kind="number",
    ),
)


def _credits_rows(row: CreditsRow, now: datetime) -> Sequence[DetailRow]:
    lines = (*balance_lines(row.credits), *burn_lines(row, now))
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
        outlook_data_feed,
        _complete,
        columns=frozenset({"burn", "runway_days"}),
    ),
)


@dataclass(frozen=True, slots=True)
class Spender:
    """A key or workspace and its spending in a window.

    ``share`` is its part of the spending of all keys, 0..1; ``largest`` is the highest share of the
    ranking.
    """

    identity: str
    name: str | None
    amount: Decimal | None
    share: Decimal | None
    key: KeyRow | None = None
    keys: int = 1
    """The number of keys that the amount includes."""
    largest: Decimal | None = None


@dataclass(frozen=True, slots=True)
class Spending:
    """Spending of all keys over one window. ``unknown`` is the number of keys without a figure."""

    window: Window
    total: Decimal
    keys: tuple[Spender, ...]
    workspaces: tuple[Spender, ...]
    unknown: int


def spending(rows: Iterable[KeyRow], window: Window) -> Spending:
    """Rank keys and workspaces by spending, the highest first; unknown amounts come last."""
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
    ordered = sorted(
        spenders,
        key=lambda row: (row.amount is None, -(row.amount or 0), (row.name or "").casefold()),
    )
    return tuple(replace(spender, largest=ordered[0].share) for spender in ordered)


def share_cell(spender: Spender) -> Cell:
    """A spender's share as a bar and a percentage."""
    return cells.ranked_share(spender.share, spender.largest, _BAR)


def _state(spender: Spender, now: datetime) -> Cell:
    if spender.key is None:
        return cells.NOTHING
    state = key_state(spender.key.key, now)
    return Cell(state.word, state.tone)


_AMOUNT: Column[Spender] = usd_column(
    "amount", "Spent", lambda row: row.amount, 11, "spending in the chosen window, USD"
)

_SHARE: Column[Spender] = Column(
    "share",
    "Share of total",
    lambda row, _now: share_cell(row),
    lambda row, _now: cells.in_percent(row.share),
    18,
    help="share of what all keys used in the window",
    kind="number",
)

KEY_COLUMNS: tuple[Column[Spender], ...] = (
    text_column("name", "Key", lambda row: row.name, 20, help="name of the key", grow=True),
    _AMOUNT,
    _SHARE,
    text_column(
        "workspace",
        "Workspace",
        lambda row: None if row.key is None else row.key.workspace_name,
        16,
        help="workspace that the key belongs to",
        most=32,
    ),
    Column("state", "State", _state, lambda row, now: _state(row, now).text, 13, help="key state"),
)

WORKSPACE_COLUMNS: tuple[Column[Spender], ...] = (
    text_column("name", "Workspace", lambda row: row.name, 14, help="workspace", grow=True),
    _AMOUNT,
    _SHARE,
    count_column("keys", "Keys", lambda row: row.keys, 5, "keys in the workspace"),
)
