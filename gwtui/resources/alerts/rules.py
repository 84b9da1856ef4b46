"""The rules of alerts: what is watched, and from when on it is told."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from gwtui.contract.request import field_rules
from gwtui.crud import cells
from gwtui.crud.columns import text_column
from gwtui.crud.resource import Cell, Column, DetailRow, ResourceSpec, Section
from gwtui.domain.alert_rules import AlertRule, BoundRule, ConditionRule, EventRule
from gwtui.domain.money import quantity
from gwtui.domain.times import duration
from gwtui.resources.alerts.resource import severity_cell
from gwtui.watch.alerts.rule_kinds import signal_of
from gwtui.watch.feeds.alerts import RuleRow, alert_rules_feed


def state_cell(row: RuleRow) -> Cell:
    """Whether it is watched, in a word."""
    if not row.rule.enabled:
        return Cell("off", "muted")
    return Cell("on", "good") if row.here else Cell("elsewhere", "muted")


def scope_cell(rule: AlertRule) -> Cell:
    """What it watches."""
    if rule.scope == "all":
        return Cell("all", "muted")
    return cells.text(f"{rule.scope} {rule.only}")


COLUMNS: tuple[Column[RuleRow], ...] = (
    text_column("name", "Rule", lambda row: row.name, 26, 0, help="what it is called"),
    Column(
        "state",
        "State",
        lambda row, _now: state_cell(row),
        lambda row, _now: state_cell(row).text,
        9,
        1,
        help="on, off, or elsewhere: for another profile",
    ),
    text_column(
        "demand",
        "Fires",
        lambda row: signal_of(row.rule).demand(row.rule),
        34,
        2,
        help="from when on it is an alert",
    ),
    Column(
        "severity",
        "Severity",
        lambda row, _now: severity_cell(row.rule.severity),
        lambda row, _now: row.rule.severity,
        8,
        3,
        help="warning or critical",
    ),
    Column(
        "scope",
        "Watches",
        lambda row, _now: scope_cell(row.rule),
        lambda row, _now: scope_cell(row.rule).text,
        20,
        4,
        help="everything, or one by its identifier",
    ),
    text_column("kind", "Kind", lambda row: row.rule.KIND, 22, 5, help="what it measures"),
)


def _what(row: RuleRow, _now: datetime) -> Sequence[DetailRow]:
    rule = row.rule
    origin = "built in" if row.built_in else "your own"
    return [
        DetailRow("state", state_cell(row)),
        DetailRow("tells that", Cell(rule.ABOUT)),
        DetailRow("watches", scope_cell(rule)),
        DetailRow("severity", severity_cell(rule.severity)),
        DetailRow("profile", cells.text(rule.profile or "every one")),
        DetailRow("origin", Cell(f"{origin}, changed" if row.built_in and row.edited else origin)),
        DetailRow("id", cells.text(row.id), "in alerts.toml"),
    ]


def _bounds(row: RuleRow, _now: datetime) -> Sequence[DetailRow]:
    rule = row.rule
    rows = [DetailRow("fires", Cell(signal_of(rule).demand(rule)))]
    if isinstance(rule, BoundRule):
        unit = field_rules(type(rule))["clears_at"].unit
        side = "from" if rule.DIRECTION == "below" else "down to"
        rows.append(DetailRow("clears", Cell(f"{side} {quantity(rule.clears_at, unit)}")))
    if isinstance(rule, ConditionRule):
        rows.append(DetailRow("must last", Cell(duration(rule.fire_after)), "before it fires"))
        rows.append(DetailRow("must be well", Cell(duration(rule.clear_after)), "before it clears"))
    if isinstance(rule, EventRule):
        rows.append(DetailRow("shown for", Cell(duration(rule.keep_for)), "unless acknowledged"))
    return rows


ALERT_RULES: ResourceSpec[RuleRow] = ResourceSpec(
    id="alert-rules",
    title="Alert rules",
    singular="rule",
    identity=lambda row: row.id,
    name=lambda row: cells.text(row.name).text,
    columns=COLUMNS,
    sections=(Section("What", _what), Section("When", _bounds)),
    feed=lambda hub, _scope: alert_rules_feed(hub),
    raw=lambda row: {"id": row.id, "kind": row.rule.KIND, **row.rule.body()},
    empty="There is no rule: {alert-rules.create} makes one.",
    default_sort=("name", False),
    facets={"id": lambda row, _now: row.id, "profile": lambda row, _now: row.rule.profile or ""},
)
