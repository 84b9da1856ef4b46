"""Fills in what was not recorded, from a gateway that knows its own past: the demo's.

The figures are those that the recorder would have written, fewer the older they are
(``backfill_tiers``). What is recorded already stays, and a file that lacks less than an hour is
left alone. Facts and their changes are filled in only where nothing was recorded before; otherwise
the next reading finds them.
"""

from __future__ import annotations

import logging
import sqlite3
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from decimal import Decimal
from functools import cached_property
from operator import add
from pathlib import Path
from typing import Any, NamedTuple, Self

from gwtui.contract.budgets import BUDGET_INTERVALS
from gwtui.contract.usage import Credits
from gwtui.domain.history_source import HistorySource
from gwtui.domain.resets import window_start
from gwtui.local.alerts import FILE_NAME, RuleFile
from gwtui.watch.feeds.credits import credits_feed
from gwtui.watch.feeds.endpoints import EndpointRow, endpoints_feed
from gwtui.watch.feeds.guardrails import GuardrailRow, guardrails_feed
from gwtui.watch.feeds.keys import KeyRow, keys_feed
from gwtui.watch.feeds.workspaces import Figures, figures_feed
from gwtui.watch.history import model as figures
from gwtui.watch.history.archive import Archive
from gwtui.watch.history.backfill_tiers import MINUTE, Gap, SeriesColumn, open_tiers, write_columns
from gwtui.watch.history.compaction import step
from gwtui.watch.history.model import HistoryError, Observation, Sample, moment_of, seconds_of
from gwtui.watch.history.observers import (
    ObservedReading,
    observe_credits,
    observe_endpoints,
    observe_guardrails,
    observe_keys,
    observe_workspaces,
)
from gwtui.watch.history.sources import DEFAULT_PACES, Build, Sources, most_used_feed
from gwtui.watch.history.tiers import HOUR, floor
from gwtui.watch.history.watched_models import set_defaults, watched_models
from gwtui.watch.history.writer import HistoryWriter, record_facts
from gwtui.watch.hub import FeedHub, Scope

_log = logging.getLogger(__name__)

SPAN = timedelta(days=7)
"""How far back is filled in."""


class _Window(NamedTuple):
    """What a key used in the window of each moment, in USD."""

    usd: Sequence[Decimal]
    byok: Sequence[Decimal]

    def counted(self, *, byok: bool) -> Sequence[Decimal]:
        """What counts against a limit."""
        return [*map(add, self.usd, self.byok)] if byok else self.usd


_WorkspaceTotals = dict[tuple[str, str], Sequence[Decimal]]
"""Workspace and interval -> USD that its present keys used in the window of each moment."""


class PastFact(NamedTuple):
    """What a reading said, and when the one before it was made; None for the first."""

    seen: Observation
    covered: datetime | None


