"""Credits as a list of one, for commands; the dashboard has a screen of its own for them.

Contract "Credits". Amounts are USD.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from decimal import Decimal
from typing import TYPE_CHECKING

from gwtui.contract.credits import Credits
from gwtui.domain import burn
from gwtui.domain.cells import SortValue
from gwtui.ui.resources import balance, cells
from gwtui.ui.resources.columns import figure_column, usd_column
from gwtui.ui.resources.gaps import honesty_sections
from gwtui.ui.resources.spec import Cell, Column, Completion, DetailRow, ResourceSpec, Section
from gwtui.ui.resources.spending import spending
from gwtui.watch import cadence
from gwtui.watch.feed import Feed
from gwtui.watch.feeds.credits import fetch_credits
from gwtui.watch.feeds.keys import KeyRow, keys_feed
from gwtui.watch.feeds.scope import Scope
from gwtui.watch.hub import FeedHub

if TYPE_CHECKING:
    from gwtui.client.gateway import GatewayClient

_DAY = timedelta(days=1)


@dataclass(frozen=True, slots=True)
class CreditsRow:
    """The account's credits; ``used_today`` by its keys since 00:00 UTC, None until read."""

    credits: Credits
    used_today: Decimal | None = None

    def rate(self, now: datetime) -> burn.Rate | None:
        """How fast they go by today's use of the keys."""
        return burn.since_midnight(self.used_today, now)

    def runway(self, now: datetime) -> burn.Runway | None:
        """How long they last at that rate."""
        return burn.runway(self.credits.balance, self.rate(now), now)


async def _fetch(client: GatewayClient) -> Sequence[CreditsRow]:
    return (CreditsRow(await fetch_credits(client)),)


def _feed(hub: FeedHub, _scope: Scope) -> Feed[Sequence[CreditsRow]]:
    return hub.feed("credits:list", _fetch, cadence.CREDITS)


def _complete(row: CreditsRow, keys: Sequence[KeyRow]) -> CreditsRow:
    return replace(row, used_today=spending(keys, "today").total)


def _burn_cell(row: CreditsRow, now: datetime) -> Cell:
    rate = row.rate(now)
    return cells.NOTHING if rate is None else cells.cents(rate.usd_per_hour)


def _burn(row: CreditsRow, now: datetime) -> SortValue:
    rate = row.rate(now)
    return None if rate is None else rate.usd_per_hour


def _days(row: CreditsRow, now: datetime) -> Decimal | None:
    """Whole and part days that are left; None when that is not known, or very far away."""
    found = row.runway(now)
    if found is None or found.left is None:
        return None
    return Decimal(found.left / _DAY).quantize(Decimal("0.1"))


def _days_cell(row: CreditsRow, now: datetime) -> Cell:
    found, days = row.runway(now), _days(row, now)
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
        help="days that the balance lasts at that rate",
        kind="number",
    ),
)


def _standing(row: CreditsRow, now: datetime) -> Sequence[DetailRow]:
    lines = (
        *balance.balance_lines(row.credits),
        *balance.burn_lines(row.credits, row.used_today, None, now),
    )
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
    sections=(Section("Standing", _standing), *honesty_sections(lambda row: row.credits)),
    feed=_feed,
    raw=lambda row: row.credits.raw,
    empty="The gateway did not give a balance.",
    default_sort=("balance", False),
    completion=Completion(
        lambda hub, _scope: keys_feed(hub, Scope()),
        _complete,
        columns=frozenset({"burn", "runway_days"}),
    ),
)
