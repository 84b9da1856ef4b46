"""Evaluates alert rules: ``Evaluator`` in memory, ``PersistentEvaluator`` on the history file.

``preview`` evaluates a rule on the recorded hours of the past.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from decimal import Context, Decimal
from itertools import groupby

from pydantic import JsonValue

from gwtui.contract.models import PER_TOKEN_KEYS
from gwtui.domain.alert_rules import (
    RUNWAY,
    AlertRule,
    ConditionRule,
    EventRule,
    GoneRule,
    PriceRule,
    RuleReading,
    RunwayRule,
    distinct_names,
    subject_name,
)
from gwtui.domain.alert_state import QUIET, AlertState, begin, step
from gwtui.domain.money import per_million, percent_points, usd
from gwtui.domain.runway import WINDOWS, Rate, UsedTotal, recorded_rates, runway
from gwtui.domain.safe_text import safe_line
from gwtui.watch.alerts import store
from gwtui.watch.alerts.model import Alert, AlertEvent, AlertKey, EvaluationResult, EventKind
from gwtui.watch.history import model as kinds
from gwtui.watch.history.file import remember_setting, setting
from gwtui.watch.history.model import (
    ACCOUNT,
    Fields,
    Observation,
    Point,
    RecordedChange,
    SeriesKey,
    Subject,
    amount,
    gap_after,
    readings_of,
)
from gwtui.watch.history.reader import HistoryReader, credits_state

_HUNDRED = Decimal(100)
_PRICE = "price_"
_LONGEST_MESSAGE = 300
_NO_FACTS: Fields = {}
_CREDITS = Subject("credits", ACCOUNT)
_KEPT = Context(prec=12)
_CHANGES: Mapping[type[AlertRule], frozenset[str]] = {
    GoneRule: frozenset({kinds.ENDPOINT_GONE, kinds.ENDPOINT_APPEARED}),
    PriceRule: frozenset({kinds.ENDPOINT_PRICE}),
}
"""The kinds of recorded changes that each kind of event rule handles."""


class Evaluator:
    """Applies rules to readings and changes, which must come in chronological order.

    ``take_result`` returns the resulting events and changed alerts.
    """

    def __init__(
        self,
        rules: Mapping[str, AlertRule],
        *,
        alerts: Iterable[Alert] = (),
        facts: Mapping[Subject, Fields] | None = None,
    ) -> None:
        self.facts: dict[Subject, Fields] = dict(facts or {})
        self.alerts = {alert.key: alert for alert in alerts}
        """The pending and firing alerts by key."""
        self._result = EvaluationResult()
        self._index_rules(rules)

    def take_result(self) -> EvaluationResult:
        """Return the events and changed alerts since the last call."""
        result, self._result = self._result, EvaluationResult()
        return result

    # Input -------------------------------------------------------------------------------------

    def set_rules(self, rules: Mapping[str, AlertRule], at: datetime) -> None:
        """Replace the rules. Alerts of removed or disabled rules end."""
        self._index_rules(rules)
        for key, alert in list(self.alerts.items()):
            rule = self.rules.get(key.rule)
            if rule is None or not rule.enabled:
                self._end(alert, at, "the rule is switched off")
            elif not rule.watches(key.subject, self.facts_of(key.subject)):
                self._end(alert, at, "no longer in the scope of the rule")
            elif (alert.title, alert.severity) != (self._names[key.rule], rule.severity):
                self._keep(replace(alert, title=self._names[key.rule], severity=rule.severity))

    def apply_observation(self, observation: Observation) -> None:
        """Apply the readings of all subjects of an observation."""
        self._update_facts(observation)
        max_gap = timedelta(seconds=gap_after(observation.every))
        for subject, reading in readings_of(observation, self.facts_of):
            self.apply_reading(subject, reading, max_gap)

    def apply_reading(self, subject: Subject, reading: RuleReading, max_gap: timedelta) -> None:
        """Apply the reading of one subject.

        The time between two readings counts towards how long a condition lasts, unless it is longer
        than ``max_gap``.
        """
        for identity, rule in self._conditions.get(subject.resource, ()):
            if rule.watches(subject, reading.facts):
                self._evaluate(AlertKey(identity, subject), rule, reading, max_gap)

    def apply_changes(self, changes: Sequence[RecordedChange]) -> None:
        """Apply recorded changes, oldest first.

        Simultaneous changes of one subject become one event.
        """
        for identity, rule in self._events:
            concerned = [change for change in changes if change.kind in _CHANGES[type(rule)]]
            for (kind, subject, at), group in groupby(
                concerned, key=lambda change: (change.kind, change.subject, change.at)
            ):
                together, key = tuple(group), AlertKey(identity, subject)
                if kind == kinds.ENDPOINT_APPEARED:
                    if key in self.alerts:
                        self._end(self.alerts[key], at, "offered again")
                    continue
                message = "no longer offered"
                if isinstance(rule, PriceRule):
                    message = _price_message(rule, together)
                if message and rule.watches(subject, self.facts_of(subject)):
                    self._fire_event(key, rule, together[0], message)

    def end_acknowledged(self, keys: Iterable[AlertKey], at: datetime) -> None:
        """End those of these alerts that come from event rules; others end when they clear."""
        for key in keys:
            alert, rule = self.alerts.get(key), self.rules.get(key.rule)
            if alert is not None and isinstance(rule, EventRule):
                self._end(alert, at, "acknowledged")

    def end_expired(self, at: datetime) -> None:
        """End each alert of an event rule that is older than ``keep_for`` of its rule."""
        for key, alert in list(self.alerts.items()):
            rule = self.rules.get(key.rule)
            if isinstance(rule, EventRule) and at - (alert.status.since or at) >= rule.keep_for:
                self._end(alert, at, "expired")

    # Inside -----------------------------------------------------------------------------------

    def _index_rules(self, rules: Mapping[str, AlertRule]) -> None:
        self.rules = dict(rules)
        self._names = distinct_names(rules)
        self._conditions: dict[str, list[tuple[str, ConditionRule]]] = {}
        enabled = {identity: rule for identity, rule in rules.items() if rule.enabled}
        self._events = [(key, rule) for key, rule in enabled.items() if isinstance(rule, EventRule)]
        for identity, rule in enabled.items():
            if isinstance(rule, ConditionRule):
                self._conditions.setdefault(rule.kind.resource, []).append((identity, rule))
        for watching in self._conditions.values():
            rules_here = [rule for _, rule in watching]
            # A rule comes after those that override it.
            watching.sort(key=lambda item: any(rule.overrides(item[1]) for rule in rules_here))

    def facts_of(self, subject: Subject) -> Fields:
        """The last known facts of a subject, such as its name and limit; empty if unknown."""
        return self.facts.get(subject, _NO_FACTS)

    def _update_facts(self, observation: Observation) -> None:
        for subject, fields in observation.facts.items():
            merged = {**self.facts.get(subject, _NO_FACTS), **fields}
            self.facts[subject] = {
                name: value for name, value in merged.items() if value is not None
            }
        if observation.covers is None:
            return
        resource, prefix = observation.covers
        there = {*observation.facts, *observation.values}
        known = {*self.facts, *(key.subject for key in self.alerts)}
        for subject in sorted(known - there):
            if subject.resource == resource and subject.identity.startswith(prefix):
                self.facts.pop(subject, None)
                self._end_conditions(subject, observation.at)

    def _end_conditions(self, subject: Subject, at: datetime) -> None:
        for key, alert in list(self.alerts.items()):
            if key.subject == subject and isinstance(self.rules.get(key.rule), ConditionRule):
                self._end(alert, at, "no longer exists")

    def _evaluate(
        self, key: AlertKey, rule: ConditionRule, reading: RuleReading, max_gap: timedelta
    ) -> None:
        value, alert = rule.measure(reading), self.alerts.get(key)
        if value is None:
            return
        evidence = rule.bounds.evidence(value)
        if alert is None and evidence != "bad":
            return
        if self._is_overridden(key, rule):
            if alert is not None:
                self._end(alert, reading.at, "replaced by a more severe alert")
            return
        if alert is None:
            name = subject_name(key.subject, reading.facts)
            alert = Alert(key, QUIET, rule.severity, self._names[key.rule], name)
        before = alert.status
        after = step(before, evidence, reading.at, rule.timing, max_gap)
        if after is before:
            return
        message = rule.message(value, reading) if evidence == "bad" else alert.message
        if is_news := message != alert.message:
            alert = replace(alert, message=message, value=value.normalize(_KEPT))
        if after.state != before.state:
            self._transition(alert, after, reading.at)
            return
        self.alerts[key] = alert = replace(alert, status=after)
        if is_news:  # the text follows the figure
            self._keep(alert)

    def _is_overridden(self, key: AlertKey, rule: ConditionRule) -> bool:
        overriding = (
            self.alerts.get(AlertKey(identity, key.subject))
            for identity, other in self._conditions[rule.kind.resource]
            if other.overrides(rule)
        )
        return any(alert is not None and alert.status.is_alerting for alert in overriding)

    def _fire_event(
        self, key: AlertKey, rule: EventRule, change: RecordedChange, message: str
    ) -> None:
        facts = {**self.facts.get(key.subject, _NO_FACTS), "name": change.name}
        name = subject_name(key.subject, facts)
        alert = Alert(key, QUIET, rule.severity, self._names[key.rule], name, message)
        self._transition(alert, begin("firing", change.at), change.at)

    def _transition(self, alert: Alert, after: AlertState, at: datetime) -> None:
        if after.state == "quiet":
            self._end(alert, at, "recovered")
            return
        fired = after.is_alerting and not alert.status.is_alerting
        alert = replace(alert, status=after)
        if fired:
            alert = replace(alert, fired_at=at, acknowledged_at=None, acknowledged_by="")
            self._add_event("fired", alert, at, alert.message)
        self._keep(alert)

    def _keep(self, alert: Alert) -> None:
        self.alerts[alert.key] = alert
        self._result.changed[alert.key] = alert

    def _end(self, alert: Alert, at: datetime, why: str) -> None:
        self.alerts.pop(alert.key, None)
        self._result.changed[alert.key] = replace(alert, status=QUIET)
        if alert.status.is_alerting:
            self._add_event("cleared", alert, at, why)

    def _add_event(self, event: EventKind, alert: Alert, at: datetime, message: str) -> None:
        self._result.events.append(
            AlertEvent(
                at, event, alert.key, alert.severity, alert.title, alert.name, message, alert.value
            )
        )


def _price_message(rule: PriceRule, changes: Sequence[RecordedChange]) -> str:
    if not any(_is_large_enough(rule, change) for change in changes):
        return ""
    return safe_line(", ".join(map(_change_text, changes)), _LONGEST_MESSAGE)


def _is_large_enough(rule: PriceRule, change: RecordedChange) -> bool:
    # A change whose amounts cannot be compared always counts.
    before, after = _price(change.before), _price(change.after)
    if before is None or after is None or not before:
        return True
    return abs(after - before) / before * _HUNDRED >= rule.at_least


def _change_text(change: RecordedChange) -> str:
    if not change.field.startswith(_PRICE):
        return f"{change.field.replace('_', ' ')} changed"
    key = change.field.removeprefix(_PRICE)
    before, after = _price(change.before), _price(change.after)
    shown = per_million if key in PER_TOKEN_KEYS else usd
    unit = " per million tokens" if key in PER_TOKEN_KEYS else ""
    words = f"{key.replace('_', ' ')} {shown(before)} → {shown(after)}{unit}"
    if before and after is not None:
        sign = "+" if after > before else "-"
        words += f" ({sign}{percent_points(abs(after - before) / before * _HUNDRED)})"
    return words


def _price(value: JsonValue) -> Decimal | None:
    price = amount(value)
    return None if price is None or price < 0 else price


class PersistentEvaluator:
    """Evaluates rules and stores the alerts in the history file. Not thread-safe.

    The first run continues from the stored alerts. After a failed run, use another evaluator.
    """

    def __init__(self) -> None:
        self._evaluator: Evaluator | None = None

    def run(
        self,
        connection: sqlite3.Connection,
        rules: Mapping[str, AlertRule],
        observations: Sequence[Observation],
        now: datetime,
    ) -> tuple[AlertEvent, ...]:
        """Evaluate the rules on recorded readings and return the events, oldest first.

        Runs within a transaction. Raises sqlite3.Error.
        """
        reader, known = HistoryReader(connection), store.read_alerts(connection, now)
        if self._evaluator is None:  # continue from the file
            self._evaluator = Evaluator(rules, alerts=known, facts=reader.facts_at(now))
        evaluator = self._evaluator
        evaluator.set_rules(rules, now)
        for observation in observations:
            evaluator.apply_observation(observation)
            if observation.source == _CREDITS.resource:
                evaluator.apply_observation(_runway(reader, observation))
        self._follow_changes(reader, evaluator)
        evaluator.end_acknowledged(
            [alert.key for alert in known if alert.acknowledged_at is not None], now
        )
        evaluator.end_expired(now)
        events = store.end_silences(connection, now)
        events += store.write_result(connection, evaluator.take_result(), now)
        store.forget_old(connection, now)
        return events

    def _follow_changes(self, reader: HistoryReader, evaluator: Evaluator) -> None:
        connection = reader.connection
        last = setting(connection, store.LAST_CHANGE)
        if last is None:  # changes from before the first evaluation do not fire
            (newest,) = connection.execute("SELECT coalesce(max(id), 0) FROM changes").fetchone()
            remember_setting(connection, store.LAST_CHANGE, newest)
            return
        changes = reader.changes_after(last)
        if changes:
            evaluator.apply_changes(changes)
            remember_setting(connection, store.LAST_CHANGE, changes[-1].id)


def _runway(reader: HistoryReader, observation: Observation) -> Observation:
    state = credits_state(reader, observation.at)
    days = _days_left(state.balance.value, state.rates)
    return Observation(RUNWAY, observation.at, observation.every, {_CREDITS: {RUNWAY: days}})


def _days_left(balance: Decimal | None, rates: Sequence[Rate | None]) -> Decimal | None:
    left = runway(balance, rates)
    return None if left is None else left.days


# Preview of a rule ------------------------------------------------------------------------------

PREVIEW_SPAN = timedelta(days=7)
"""The longest span of a preview."""
MOST_SUBJECTS = 200
"""The maximum number of subjects in a preview."""
MOST_CHANGES = 100_000

_HOUR = timedelta(hours=1)
_SECOND = timedelta(seconds=1)
Hour = tuple[datetime, Mapping[str, Decimal | None]]


@dataclass(frozen=True, slots=True)
class Preview:
    """How often a rule would have fired in the recorded past.

    ``recorded`` is the evaluated span. ``of`` is the number of matching subjects, ``subjects`` how
    many of them were evaluated. ``still`` counts the alerts that would be firing now.
    """

    events: tuple[AlertEvent, ...] = ()
    recorded: timedelta = timedelta()
    subjects: int = 0
    of: int = 0
    still: int = 0

    @property
    def fired(self) -> int:
        """The number of alerts that would have fired."""
        return sum(event.event == "fired" for event in self.events)


def preview(reader: HistoryReader, identity: str, rule: AlertRule, now: datetime) -> Preview:
    """Evaluate a rule on the recorded past, even if it is disabled. Raises sqlite3.Error.

    Conditions are evaluated on hourly means and on the present facts, such as limits.
    """
    span = reader.span()
    if span is None or span[0] >= now:
        return Preview()
    since = max(now - PREVIEW_SPAN, span[0])
    rule = rule.model_copy(update={"enabled": True})
    evaluator = Evaluator({identity: rule}, facts=reader.facts_at(now))
    evaluated = of = 1
    if isinstance(rule, ConditionRule):
        subjects = _subjects(reader, rule, evaluator)
        evaluated, of = min(len(subjects), MOST_SUBJECTS), len(subjects)
        for subject in subjects[:MOST_SUBJECTS]:
            facts = evaluator.facts_of(subject)
            for at, values in _hours(reader, rule, subject, since, now):
                for moment in (at, min(at + _HOUR - _SECOND, now)):
                    reading = RuleReading(values, facts, moment)
                    evaluator.apply_reading(subject, reading, 2 * _HOUR)
    else:
        changes = reader.changes(since, now, {rule.kind.resource}, limit=MOST_CHANGES)
        evaluator.apply_changes(tuple(reversed(changes)))
        evaluator.end_expired(now)
    events = sorted(evaluator.take_result().events, key=lambda event: event.at)
    still = sum(alert.status.is_alerting for alert in evaluator.alerts.values())
    return Preview(tuple(events), now - since, evaluated, of, still)


def _subjects(
    reader: HistoryReader, rule: ConditionRule, evaluator: Evaluator
) -> Sequence[Subject]:
    figures = (kinds.BALANCE,) if isinstance(rule, RunwayRule) else rule.figures
    recorded = dict.fromkeys(
        Subject(*key[:2])
        for figure in figures
        for key in reader.series(rule.kind.resource, None, figure)
    )
    return [
        subject for subject in recorded if rule.watches(subject, evaluator.facts.get(subject, {}))
    ]


def _hours(
    reader: HistoryReader, rule: ConditionRule, subject: Subject, since: datetime, until: datetime
) -> Iterator[Hour]:
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
    begin = since - max(WINDOWS)
    used = [
        UsedTotal(point.at + _HOUR, point.last)
        for point in _points(reader, subject, kinds.TOTAL_USAGE, begin, until)
        if point.last is not None
    ]
    for point in _points(reader, subject, kinds.BALANCE, since, until):
        end = point.at + _HOUR
        recent = [total for total in used if end - max(WINDOWS) - _HOUR <= total.at <= end]
        yield end, {RUNWAY: _days_left(point.last, recorded_rates(recent, end))}


def _points(
    reader: HistoryReader, subject: Subject, figure: str, since: datetime, until: datetime
) -> Sequence[Point]:
    key = SeriesKey(*subject, figure)
    curve = reader.points(key, since, until, resolution=_HOUR.total_seconds())
    return [point for point in (() if curve is None else curve.points) if point.state != "gap"]