@dataclass(frozen=True)
class AccountPast:
    """The account's past figures and facts, made of what it is now and what the gateway knows."""

    past: HistorySource
    gap: Gap
    credits: Credits
    keys: Sequence[KeyRow]
    workspaces: Mapping[str, Figures]
    guardrails: Sequence[GuardrailRow]

    # Figures ----------------------------------------------------------------------------------

    def columns(self) -> Iterator[SeriesColumn]:
        """Every figure of the account over the gap; what one key used is forgotten with it."""
        yield from self._credits()
        nothing = [Decimal(0)] * len(self.gap.moments)
        totals: _WorkspaceTotals = {
            (identity, interval): nothing
            for identity in self.workspaces
            for interval in BUDGET_INTERVALS
        }
        for row in self.keys:
            spent = self._spent(row)
            if spent is not None:
                yield from self._key(row, spent)
                self._add(row, spent, totals)
        for sample in observe_workspaces(
            self.workspaces, self._now(DEFAULT_PACES.workspaces)
        ).samples:
            yield self._workspace(sample, totals)

    def _now(self, every: int) -> ObservedReading:
        return ObservedReading(self.gap.moments[-1], every)

    def _credits(self) -> Iterator[SeriesColumn]:
        told = dict(zip(self._asked, self.past.account(self._asked), strict=True))
        then = [told[moment] for moment in self.gap.moments]
        values: Mapping[str, list[Decimal | None]] = {
            figures.TOTAL_CREDITS: [each.total_credits for each in then],
            figures.TOTAL_USAGE: [each.total_usage for each in then],
            figures.BALANCE: [each.total_credits - each.total_usage for each in then],
        }
        for sample in observe_credits(self.credits, self._now(DEFAULT_PACES.credits)).samples:
            yield SeriesColumn(sample.series, values[sample.series.key.figure])

    def _key(self, row: KeyRow, spent: Mapping[str, _Window]) -> Iterator[SeriesColumn]:
        """One key, from when it was made."""
        key = row.key
        for sample in observe_keys([row], self._now(DEFAULT_PACES.keys)).samples:
            match sample.series.key.figure:
                case figures.USAGE:
                    values: Sequence[Decimal | None] = spent["lifetime"].usd
                case figures.USAGE_DAILY:
                    values = spent["daily"].usd
                case figures.BYOK_USAGE:
                    values = spent["lifetime"].byok
                case figures.LIMIT_REMAINING if key.limit is not None:
                    window = spent.get(key.limit_reset or "lifetime")
                    if window is None:
                        continue
                    counted = window.counted(byok=bool(key.include_byok_in_limit))
                    values = [key.limit - each for each in counted]
                case _:
                    values = [sample.value] * len(self.gap.moments)
            lived = self._of_life(row, values)
            if lived:
                yield SeriesColumn(sample.series, lived)

    def _of_life(self, row: KeyRow, values: Sequence[Decimal | None]) -> Sequence[Decimal | None]:
        """The values from when the key was made."""
        made = row.key.created_at
        if made is None or made <= self.gap.moments[0]:
            return values
        return values[sum(moment < made for moment in self.gap.moments) :]

    def _workspace(self, sample: Sample, totals: _WorkspaceTotals) -> SeriesColumn:
        identity, figure = sample.series.key.identity, sample.series.key.figure
        for interval in BUDGET_INTERVALS:
            limit = figures.budget_figure(interval)
            spent = totals[identity, interval]
            if figure == figures.usage_figure(interval):
                return SeriesColumn(sample.series, spent)
            if figure == figures.remaining_figure(interval):
                budgets = self.workspaces[identity].budgets or {}
                cap = budgets[interval].limit_usd
                if cap is None:
                    break
                return SeriesColumn(sample.series, [cap - each for each in spent])
            if figure == limit:
                break
        return SeriesColumn(sample.series, [sample.value], constant=True)

    def _add(self, row: KeyRow, spent: Mapping[str, _Window], totals: _WorkspaceTotals) -> None:
        """Count what a key used to what the keys of its workspace did."""
        workspace = row.key.workspace_id or ""
        found = self.workspaces.get(workspace)
        if found is None:
            return
        byok = bool(found.workspace and found.workspace.include_byok_in_budgets)
        for interval, window in spent.items():
            before = totals[workspace, interval]
            totals[workspace, interval] = [*map(add, before, window.counted(byok=byok))]

    def _spent(self, row: KeyRow) -> Mapping[str, _Window] | None:
        """By interval, what a key used in the window of each moment; None where nobody knows."""
        totals = self.past.spent(row.identity, self._asked)
        if totals is None:
            return None
        usd = [each.usd for each in totals]
        byok = [each.byok_usd for each in totals]
        return {
            interval: _Window(_within(usd, begins, ends), _within(byok, begins, ends))
            for interval, (begins, ends) in self._places.items()
        }

    @cached_property
    def _places(self) -> Mapping[str, tuple[list[int | None], list[int]]]:
        """By interval, where beginning and end of the window of each moment are in ``_asked``."""
        place = {moment: number for number, moment in enumerate(self._asked)}
        ends = [place[moment] for moment in self.gap.moments]
        return {
            interval: ([None if start is None else place[start] for start in found], ends)
            for interval, found in self._starts.items()
        }

    @cached_property
    def _starts(self) -> Mapping[str, list[datetime | None]]:
        """By interval, when the window of each moment began."""
        return {
            interval: [window_start(interval, moment) for moment in self.gap.moments]
            for interval in BUDGET_INTERVALS
        }

    @cached_property
    def _asked(self) -> Sequence[datetime]:
        """The moments, and the beginnings of their windows."""
        starts = {at for found in self._starts.values() for at in found if at is not None}
        return sorted({*self.gap.moments, *starts})

    # Facts ------------------------------------------------------------------------------------

    def facts(self) -> Iterator[PastFact]:
        """The first reading of everything, and one more right after each change."""
        disabled = {
            row.identity: at
            for row in self.keys
            if row.key.disabled and (at := self.past.disabled_at(row.identity)) is not None
        }
        made = [row.key.created_at for row in self.keys]
        for at, covered in self._moments(*made, *disabled.values()):
            rows = [
                row
                if disabled.get(row.identity, at) <= at
                else replace(row, key=row.key.model_copy(update={"disabled": False}))
                for row in self.keys
                if _is_there(row.key.created_at, at)
            ]
            yield PastFact(observe_keys(rows, ObservedReading(at, DEFAULT_PACES.keys)), covered)
        spaces = self.workspaces
        made = [found.workspace.created_at for found in spaces.values() if found.workspace]
        for at, covered in self._moments(*made):
            there = {
                identity: found
                for identity, found in spaces.items()
                if found.workspace is None or _is_there(found.workspace.created_at, at)
            }
            seen = ObservedReading(at, DEFAULT_PACES.workspaces)
            yield PastFact(observe_workspaces(there, seen), covered)
        for at, covered in self._moments(*(row.guardrail.created_at for row in self.guardrails)):
            rails = [row for row in self.guardrails if _is_there(row.guardrail.created_at, at)]
            seen = ObservedReading(at, DEFAULT_PACES.guardrails)
            yield PastFact(observe_guardrails(rails, seen), covered)
        for at, covered in self._moments(*self.past.purchases(self.gap.moments[0])):
            (then,) = self.past.account([at])
            credits = self.credits.model_copy(update=then._asdict())
            seen = ObservedReading(at, DEFAULT_PACES.credits)
            yield PastFact(observe_credits(credits, seen), covered)

    def _moments(self, *events: datetime | None) -> Iterator[tuple[datetime, datetime | None]]:
        """The beginning, then the minute after each event, with the minute before it."""
        yield self.gap.moments[0], None
        seconds = {floor(int(event.timestamp()), MINUTE) for event in events if event is not None}
        for second in sorted(seconds):
            if self.gap.since <= second and second + MINUTE <= self.gap.until:
                yield moment_of(second + MINUTE), moment_of(second)


