"""Runs rules over readings. Holds everything in memory; the same for now and for the past."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from decimal import Context, Decimal
from itertools import groupby

from gwtui.contract.models import PER_TOKEN_KEYS
from gwtui.domain.alert_rules import (
    AlertRule,
    ConditionRule,
    EventRule,
    GoneRule,
    PriceRule,
    names_apart,
)
from gwtui.domain.alert_state import QUIET, AlertStep, Bounds, Timing, lapse, occur, step
from gwtui.domain.money import per_million, percent_points, usd
from gwtui.domain.runway import UsedCurve, UsedTotal
from gwtui.domain.safe_text import safe_line
from gwtui.watch.alerts.model import GUARDED, Alert, AlertEvent, AlertKey, EventKind, Findings
from gwtui.watch.alerts.rule_kinds import (
    RUNWAY,
    RuleReading,
    Signal,
    resource_of,
    signal_of,
    subject_name,
    watches,
)
from gwtui.watch.history import model as figures
from gwtui.watch.history import model as kinds
from gwtui.watch.history.deadline import in_time
from gwtui.watch.history.model import Fields, Observation, RecordedChange, Subject
from gwtui.watch.history.writer import gap_after

_HUNDRED = Decimal(100)
_PRICE = "price_"
_SAID = 300


@dataclass(frozen=True, slots=True)
class AlertTransition:
    """Something that happened with a subject, in words."""

    subject: Subject
    at: datetime
    name: str
    said: str


def transitions_of(rule: EventRule, changes: Sequence[RecordedChange]) -> Iterator[AlertTransition]:
    """The transitions that a rule reports for these changes.

    Changes of one subject at one moment are one transition.
    """
    if isinstance(rule, GoneRule):
        for change in changes:
            if change.kind == kinds.ENDPOINT_GONE:
                yield AlertTransition(
                    change.subject, change.at, change.name, "not offered any more"
                )
    elif isinstance(rule, PriceRule):
        priced = [change for change in changes if change.kind == kinds.ENDPOINT_PRICE]
        for (subject, at), together in groupby(priced, key=lambda one: (one.subject, one.at)):
            found = list(together)
            if any(_counts(rule, change) for change in found):
                said = safe_line(", ".join(_words(change) for change in found), _SAID)
                yield AlertTransition(subject, at, found[0].name, said)


def _counts(rule: PriceRule, change: RecordedChange) -> bool:
    """Whether a change is large enough; what cannot be compared is."""
    before, after = _amount(change.before), _amount(change.after)
    if before is None or after is None or not before:
        return True
    return abs(after - before) / before * _HUNDRED >= rule.at_least


def _words(change: RecordedChange) -> str:
    if not change.field.startswith(_PRICE):
        return f"{change.field.replace('_', ' ')} changed"
    key = change.field.removeprefix(_PRICE)
    before, after = _amount(change.before), _amount(change.after)
    shown = per_million if key in PER_TOKEN_KEYS else usd
    unit = " per million tokens" if key in PER_TOKEN_KEYS else ""
    words = f"{key.replace('_', ' ')} {shown(before)} → {shown(after)}{unit}"
    if before and after is not None:
        sign = "+" if after > before else "-"
        words += f" ({sign}{percent_points(abs(after - before) / before * _HUNDRED)})"
    return words


def _amount(value: object) -> Decimal | None:
    """Prices in facts are decimal text; a negative one varies."""
    try:
        found = Decimal(str(value)) if isinstance(value, str) else None
    except ArithmeticError:
        return None
    return None if found is None or found < 0 else found


_NO_FACTS: Fields = {}
_CREDITS = "credits"
_KEPT = Context(prec=12)


@dataclass(frozen=True, slots=True)
class _WatchedRule:
    """A rule on a condition with what it is made of."""

    id: str
    rule: ConditionRule
    signal: Signal
    bounds: Bounds
    timing: Timing


class Evaluator:
    """How every condition stands. Readings must come in the order of time.

    What a pass found is taken with ``take``: events in order, and the alerts that changed. Without
    ``wordy``, what is said of an alert is as it was when it began.
    """

    def __init__(
        self,
        rules: Mapping[str, AlertRule],
        *,
        alerts: Iterable[Alert] = (),
        facts: Mapping[Subject, Fields] | None = None,
        curve: UsedCurve | None = None,
        wordy: bool = True,
    ) -> None:
        self.rules: Mapping[str, AlertRule] = {}
        self._names: Mapping[str, str] = {}
        self.facts: dict[Subject, Fields] = dict(facts or {})
        self.curve = curve or UsedCurve()
        self._alerts = {alert.key: alert for alert in alerts}
        self._statuses = {key: alert.status for key, alert in self._alerts.items()}
        self._wordy = wordy
        self._found = Findings()
        self._conditions: dict[str, list[_WatchedRule]] = {}
        self._events: list[tuple[str, EventRule]] = []
        self._sort(rules)

    @property
    def alerts(self) -> Mapping[AlertKey, Alert]:
        """Every condition that is not quiet."""
        return self._alerts

    def take(self) -> Findings:
        """What was found since the last call."""
        found, self._found = self._found, Findings()
        return found

    # What comes in ----------------------------------------------------------------------------

    def set_rules(self, rules: Mapping[str, AlertRule], at: datetime) -> None:
        """Other rules hold from now on; alerts of rules that are gone or switched off end."""
        self._sort(rules)
        for key, alert in list(self._alerts.items()):
            rule = self.rules.get(key.rule)
            facts = self._facts_of(key.subject)
            if rule is None or not rule.enabled:
                self._end(alert, at, "the rule is switched off")
            elif not watches(rule, key.subject, facts):
                self._end(alert, at, "the rule does not watch it any more")
            elif (alert.title, alert.severity) != (self._names[key.rule], rule.severity):
                self._keep(replace(alert, title=self._names[key.rule], severity=rule.severity))

    def observe(self, seen: Observation) -> None:
        """Take a reading of the gateway into account."""
        self._learn(seen)
        values: dict[Subject, dict[str, Decimal | None]] = {}
        for sample in seen.samples:
            subject = Subject(sample.series.key.resource, sample.series.key.identity)
            values.setdefault(subject, {})[sample.series.key.figure] = sample.value
        patience = timedelta(seconds=gap_after(seen.every))
        for subject in dict.fromkeys((*seen.facts, *values)):
            in_time()
            self.read(subject, values.get(subject, {}), seen.at, patience)

    def read(
        self,
        subject: Subject,
        values: Mapping[str, Decimal | None],
        at: datetime,
        patience: timedelta,
    ) -> None:
        """Take the figures of one subject into account."""
        if subject.resource == _CREDITS:
            values = self._with_runway(values, at)
        rules = self._conditions.get(subject.resource)
        if not rules:
            return
        reading = RuleReading(values, self._facts_of(subject), at)
        for watched in rules:
            if watches(watched.rule, subject, reading.facts):
                self._weigh(watched, subject, reading, patience)

    def change(self, changes: Sequence[RecordedChange]) -> None:
        """Take changes of facts into account, oldest first."""
        for identity, rule in self._events:
            for one in transitions_of(rule, changes):
                if watches(rule, one.subject, self._facts_of(one.subject)):
                    self._happened(
                        AlertKey(identity, one.subject), rule, one.at, one.name, one.said
                    )
            if isinstance(rule, GoneRule):
                for change in changes:
                    alert = self._alerts.get(AlertKey(identity, change.subject))
                    if change.kind == kinds.ENDPOINT_APPEARED and alert is not None:
                        self._end(alert, change.at, "it is offered again")

    def acknowledge(self, keys: Iterable[AlertKey], at: datetime) -> None:
        """A person knows: what merely happened is over then."""
        for key in keys:
            alert, rule = self._alerts.get(key), self.rules.get(key.rule)
            if alert is not None and isinstance(rule, EventRule):
                self._end(alert, at, "acknowledged")

    def pass_time(self, at: datetime) -> None:
        """What happened long ago is no alert any more."""
        for key, alert in list(self._alerts.items()):
            rule = self.rules.get(key.rule)
            if isinstance(rule, EventRule):
                found = lapse(alert.status, at, rule.keep_for)
                if found.transition == "cleared":
                    self._end(alert, at, "no news any more")

    # Inside -----------------------------------------------------------------------------------

    def _sort(self, rules: Mapping[str, AlertRule]) -> None:
        self.rules = dict(rules)
        self._names = names_apart(rules)
        self._conditions = {}
        self._events = []
        for identity, rule in self.rules.items():
            if not rule.enabled:
                continue
            if isinstance(rule, ConditionRule):
                watched = _WatchedRule(identity, rule, signal_of(rule), rule.bounds, rule.timing)
                self._conditions.setdefault(resource_of(rule), []).append(watched)
            elif isinstance(rule, EventRule):
                self._events.append((identity, rule))

    def _facts_of(self, subject: Subject) -> Fields:
        """What is known of a subject; of a model under a guardrail it is the guardrail's."""
        if subject.resource == GUARDED:
            subject = Subject("guardrail", subject.identity.partition(" ")[0])
        return self.facts.get(subject, _NO_FACTS)

    def _learn(self, seen: Observation) -> None:
        """Bring the facts up to date: null takes one away, one that is not mentioned stays."""
        for subject, fields in seen.facts.items():
            in_time()
            merged = {**self.facts.get(subject, _NO_FACTS), **fields}
            self.facts[subject] = {name: one for name, one in merged.items() if one is not None}
        if seen.covers is None:
            return
        resource, prefix = seen.covers
        there = {*seen.facts, *(Subject(*sample.series.key[:2]) for sample in seen.samples)}
        known = {*self.facts, *(key.subject for key in self._alerts)}
        for subject in sorted(known - there):
            if subject.resource == resource and subject.identity.startswith(prefix):
                self.facts.pop(subject, None)
                self._lost(subject, seen.at)

    def _lost(self, subject: Subject, at: datetime) -> None:
        """It is not there any more: nothing about it can last."""
        for key, alert in list(self._alerts.items()):
            if key.subject == subject and isinstance(self.rules.get(key.rule), ConditionRule):
                self._end(alert, at, "it is not there any more")

    def _with_runway(
        self, values: Mapping[str, Decimal | None], at: datetime
    ) -> Mapping[str, Decimal | None]:
        total = values.get(figures.TOTAL_USAGE)
        if total is not None:
            self.curve.add(UsedTotal(at, total))
            self.curve.forget(at)
        return {**values, RUNWAY: self.curve.days_left(values.get(figures.BALANCE), at)}

    def _weigh(
        self, watched: _WatchedRule, subject: Subject, reading: RuleReading, patience: timedelta
    ) -> None:
        value = watched.signal.measure(watched.rule, reading)
        if value is None:
            return
        key = AlertKey(watched.id, subject)
        before = self._statuses.get(key, QUIET)
        evidence = watched.bounds.evidence(value)
        if before is QUIET and evidence != "bad":
            return
        found = step(before, evidence, reading.at, watched.timing, patience)
        if found.status is before:
            return
        if found.status.state == before.state:
            self._statuses[key] = found.status
            if evidence == "bad" and self._wordy:
                self._say_anew(watched, key, value, reading)
            return
        alert = self._alerts.get(key)
        if alert is None:
            rule = watched.rule
            name = subject_name(subject, reading.facts)
            alert = Alert(key, QUIET, rule.severity, self._names[key.rule], name)
        if evidence == "bad":
            said = watched.signal.said(watched.rule, value, reading)
            alert = replace(alert, said=said, value=_kept(value))
        self._stepped(alert, found, reading.at)

    def _say_anew(
        self, watched: _WatchedRule, key: AlertKey, value: Decimal, reading: RuleReading
    ) -> None:
        """It lasts: what is said of it follows the figure."""
        alert, said = self._alerts[key], watched.signal.said(watched.rule, value, reading)
        if said != alert.said:
            self._keep(replace(alert, said=said, value=_kept(value)))

    def _happened(self, key: AlertKey, rule: EventRule, at: datetime, name: str, said: str) -> None:
        called = subject_name(key.subject, {**self.facts.get(key.subject, {}), "name": name})
        alert = Alert(key, QUIET, rule.severity, self._names[key.rule], called, said)
        self._stepped(alert, occur(at), at)

    def _stepped(self, alert: Alert, found: AlertStep, at: datetime) -> None:
        """Keep an alert in its new state, and tell what happened."""
        if found.transition == "cleared":
            self._end(alert, at, "")
            return
        if found.status.state == "quiet":
            self._forget(alert)
            return
        alert = replace(alert, status=found.status)
        if found.transition == "fired":
            alert = replace(alert, fired_at=at, acknowledged_at=None, acknowledged_by="")
            self._tell("fired", alert, at, alert.said)
        self._statuses[alert.key] = found.status
        self._keep(alert)

    def _keep(self, alert: Alert) -> None:
        self._alerts[alert.key] = alert
        self._found.changed[alert.key] = alert

    def _forget(self, alert: Alert) -> None:
        self._alerts.pop(alert.key, None)
        self._statuses.pop(alert.key, None)
        self._found.changed[alert.key] = replace(alert, status=QUIET)

    def _end(self, alert: Alert, at: datetime, why: str) -> None:
        """It is over; one that never fired goes without a word."""
        self._forget(alert)
        if alert.status.alerting:
            self._tell("cleared", alert, at, why or "well again")

    def _tell(self, event: EventKind, alert: Alert, at: datetime, said: str) -> None:
        self._found.events.append(
            AlertEvent(
                at, event, alert.key, alert.severity, alert.title, alert.name, said, alert.value
            )
        )


def _kept(value: Decimal) -> Decimal:
    """As exact as anybody needs it to be told."""
    return value.normalize(_KEPT)
