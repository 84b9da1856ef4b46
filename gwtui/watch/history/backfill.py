"""Filling in what was not recorded, from a gateway that can tell of it: the demo's.

The figures are those that the recorder would have written, more thinly the older they are
(``thinning``). What is recorded already stays, and a file that lacks less than an hour is left
alone. Facts, and how they changed, are told where the recording begins now; later on the next
reading tells them.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from decimal import Decimal
from typing import Any, Self

from gwtui.domain.past import Past
from gwtui.watch.feeds.credits import credits_feed
from gwtui.watch.feeds.endpoints import EndpointRow, endpoints_feed
from gwtui.watch.feeds.guardrails import guardrails_feed
from gwtui.watch.feeds.keys import keys_feed
from gwtui.watch.feeds.workspaces import figures_feed
from gwtui.watch.history import facts
from gwtui.watch.history import model as figures
from gwtui.watch.history.account_past import AccountPast, PastFact
from gwtui.watch.history.archive import Archive
from gwtui.watch.history.file import transaction
from gwtui.watch.history.model import seconds_of
from gwtui.watch.history.observations import ObservedReading, endpoints_seen
from gwtui.watch.history.sources import DEFAULT_PACES, most_used_feed
from gwtui.watch.history.thinning import Gap, SeriesColumn, open_tiers, write_columns
from gwtui.watch.history.tiers import HOUR, floor
from gwtui.watch.history.upkeep import step
from gwtui.watch.history.watched import set_defaults, watched_models
from gwtui.watch.history.writer import HistoryWriter
from gwtui.watch.hub import FeedHub, Scope

SPAN = timedelta(days=7)
"""How far back is filled in."""


@dataclass(frozen=True, slots=True)
class Backfill:
    """What is filled in of one history: the account before the recorder starts, then endpoints."""

    hub: FeedHub
    archive: Archive
    past: Past
    gap: Gap
    first: bool
    """Whether nothing was recorded before."""
    has_account: bool = False
    """Whether an earlier run filled in the account, and ended before the endpoints."""

    @classmethod
    async def begin(cls, hub: FeedHub, archive: Archive, past: Past) -> Self | None:
        """Find what is missing; None where that is nothing. Raises HistoryError."""
        until = seconds_of(past.until)
        begun = await archive.change(_begun)
        if begun is not None and until - begun.until < HOUR:
            return cls(hub, archive, past, begun, first=False, has_account=True)
        recorded = await archive.read(lambda history: history.span())
        since = floor(until - int(SPAN.total_seconds()), HOUR)
        if begun is not None:  # its endpoints were never filled in; what there is stays
            since = max(since, begun.since)
        elif recorded is not None:
            since = max(since, floor(seconds_of(recorded[1]), HOUR) + HOUR)
        if until - since < HOUR:
            return None
        return cls(hub, archive, past, Gap(since, until), recorded is None)

    async def fill_account(self) -> bool:
        """Fill in credits, keys and workspaces, and what changed. Raises HistoryError.

        False where the account cannot be read now: then nothing is filled in, endpoints neither.
        """
        if self.has_account:
            return True
        hub, scope = self.hub, Scope()
        credits = (await credits_feed(hub, scope).refresh()).value
        keys = (await keys_feed(hub, scope).refresh()).value
        workspaces = (await figures_feed(hub, scope).refresh()).value
        guardrails = (await guardrails_feed(hub, scope).refresh()).value
        models = (await most_used_feed(hub).refresh()).value or ()
        if credits is None or keys is None or workspaces is None or guardrails is None:
            return False
        account = AccountPast(self.past, self.gap, credits, keys, workspaces, guardrails)
        endpoints = {model: await self._endpoints(model) for model in models if self.first}

        def work(writer: HistoryWriter) -> None:
            while step(writer, self.past.until):
                pass
            write_columns(writer, self.gap, account.columns())
            with transaction(writer.connection):
                writer.fenced()
                open_tiers(writer.connection, self.gap)
                _begin(writer.connection, self.gap)
                if self.first:
                    told = [*account.facts(), *self._first_facts(endpoints)]
                    told.sort(key=lambda fact: fact.seen.at)
                    _tell(writer.connection, told, self.gap)
            if self.first:
                set_defaults(writer.connection, models, self.past.until)

        await self.archive.write(work)
        return True

    async def fill_endpoints(self, filled: Callable[[], None]) -> None:
        """Fill in the endpoints of the watched models one after the other, and say so of each.

        Raises HistoryError.
        """
        for model in await self.archive.change(watched_models):
            rows = await self._endpoints(model)

            def work(
                writer: HistoryWriter, model: str = model, rows: Sequence[EndpointRow] = rows
            ) -> None:
                write_columns(writer, self.gap, self._columns(model, rows))

            await self.archive.write(work)
            filled()
        await self.archive.change(_end)

    async def _endpoints(self, model: str) -> Sequence[EndpointRow]:
        feed = endpoints_feed(self.hub, Scope(parent=model))
        value = feed.state.value
        return (value if value is not None else (await feed.refresh()).value) or ()

    def _first_facts(self, endpoints: Mapping[str, Sequence[EndpointRow]]) -> Iterator[PastFact]:
        seen = ObservedReading(self.gap.moments[0], DEFAULT_PACES.endpoints)
        for model, rows in endpoints.items():
            yield PastFact(endpoints_seen(model, rows, seen), None)

    def _columns(self, model: str, rows: Sequence[EndpointRow]) -> Iterator[SeriesColumn]:
        """The figures of a model's endpoints; its prices are what they are now."""
        seen = ObservedReading(self.gap.moments[-1], DEFAULT_PACES.endpoints)
        for row in rows:
            told = self.past.figures(model, row.endpoint.tag or "", self.gap.moments)
            if told is None:
                continue
            for sample in endpoints_seen(model, [row], seen).samples:
                figure = sample.series.key.figure
                if figure in _MOVING:
                    yield SeriesColumn(sample.series, [_figure(each, figure) for each in told])
                else:
                    yield SeriesColumn(sample.series, [sample.value], constant=True)