def _is_there(made: datetime | None, at: datetime) -> bool:
    return made is None or made <= at


def _within(
    totals: Sequence[Decimal], begins: Sequence[int | None], ends: Sequence[int]
) -> list[Decimal]:
    """What was used from each beginning to its end, given by their places among the totals."""
    return [
        totals[end] if begin is None else totals[end] - totals[begin]
        for begin, end in zip(begins, ends, strict=True)
    ]


@dataclass(frozen=True, slots=True)
class Backfill:
    """What is filled in of one history: the account before the recorder starts, then endpoints."""

    hub: FeedHub
    archive: Archive
    past: HistorySource
    gap: Gap
    first: bool
    """Whether nothing was recorded before."""
    has_account: bool = False
    """Whether an earlier run filled in the account, and ended before the endpoints."""

    @classmethod
    async def begin(cls, hub: FeedHub, archive: Archive, past: HistorySource) -> Self | None:
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
            with writer.transaction() as connection:
                open_tiers(connection, self.gap)
                _begin(connection, self.gap)
                if self.first:
                    told = [*account.facts(), *self._first_facts(endpoints)]
                    told.sort(key=lambda fact: fact.seen.at)
                    _write_facts(connection, told, self.gap)
            if self.first:
                set_defaults(writer.connection, models, self.past.until)

        await self.archive.write(work)
        return True

    async def fill_endpoints(self, filled: Callable[[], None]) -> None:
        """Fill in the endpoints of the watched models one by one; ``filled`` is called after each.

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
            yield PastFact(observe_endpoints(model, rows, seen), None)

    def _columns(self, model: str, rows: Sequence[EndpointRow]) -> Iterator[SeriesColumn]:
        """The figures of a model's endpoints; its prices are what they are now."""
        seen = ObservedReading(self.gap.moments[-1], DEFAULT_PACES.endpoints)
        for row in rows:
            told = self.past.figures(model, row.endpoint.tag or "", self.gap.moments)
            if told is None:
                continue
            for sample in observe_endpoints(model, [row], seen).samples:
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


def _write_facts(connection: sqlite3.Connection, told: Sequence[PastFact], gap: Gap) -> None:
    """Inside a transaction: write versions and changes, and that all of the gap was covered."""
    for seen, covered in told:
        before = None if covered is None else seconds_of(covered)
        record_facts(connection, seen, seconds_of(seen.at), before)
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


async def fill_past(hub: FeedHub, path: Path, past: HistorySource, config: Path) -> None:
    """Fill in what the history at ``path`` lacks, and run the alert rules over what is now.

    The rules are those of the file in the directory ``config``.

    For a command that only reads what is recorded, where no dashboard has filled it in before.
    Nothing happens where another instance records, or less than an hour is missing. Never fails:
    the command does without the recorded past then.
    """
    try:
        archive = await Archive.open(path, hub.clock)
    except HistoryError as error:
        _log.warning("history: %s", error)
        return
    try:
        fill = await Backfill.begin(hub, archive, past) if await archive.hold() else None
        if fill is not None and await fill.fill_account():
            await fill.fill_endpoints(lambda: None)
            await _evaluate(hub, archive, RuleFile(config / FILE_NAME, hub.connection.label))
    except Exception:  # whatever it is, what is read now is shown
        _log.exception("history: the past cannot be filled in")
    finally:
        await archive.close()


async def _evaluate(hub: FeedHub, archive: Archive, rules: RuleFile) -> None:
    """Record a reading of the account and the watched models, and what the rules say of it."""
    from gwtui.watch.alerts.evaluator import (  # noqa: PLC0415 - not for every command
        PersistentEvaluator,
    )

    models = await archive.read(lambda history: history.watched_models())
    seen, now = await _present(hub, models), hub.clock.now()

    def work(writer: HistoryWriter) -> None:
        for observation in seen:
            writer.observe(observation)
        PersistentEvaluator().run(writer, rules.refresh(), seen, now)

    await archive.write(work)


async def _present(hub: FeedHub, models: Sequence[str]) -> Sequence[Observation]:
    """What the recorder would read first."""
    builds: list[Build] = []
    sources = Sources(hub, DEFAULT_PACES, hub.clock, lambda _name, build: builds.append(build))
    sources.open()
    sources.follow(models)
    try:
        await sources.settled()
    finally:
        sources.close()
    return [build() for build in builds]
