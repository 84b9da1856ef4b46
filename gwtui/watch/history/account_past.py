"""The past of an account: its credits, keys and workspaces at the moments of a gap."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from decimal import Decimal
from functools import cached_property
from operator import add
from typing import NamedTuple

from gwtui.contract.budgets import BUDGET_INTERVALS
from gwtui.contract.usage import Credits
from gwtui.domain.past import Past
from gwtui.domain.resets import window_start
from gwtui.watch.feeds.guardrails import GuardrailRow
from gwtui.watch.feeds.keys import KeyRow
from gwtui.watch.feeds.workspaces import Figures
from gwtui.watch.history import model as figures
from gwtui.watch.history.model import Observation, Sample, moment_of
from gwtui.watch.history.observations import (
    ObservedReading,
    credits_seen,
    guardrails_seen,
    keys_seen,
    workspaces_seen,
)
from gwtui.watch.history.sources import DEFAULT_PACES
from gwtui.watch.history.thinning import MINUTE, Gap, SeriesColumn
from gwtui.watch.history.tiers import floor


class _Window(NamedTuple):
    """What a key used in the window of each moment, in USD."""

    usd: Sequence[Decimal]
    byok: Sequence[Decimal]

    def counted(self, *, byok: bool) -> Sequence[Decimal]:
        """What counts against a limit."""
        return [*map(add, self.usd, self.byok)] if byok else self.usd


class PastFact(NamedTuple):
    """What a reading said, and when the one before it was made; None for the first."""

    seen: Observation
    covered: datetime | None


@dataclass(frozen=True)
class AccountPast:
    """What the account says now, and what the gateway can tell of the time before."""

    past: Past
    gap: Gap
    credits: Credits
    keys: Sequence[KeyRow]
    workspaces: Mapping[str, Figures]
    guardrails: Sequence[GuardrailRow]

    # Figures ----------------------------------------------------------------------------------

    def columns(self) -> Iterator[SeriesColumn]:
        """Every figure of the account over the gap."""
        yield from self._credits()
        for row in self.keys:
            yield from self._key(row)
        for sample in workspaces_seen(self.workspaces, self._now(DEFAULT_PACES.workspaces)).samples:
            yield self._workspace(sample)

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
        for sample in credits_seen(self.credits, self._now(DEFAULT_PACES.credits)).samples:
            yield SeriesColumn(sample.series, values[sample.series.key.figure])

    def _key(self, row: KeyRow) -> Iterator[SeriesColumn]:
        """One key, from when it was made."""
        spent = self._spent.get(row.identity)
        if spent is None:
            return
        key = row.key
        for sample in keys_seen([row], self._now(DEFAULT_PACES.keys)).samples:
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
        """What a key said from its first reading on."""
        made = row.key.created_at
        if made is None or made <= self.gap.moments[0]:
            return values
        return values[sum(moment < made for moment in self.gap.moments) :]

    def _workspace(self, sample: Sample) -> SeriesColumn:
        identity, figure = sample.series.key.identity, sample.series.key.figure
        for interval in BUDGET_INTERVALS:
            limit = figures.budget_figure(interval)
            if figure == figures.usage_figure(interval):
                return SeriesColumn(sample.series, self._spent_in(identity, interval))
            if figure == figures.remaining_figure(interval):
                budgets = self.workspaces[identity].budgets or {}
                cap = budgets[interval].limit_usd
                spent = self._spent_in(identity, interval)
                if cap is None:
                    break
                return SeriesColumn(sample.series, [cap - each for each in spent])
            if figure == limit:
                break
        return SeriesColumn(sample.series, [sample.value], constant=True)

    def _spent_in(self, workspace: str, interval: str) -> list[Decimal]:
        """What its present keys used in the window of each moment."""
        space = self.workspaces[workspace].workspace
        byok = bool(space and space.include_byok_in_budgets)
        totals = [Decimal(0)] * len(self.gap.moments)
        for row in self.keys:
            spent = self._spent.get(row.identity)
            if spent is not None and row.key.workspace_id == workspace:
                totals = [*map(add, totals, spent[interval].counted(byok=byok))]
        return totals

    @cached_property
    def _spent(self) -> Mapping[str, Mapping[str, _Window]]:
        """By key and interval, what was used in the window of each moment."""
        place = {moment: number for number, moment in enumerate(self._asked)}
        ends = [place[moment] for moment in self.gap.moments]
        begins = {
            interval: [None if start is None else place[start] for start in found]
            for interval, found in self._starts.items()
        }
        told: dict[str, Mapping[str, _Window]] = {}
        for row in self.keys:
            totals = self.past.spent(row.identity, self._asked)
            if totals is not None:
                usd = [each.usd for each in totals]
                byok = [each.byok_usd for each in totals]
                told[row.identity] = {
                    interval: _Window(_within(usd, found, ends), _within(byok, found, ends))
                    for interval, found in begins.items()
                }
        return told

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
            yield PastFact(keys_seen(rows, ObservedReading(at, DEFAULT_PACES.keys)), covered)
        spaces = self.workspaces
        made = [found.workspace.created_at for found in spaces.values() if found.workspace]
        for at, covered in self._moments(*made):
            there = {
                identity: found
                for identity, found in spaces.items()
                if found.workspace is None or _is_there(found.workspace.created_at, at)
            }
            seen = ObservedReading(at, DEFAULT_PACES.workspaces)
            yield PastFact(workspaces_seen(there, seen), covered)
        for at, covered in self._moments(*(row.guardrail.created_at for row in self.guardrails)):
            rails = [row for row in self.guardrails if _is_there(row.guardrail.created_at, at)]
            seen = ObservedReading(at, DEFAULT_PACES.guardrails)
            yield PastFact(guardrails_seen(rails, seen), covered)
        for at, covered in self._moments(*self.past.purchases(self.gap.moments[0])):
            (then,) = self.past.account([at])
            credits = self.credits.model_copy(update=then._asdict())
            seen = ObservedReading(at, DEFAULT_PACES.credits)
            yield PastFact(credits_seen(credits, seen), covered)

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