_MOVING = {
    **{name: (name, None) for name in figures.UPTIMES},
    **{
        f"{what}_{which}": (f"{what}_last_30m", which)
        for what in ("latency", "throughput")
        for which in figures.PERCENTILES
    },
}
"""Figures that change by themselves: the field they are in, and which percentile of it."""


def _figure(told: Mapping[str, Any], figure: str) -> Decimal | None:
    field, percentile = _MOVING[figure]
    value = told[field]
    if value is not None and percentile is not None:
        value = value[percentile]
    return None if value is None else Decimal(str(value))


def _tell(connection: sqlite3.Connection, told: Sequence[PastFact], gap: Gap) -> None:
    """Inside a transaction: the versions and changes, and that it was read all the time."""
    for seen, covered in told:
        before = None if covered is None else seconds_of(covered)
        facts.record(connection, seen, seconds_of(seen.at), before)
    for source in {seen.source for seen, _covered in told}:
        connection.execute(
            "INSERT OR REPLACE INTO coverage VALUES (?, ?, ?)", (source, gap.since, gap.until)
        )
    connection.execute("INSERT OR REPLACE INTO settings VALUES ('newest', ?)", (str(gap.until),))


_BEGUN = "backfill"
"""The setting that holds the gap while its endpoints are not all filled in."""


def _begun(connection: sqlite3.Connection) -> Gap | None:
    found = connection.execute("SELECT value FROM settings WHERE name = ?", (_BEGUN,)).fetchone()
    return None if found is None else Gap(*map(int, found[0].split()))


def _begin(connection: sqlite3.Connection, gap: Gap) -> None:
    told = (_BEGUN, f"{gap.since} {gap.until}")
    connection.execute("INSERT OR REPLACE INTO settings VALUES (?, ?)", told)


def _end(connection: sqlite3.Connection) -> None:
    connection.execute("DELETE FROM settings WHERE name = ?", (_BEGUN,))
