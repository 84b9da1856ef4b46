"""Credits as a list of one, for commands; the dashboard has a screen of its own for them.

Contract "Credits". Amounts are USD.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from decimal import Decimal

from gwtui.crud import cells
from gwtui.crud.columns import figure_column, usd_column
from gwtui.crud.resource import Cell, Column, Completion, DetailRow, ResourceSpec, Section
from gwtui.crud.schema_gaps import honesty_sections
from gwtui.domain.cells import SortValue
from gwtui.resources.credits import balance
from gwtui.resources.credits.balance import burn_cells, runway_cells
from gwtui.watch.feeds.credits import Around, CreditsRow, around_feed, credits_rows_feed

_DAY = timedelta(days=1)


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
    past = row.past
    if past is None or past.outlook is None:
        rates = balance.burn_lines(row.credits, row.used_today, None, now)
    else:
        runway = runway_cells(row.credits, row.outlook(now), now)
        rates = balance.recorded_lines(burn_cells(past.burns), row.used_today, runway, now)
    lines = (*balance.balance_lines(row.credits), *rates)
    return [
        DetailRow(head.text.strip(), Cell("".join(part.text for part in rest)))
        for head, *rest in lines
    ]


CREDITS: ResourceSpec[CreditsRow] = ResourceSpec(
    id="credits",
    title="Credits",
    singular="balance",
    identity=lambda _row: "credits",
    name=lambda _row: "Credits",
    columns=COLUMNS,
    sections=(Section("Standing", _credits_rows), *honesty_sections(lambda row: row.credits)),
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
