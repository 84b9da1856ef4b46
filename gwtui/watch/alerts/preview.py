"""What a rule would have reported in the past: the same evaluator, run over what was recorded."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from decimal import Decimal
from itertools import groupby
from operator import itemgetter
from typing import NamedTuple

from gwtui.domain.alert_rules import AlertRule, ConditionRule, RunwayRule
from gwtui.domain.alert_state import Direction
from gwtui.domain.runway import WINDOWS, UsedCurve
from gwtui.watch.alerts.evaluator import Evaluator
from gwtui.watch.alerts.model import GUARDED, AlertEvent
from gwtui.watch.alerts.rule_kinds import resource_of, signal_of, watches
from gwtui.watch.history.model import Fields, Run, Subject
from gwtui.watch.history.queries import used_totals
from gwtui.watch.history.reader import HistoryReader
from gwtui.watch.history.writer import gap_after

SPAN = timedelta(days=7)
"""How far a preview looks back."""
BUDGET = 0.4
"""Seconds that a part of a preview takes at most; what it has not looked at by then it says."""
MOST_CHANGES = 100_000

_NO_FACTS: Fields = {}


@dataclass(frozen=True, slots=True)
class Preview:
    """How often a rule would have fired, and how much of the past was there to try it on.

    ``subjects`` were looked at of ``of``. ``recorded`` is how far back the recording reaches, at
    most ``SPAN``. ``events`` are in order; ``still`` is how many alerts there would be now.
    """

    events: tuple[AlertEvent, ...] = ()
    recorded: timedelta = timedelta()
    subjects: int = 0
    of: int = 0
    still: int = 0

    @property
    def is_whole(self) -> bool:
        """Whether everything was looked at."""
        return self.subjects >= self.of

    @property
    def fired(self) -> int:
        """How often it would have fired."""
        return sum(event.event == "fired" for event in self.events)


def preview(
    reader: HistoryReader,
    identity: str,
    rule: AlertRule,
    now: datetime,
    *,
    after: Preview | None = None,
    monotonic: Callable[[], float] = time.monotonic,
) -> Preview:
    """Run a rule over the last days, also when it is switched off. Raises sqlite3.Error.

    What it has no time for is left to the next part, which goes on ``after`` this one. All parts
    are asked for with the same ``now``.
    """
    span = reader.span()
    begin = now - SPAN
    if span is None or span[0] >= now:
        return Preview()
    since = max(begin, span[0])
    rule = rule.model_copy(update={"enabled": True})
    trial = _Trial(reader, identity, rule, since, now)
    if not isinstance(rule, ConditionRule):
        return trial.of_changes(now - since)
    before = after or Preview()
    deadline = monotonic() + BUDGET
    subjects = trial.subjects()
    looked = before.subjects
    for subject in subjects[looked:]:
        if looked > before.subjects and monotonic() > deadline:
            break
        trial.run(subject)
        looked += 1
    return trial.result(now - since, looked, len(subjects), before)


class _Moment(NamedTuple):
    """Readings at a moment; ``patience`` is how long before it the one before may lie."""

    at: datetime
    values: Mapping[str, Decimal | None]
    patience: timedelta


class _Trial:
    """One rule over one span."""

    def __init__(
        self,
        reader: HistoryReader,
        identity: str,
        rule: AlertRule,
        since: datetime,
        until: datetime,
    ) -> None:
        self._reader = reader
        self._rule = rule
        self._since = since
        self._until = until
        self._facts = _FactsOverTime(reader, since, until)
        curve = None
        if isinstance(rule, RunwayRule):
            curve = UsedCurve(used_totals(reader, since - max(WINDOWS), until))
        self._evaluator = Evaluator({identity: rule}, curve=curve, wordy=False)
        self._events: list[AlertEvent] = []

    def subjects(self) -> Sequence[Subject]:
        """What the rule would have looked at."""
        wanted = signal_of(self._rule).figures(self._rule)
        found = dict.fromkeys(
            Subject(*series.key[:2])
            for figure in wanted
            for series in self._reader.series(resource_of(self._rule), None, figure)
        )
        return [each for each in found if self._facts.ever(each, self._rule)]

    def run(self, subject: Subject) -> None:
        """Everything that was recorded of a subject."""
        evaluator = self._evaluator
        evaluator.facts = self._facts.at(subject, self._until)
        varies = self._facts.varies(subject)
        for moment in self._moments(subject):
            if varies:
                evaluator.facts = self._facts.at(subject, moment.at)
            evaluator.read(subject, moment.values, moment.at, moment.patience)
        self._events += evaluator.take().events

    def of_changes(self, recorded: timedelta) -> Preview:
        """Rules on what happens look at changes alone."""
        changes = self._reader.changes(
            self._since, self._until, {self._rule.RESOURCE}, limit=MOST_CHANGES
        )
        for _, together in groupby(reversed(changes), key=lambda change: change.at):
            self._evaluator.change(tuple(together))
        self._evaluator.pass_time(self._until)
        self._events += self._evaluator.take().events
        return self.result(recorded, 1, 1)

    def result(
        self, recorded: timedelta, looked: int, of: int, before: Preview | None = None
    ) -> Preview:
        """What was found, together with what ``before`` had found."""
        earlier = before or Preview()
        events = sorted((*earlier.events, *self._events), key=lambda event: event.at)
        still = sum(alert.status.alerting for alert in self._evaluator.alerts.values())
        return Preview(tuple(events), recorded, looked, of, earlier.still + still)

    def _moments(self, subject: Subject) -> Iterator[_Moment]:
        """The readings of all figures of a subject, put together by their moments."""
        if len(signal_of(self._rule).figures(self._rule)) == 1:
            for at, figure, value, patience in self._steps(subject):
                yield _Moment(at, {figure: value}, patience)
            return
        values: dict[str, Decimal | None] = {}
        for at, steps in groupby(sorted(self._steps(subject), key=_order), key=itemgetter(0)):
            patience = timedelta()
            for _, figure, value, allowed in steps:
                values[figure] = value
                patience = max(patience, allowed)
            yield _Moment(at, dict(values), patience)

    def _steps(self, subject: Subject) -> Iterator[tuple[datetime, str, Decimal | None, timedelta]]:
        rule = self._rule
        for figure in signal_of(rule).figures(rule):
            for series in self._reader.series(*subject, figure):
                patience = timedelta(seconds=gap_after(series.every))
                for run in self._reader.runs(series.key, self._since, self._until):
                    for at, value, allowed in _ends(run, _worst_side(rule), patience):
                        yield at, figure, value, allowed


def _order(step: tuple[datetime, str, Decimal | None, timedelta]) -> datetime:
    return step[0]


def _worst_side(rule: AlertRule) -> Direction | None:
    """Which end of a bucket matters: with no time to last, a single reading would have fired."""
    if not isinstance(rule, ConditionRule) or rule.fire_after:
        return None
    return rule.bounds.direction


def _ends(
    run: Run, worst: Direction | None, patience: timedelta
) -> Iterator[tuple[datetime, Decimal | None, timedelta]]:
    """The first and the last moment of a run; in between there is no gap."""
    length = run.until - run.start
    if not run.flat and worst is None:
        yield run.until, run.last, patience + length
        return
    first = run.last if run.flat else run.low if worst == "below" else run.high
    yield run.start, first, patience
    if length:
        yield run.until, run.last, length


class _FactsOverTime:
    """What was known of each subject at each moment of a span."""

    def __init__(self, reader: HistoryReader, since: datetime, until: datetime) -> None:
        self._begun = reader.facts_at(since)
        self._now = reader.facts_at(until)
        self._changes: dict[Subject, list[tuple[datetime, str, object]]] = {}
        for change in reversed(reader.changes(since, until, limit=MOST_CHANGES)):
            self._changes.setdefault(change.subject, []).append(
                (change.at, change.field, change.after)
            )

    def ever(self, subject: Subject, rule: AlertRule) -> bool:
        """Whether a subject is in the rule's scope, by what is known of it last."""
        about = _about(subject)
        return watches(rule, subject, self._now.get(about) or self._begun.get(about, _NO_FACTS))

    def varies(self, subject: Subject) -> bool:
        """Whether anything about a subject changed."""
        return _about(subject) in self._changes

    def at(self, subject: Subject, moment: datetime) -> dict[Subject, Fields]:
        """The facts that a rule needs at a moment."""
        about = _about(subject)
        changes = self._changes.get(about)
        if not changes:
            return {about: self._now.get(about) or self._begun.get(about, _NO_FACTS)}
        fields = dict(self._begun.get(about) or self._now.get(about, _NO_FACTS))
        for at, field, after in changes:
            if at > moment:
                break
            if field:
                fields[field] = after  # type: ignore[assignment]
        return {about: {name: value for name, value in fields.items() if value is not None}}


def _about(subject: Subject) -> Subject:
    if subject.resource == GUARDED:
        return Subject("guardrail", subject.identity.partition(" ")[0])
    return subject
