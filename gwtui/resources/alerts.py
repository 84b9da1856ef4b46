"""Alerts: active alerts, rules, history, and the forms to edit rules."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from datetime import datetime, timedelta
from itertools import chain, count
from typing import Annotated, Any

from pydantic import Field

from gwtui.contract.request import RequestModel, field_rules
from gwtui.contract.scalars import timestamp_text
from gwtui.crud import cells, fields
from gwtui.crud.cells import moment_column, text_column, word_column
from gwtui.crud.fields import Choices, PreviewContext
from gwtui.crud.form import FormSpec
from gwtui.crud.resource import Cell, Column, DetailRow, ResourceSpec, Section, SortValue, Tone
from gwtui.domain.alert_rules import (
    AlertRule,
    BoundRule,
    ConditionRule,
    EventRule,
    Severity,
    default_rules,
)
from gwtui.domain.money import quantity
from gwtui.domain.times import duration, local_preview, utc
from gwtui.watch.alerts.model import Alert, AlertEvent, EventKind
from gwtui.watch.feeds.alerts import RuleRow, alert_history_feed, alert_rules_feed, alerts_feed

SEVERITY_TONES: Mapping[Severity, Tone] = {"warning": "warn", "critical": "bad"}

_EVENT_TONES: Mapping[EventKind, Tone] = {
    "fired": "bad",
    "cleared": "good",
    "acknowledged": "accent",
    "silenced": "muted",
    "unsilenced": "accent",
}


def severity_cell(severity: Severity) -> Cell:
    """The severity as a coloured word."""
    return Cell(severity, SEVERITY_TONES[severity])


def state_cell(alert: Alert) -> Cell:
    """The state of an alert, such as "firing", as a coloured word."""
    if not alert.status.is_alerting:
        return Cell("pending", "muted")
    if alert.silenced_until is not None:
        return Cell("silenced", "muted")
    if alert.acknowledged_at is not None:
        return Cell("known", "accent")
    if alert.status.state == "clearing":
        return Cell("recovering", "warn")
    return Cell("firing", SEVERITY_TONES[alert.severity])


def event_cell(event: AlertEvent) -> Cell:
    """The kind of an alert event as a coloured word."""
    tone = SEVERITY_TONES[event.severity] if event.event == "fired" else _EVENT_TONES[event.event]
    return Cell(event.event, "muted" if event.quiet else tone)


def active_alerts(alerts: Sequence[Alert]) -> list[Alert]:
    """Return the firing alerts that are neither acknowledged nor silenced, critical ones first.

    Alerts of the same severity are ordered by age, the newest first.
    """
    shown = [alert for alert in alerts if alert.loud]
    shown.sort(key=lambda alert: alert.fired_at.timestamp() if alert.fired_at else 0, reverse=True)
    shown.sort(key=lambda alert: alert.severity != "critical")
    return shown


def alert_count_cell(alerts: Sequence[Alert]) -> Cell | None:
    """The number of active alerts for the header; None if there are none."""
    shown = active_alerts(alerts)
    if not shown:
        return None
    words = "1 ALERT" if len(shown) == 1 else f"{len(shown)} ALERTS"
    return Cell(words, SEVERITY_TONES[shown[0].severity])


def alerts_line(alerts: Sequence[Alert]) -> Cell | None:
    """The active alerts on one line, the most severe first; None if there are none."""
    shown = active_alerts(alerts)
    if not shown:
        return None
    first = shown[0]
    more = f" · {len(shown) - 1} more" if len(shown) > 1 else ""
    text = f"{first.severity}: {first.title}: {first.name}: {first.message}{more}"
    return Cell(text, SEVERITY_TONES[first.severity])


_GRAVE = {"critical": 0, "warning": 1}


def _gravity(alert: Alert, _now: datetime) -> SortValue:
    fired = 0 if alert.fired_at is None else int(alert.fired_at.timestamp())
    return f"{0 if fired else 1}{_GRAVE[alert.severity]}{2**40 - fired:014}"


COLUMNS: tuple[Column[Alert], ...] = (
    text_column(
        "name",
        "Resource",
        lambda alert: alert.name,
        22,
        help="the resource that it is about",
        grow=True,
    ),
    Column(
        "state",
        "State",
        lambda alert, _now: state_cell(alert),
        _gravity,
        10,
        help="pending, firing, recovering, known (acknowledged) or silenced",
        export=lambda alert, _now: state_cell(alert).text,
    ),
    text_column("message", "Message", lambda alert: alert.message, 32, help="the problem"),
    Column(
        "severity",
        "Severity",
        lambda alert, _now: severity_cell(alert.severity),
        lambda alert, _now: alert.severity,
        8,
        help="warning or critical",
    ),
    moment_column("fired", "Since", lambda alert: alert.fired_at, 10, "when it fired"),
    text_column("rule", "Rule", lambda alert: alert.title, 22, help="which rule it is"),
    text_column(
        "who", "Known to", lambda alert: alert.acknowledged_by or None, 14, help="who knows"
    ),
)


_ABOUT: Section[Any] = Section(
    "About",
    lambda alert, _now: [
        DetailRow("rule", cells.text(alert.title), cells.text(alert.key.rule).text),
        DetailRow("resource", cells.text(alert.name)),
        DetailRow("kind", cells.text(alert.key.subject.resource)),
        DetailRow("id", cells.text(alert.key.subject.identity)),
    ],
)


def _who(alert: Alert, now: datetime) -> Sequence[DetailRow]:
    nobody = Cell("nobody", "muted")
    known = cells.text(alert.acknowledged_by) if alert.acknowledged_by else nobody
    return [
        DetailRow("acknowledged by", known),
        cells.moment_row("acknowledged", alert.acknowledged_at, now, Cell("not yet", "muted")),
        cells.moment_row(
            "silenced until", alert.silenced_until, now, Cell("not silenced", "muted")
        ),
    ]


def identity(alert: Alert) -> str:
    """Return the identity of an alert: its rule and subject."""
    return "\n".join((alert.key.rule, *alert.key.subject))


ALERTS: ResourceSpec[Alert] = ResourceSpec(
    id="alerts",
    title="Alerts",
    singular="alert",
    identity=identity,
    has_id=False,
    name=lambda alert: cells.text(f"{alert.title}: {alert.name}").text,
    columns=COLUMNS,
    sections=(
        Section(
            "Alert",
            lambda alert, now: [
                DetailRow("state", state_cell(alert)),
                DetailRow("severity", severity_cell(alert.severity)),
                DetailRow("message", cells.prose(alert.message)),
                cells.moment_row("fired", alert.fired_at, now),
                cells.moment_row("state since", alert.status.since, now),
            ],
        ),
        _ABOUT,
        Section("Acknowledgement", _who),
    ),
    feed=alerts_feed,
    raw=lambda alert: {
        "rule": alert.key.rule,
        "resource": alert.key.subject.resource,
        "identity": alert.key.subject.identity,
        "name": alert.name,
        "title": alert.title,
        "state": alert.status.state,
        "severity": alert.severity,
        "message": alert.message,
        "value": alert.value,
        "since": alert.fired_at and timestamp_text(alert.fired_at),
        "acknowledged_by": alert.acknowledged_by or None,
        "silenced_until": alert.silenced_until and timestamp_text(alert.silenced_until),
    },
    empty="No alert is firing. {alerts.rules} lists the rules, {alerts.history} shows past alerts.",
    default_sort=("state", False),
    facets={
        "state": lambda alert, _now: state_cell(alert).text,
        "resource": lambda alert, _now: alert.key.subject.resource,
        "identity": lambda alert, _now: alert.key.subject.identity,
        "id": lambda alert, _now: alert.key.rule,
    },
)

EVENT_COLUMNS: tuple[Column[AlertEvent], ...] = (
    text_column(
        "name",
        "Resource",
        lambda event: event.name,
        20,
        help="the resource that it is about",
        grow=True,
    ),
    Column(
        "event",
        "Event",
        lambda event, _now: event_cell(event),
        lambda event, _now: event.event,
        12,
        help="fired, cleared, acknowledged, silenced or unsilenced",
    ),
    moment_column("at", "When", lambda event: event.at, 10, "when it happened"),
    text_column(
        "message", "Message", lambda event: event.message, 28, help="the problem, or the reason"
    ),
    text_column("rule", "Rule", lambda event: event.title, 22, help="which rule it is"),
    text_column("who", "Who", lambda event: event.who or None, 14, help="who did it"),
    Column(
        "severity",
        "Severity",
        lambda event, _now: severity_cell(event.severity),
        lambda event, _now: event.severity,
        8,
        help="warning or critical",
    ),
)


def _event_rows(event: AlertEvent, now: datetime) -> Sequence[DetailRow]:
    rows = [
        DetailRow(
            "event", event_cell(event), "silenced: no notification was sent" if event.quiet else ""
        ),
        cells.moment_row("at", event.at, now),
        DetailRow("message", cells.prose(event.message)),
        DetailRow("severity", severity_cell(event.severity)),
    ]
    if event.who:
        rows.append(DetailRow("by", cells.text(event.who)))
    if event.until is not None:
        rows.append(cells.moment_row("until", event.until, now))
    return rows


ALERT_HISTORY: ResourceSpec[AlertEvent] = ResourceSpec(
    id="alert-history",
    title="Alert events",
    singular="event",
    identity=lambda event: str(event.id),
    name=lambda event: cells.text(f"{event.title}: {event.name}").text,
    columns=EVENT_COLUMNS,
    sections=(
        Section("Alert", _event_rows),
        _ABOUT,
    ),
    feed=alert_history_feed,
    raw=lambda event: event.as_json(),
    empty="No alert has fired yet. :alert-rules lists the rules.",
    default_sort=("at", True),
    facets={
        "resource": lambda event, _now: event.key.subject.resource,
        "identity": lambda event, _now: event.key.subject.identity,
        "id": lambda event, _now: event.key.rule,
    },
)


def rule_state_cell(row: RuleRow) -> Cell:
    """The state of a rule: on, off, or "elsewhere" for a rule of another profile."""
    if not row.rule.enabled:
        return Cell("off", "muted")
    return Cell("on", "good") if row.here else Cell("elsewhere", "muted")


def scope_cell(rule: AlertRule) -> Cell:
    """The subjects that a rule applies to."""
    if rule.scope == "all":
        return Cell("all", "muted")
    return cells.text(f"only {rule.scope} {rule.only}")


RULE_COLUMNS: tuple[Column[RuleRow], ...] = (
    text_column("name", "Rule", lambda row: row.name, 26, help="its name", grow=True),
    word_column(
        "state",
        "State",
        rule_state_cell,
        9,
        "on, off, or elsewhere: for another profile",
    ),
    text_column(
        "demand",
        "Fires",
        lambda row: row.rule.demand,
        34,
        help="the condition under which it fires",
    ),
    Column(
        "severity",
        "Severity",
        lambda row, _now: severity_cell(row.rule.severity),
        lambda row, _now: row.rule.severity,
        8,
        help="warning or critical",
    ),
    word_column(
        "scope",
        "Watches",
        lambda row: scope_cell(row.rule),
        20,
        "all resources, or the id of the only one that it watches",
    ),
    text_column("kind", "Kind", lambda row: row.rule.kind.id, 22, help="what it measures"),
)


def _rule_rows(row: RuleRow, _now: datetime) -> Sequence[DetailRow]:
    rule = row.rule
    origin = "built in" if row.built_in else "your own"
    return [
        DetailRow("state", rule_state_cell(row)),
        DetailRow("meaning", Cell(rule.kind.about)),
        DetailRow("advice", Cell(rule.kind.advice)),
        DetailRow("watches", scope_cell(rule)),
        DetailRow("severity", severity_cell(rule.severity)),
        DetailRow("profile", cells.text(rule.profile or "all")),
        DetailRow("origin", Cell(f"{origin}, changed" if row.built_in and row.edited else origin)),
        DetailRow("id", cells.text(row.id), "in alerts.toml"),
    ]


def _rule_bounds(row: RuleRow, _now: datetime) -> Sequence[DetailRow]:
    rule = row.rule
    rows = [DetailRow("fires", Cell(rule.demand))]
    if isinstance(rule, BoundRule):
        unit = field_rules(type(rule))["clears_at"].unit
        side = "from" if rule.kind.direction == "below" else "down to"
        rows.append(DetailRow("clears", Cell(f"{side} {quantity(rule.clears_at, unit)}")))
    if isinstance(rule, ConditionRule):
        rows.append(DetailRow("must last", Cell(duration(rule.fire_after)), "before it fires"))
        rows.append(
            DetailRow("clears after", Cell(duration(rule.clear_after)), "without the condition")
        )
    if isinstance(rule, EventRule):
        rows.append(DetailRow("shown for", Cell(duration(rule.keep_for)), "unless acknowledged"))
    return rows


ALERT_RULES: ResourceSpec[RuleRow] = ResourceSpec(
    id="alert-rules",
    title="Alert rules",
    singular="rule",
    identity=lambda row: row.id,
    name=lambda row: cells.text(row.name).text,
    columns=RULE_COLUMNS,
    sections=(Section("Rule", _rule_rows), Section("Conditions", _rule_bounds)),
    feed=alert_rules_feed,
    raw=lambda row: {"id": row.id, "kind": row.rule.kind.id, **row.rule.body()},
    empty="There is no rule: {alert-rules.create} makes one.",
    default_sort=("name", False),
    facets={"id": lambda row, _now: row.id, "profile": lambda row, _now: row.rule.profile or ""},
)


_ORDER = (
    "name",
    "window",
    "percentile",
    "interval",
    "fires_at",
    "clears_at",
    "within",
    "at_least",
    "fire_after",
    "clear_after",
    "keep_for",
    "severity",
    "scope",
    "only",
    "profile",
    "enabled",
)
_LABELS = {
    "name": "Name",
    "window": "Uptime of the last",
    "percentile": "Percentile",
    "interval": "Budget",
    "within": "Expires within",
    "at_least": "Changes by",
    "fire_after": "Must last",
    "clear_after": "Clears after",
    "keep_for": "Shown for",
    "severity": "Severity",
    "scope": "Watches",
    "profile": "Profile",
    "enabled": "Enabled",
}
_SIDES = {"below": ("Fires below", "Clears at"), "above": ("Fires at", "Clears at")}


class SilenceRequest(RequestModel):
    """The form model of a silence: its duration."""

    lasts: Annotated[timedelta, Field(ge=timedelta(minutes=1), le=timedelta(days=30))] = Field(
        description="notifications resume afterwards if the alert still fires"
    )


def rule_form(
    rule: AlertRule | None,
    model: type[AlertRule],
    choices: Choices,
    taken: Collection[str] = (),
) -> FormSpec:
    """Return the form of a rule; for a new one (None), preset from the built-in rule of its kind.

    ``taken`` are the names of all other rules: a new rule is preset with an unused name.
    """
    begun = rule or next(builtin for builtin in default_rules().values() if type(builtin) is model)
    initial = {name: getattr(begun, name) for name in model.model_fields}
    if rule is None:
        numbered = (f"{begun.name} {number}" for number in count(2))
        free = next(name for name in chain([begun.name], numbered) if name not in taken)
        initial |= {"enabled": True, "name": free}
    return FormSpec(
        title=f"{'New rule' if rule is None else 'Rule'} · {model.kind.title}",
        model=model,
        fields=[_field(model, name, choices) for name in _ORDER if _edited(model, name)],
        submit="Save rule",
        sends="saves",
        initial=initial,
    )


def silence_form(count: int) -> FormSpec:
    """Return the form that asks how long to silence ``count`` alerts."""
    what = "the alert" if count == 1 else f"{count} alerts"
    return FormSpec(
        title=f"Silence {what}",
        model=SilenceRequest,
        fields=(fields.Field("lasts", "For", placeholder="such as 2 h", preview=_until),),
        submit="Silence",
        sends="silences",
        initial={"lasts": timedelta(hours=1)},
    )


def _edited(model: type[AlertRule], name: str) -> bool:
    if name not in model.model_fields:
        return False
    if name == "only":
        return len(field_rules(model)["scope"].choices) > 1
    return name != "scope" or len(field_rules(model)["scope"].choices) > 1


def _field(model: type[AlertRule], name: str, choices: Choices) -> fields.Field:
    rules = field_rules(model)[name]
    label = _LABELS.get(name, name)
    if name in {"fires_at", "clears_at"} and issubclass(model, BoundRule):
        label = _SIDES[model.kind.direction][name == "clears_at"]
    if rules.unit:
        label = f"{label} ({rules.unit})"
    if name == "only":
        scopes = [scope for scope in field_rules(model)["scope"].choices if scope != "all"]
        label = " or ".join(scopes).capitalize()
        hint = "{form.choices} lists them"
        return fields.Field(name, label, choices=choices, placeholder=hint)
    hints = {"profile": "every profile", "fire_after": "such as 5 min", "clear_after": "5 min"}
    return fields.Field(name, label, placeholder=hints.get(name, ""))


def _until(value: timedelta, _values: Mapping[str, Any], context: PreviewContext) -> Cell:
    end = context.now() + value
    return Cell(f"until {utc(end)} · here {local_preview(end, context.zone)}")
