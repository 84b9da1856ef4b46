"""What a rule would have reported in the past: the same evaluator, run over recorded hours."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from decimal import Decimal

from gwtui.domain.alert_rules import RUNWAY, AlertRule, ConditionRule, RunwayRule
from gwtui.domain.runway import WINDOWS, UsedTotal, burns, days_left
from gwtui.watch.alerts.evaluator import Evaluator
from gwtui.watch.alerts.model import AlertEvent
from gwtui.watch.history.model import BALANCE, TOTAL_USAGE, Point, SeriesKey, Subject
from gwtui.watch.history.reader import HistoryReader

SPAN = timedelta(days=7)
"""How far a preview looks back."""
MOST_SUBJECTS = 200
"""Subjects that are looked at, at most."""
MOST_CHANGES = 100_000

_HOUR = timedelta(hours=1)
_SECOND = timedelta(seconds=1)
Hour = tuple[datetime, Mapping[str, Decimal | None]]


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
    def fired(self) -> int:
        """How often it would have fired."""
        return sum(event.event == "fired" for event in self.events)


def preview(reader: HistoryReader, identity: str, rule: AlertRule, now: datetime) -> Preview:
    """Run a rule over the last days, also when it is switched off. Raises sqlite3.Error.

    Conditions see the mean of each hour and the facts of now, such as limits.
    """
    span = reader.span()
    if span is None or span[0] >= now:
        return Preview()
    since = max(now - SPAN, span[0])
    rule = rule.model_copy(update={"enabled": True})
    evaluator = Evaluator({identity: rule}, facts=reader.facts_at(now))
    looked = of = 1
    if isinstance(rule, ConditionRule):
        subjects = _subjects(reader, rule, evaluator)
        looked, of = min(len(subjects), MOST_SUBJECTS), len(subjects)
        for subject in subjects[:MOST_SUBJECTS]:
            for at, values in _hours(reader, rule, subject, since, now):
                for moment in (at, min(at + _HOUR - _SECOND, now)):
                    evaluator.read(subject, values, moment, 2 * _HOUR)
    else:
        changes = reader.changes(since, now, {rule.kind.resource}, limit=MOST_CHANGES)
        evaluator.change(tuple(reversed(changes)))
        evaluator.pass_time(now)
    events = sorted(evaluator.take().events, key=lambda event: event.at)
    still = sum(alert.status.alerting for alert in evaluator.alerts.values())
    return Preview(tuple(events), now - since, looked, of, still)


def _subjects(
    reader: HistoryReader, rule: ConditionRule, evaluator: Evaluator
) -> Sequence[Subject]:
    """What the rule would have looked at."""
    figures = (BALANCE,) if isinstance(rule, RunwayRule) else rule.figures
    found = dict.fromkeys(
        Subject(*series.key[:2])
        for figure in figures
        for series in reader.series(rule.kind.resource, None, figure)
    )
    return [one for one in found if rule.watches(one, evaluator.facts.get(one, {}))]


def _hours(
    reader: HistoryReader, rule: ConditionRule, subject: Subject, since: datetime, until: datetime
) -> Iterator[Hour]:
    """The mean of each recorded hour of the figures that a rule needs."""
    if isinstance(rule, RunwayRule):
        yield from _runways(reader, subject, since, until)
        return
    hours: dict[datetime, dict[str, Decimal | None]] = {}
    for figure in rule.figures:
        for point in _points(reader, subject, figure, since, until):
            hours.setdefault(point.at, {})[figure] = point.mean
    yield from sorted(hours.items(), key=lambda hour: hour[0])


def _runways(
    reader: HistoryReader, subject: Subject, since: datetime, until: datetime
) -> Iterator[Hour]:
    """How long the credits would have lasted at each hour."""
    begin = since - max(WINDOWS)
    used = [
        UsedTotal(point.at + _HOUR, point.last)
        for point in _points(reader, subject, TOTAL_USAGE, begin, until)
        if point.last is not None
    ]
    for point in _points(reader, subject, BALANCE, since, until):
        end = point.at + _HOUR
        seen = [one for one in used if end - max(WINDOWS) - _HOUR <= one.at <= end]
        yield end, {RUNWAY: days_left(point.last, burns(seen, end))}


def _points(
    reader: HistoryReader, subject: Subject, figure: str, since: datetime, until: datetime
) -> Sequence[Point]:
    """The recorded hours of a figure."""
    key = SeriesKey(*subject, figure)
    curve = reader.points(key, since, until, resolution=_HOUR.total_seconds())
    return [point for point in (() if curve is None else curve.points) if point.state != "gap"]
