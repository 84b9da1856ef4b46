"""Alerts, findings, ``gwtui check`` and the shipped rules of Prometheus say the same."""

from __future__ import annotations

import re
from datetime import timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from gwtui.cli.check import rules_of
from gwtui.cli.check_sources import CheckContext, Severity, check_all, worst_of
from gwtui.domain.alert_rules import (
    AlertRule,
    BoundRule,
    ConditionRule,
    EventRule,
    KeyExpiryRule,
    StatusRule,
    UnreadableRule,
    default_rules,
)
from gwtui.domain.clock import Clock
from gwtui.domain.findings import AccountFacts, find
from gwtui.watch.alerts.evaluator import Evaluator
from gwtui.watch.feeds.keys import keys_feed
from gwtui.watch.history.observers import ObservedReading, observe_keys
from gwtui.watch.hub import FeedHub, Scope
from recorded_gateway_kit import World
from resource_samples import NOW, WORKSPACE_ID, key, wire_time, workspace

RULES_FILE = Path(__file__).resolve().parents[2] / "docs" / "prometheus" / "gwtui.rules.yml"
NOT_EXPORTED = {"endpoint-gone", "guardrail-leaves-none"}
IN_BASE_UNITS = {"USD": Decimal(1), "days": Decimal(1), "%": Decimal("0.01")}


def shipped() -> dict[str, dict[str, str]]:
    """Expression, duration and severity of each rule of Prometheus, by its name."""
    found = {}
    for block in RULES_FILE.read_text().split("- alert: ")[1:]:
        name, _, rest = block.partition("\n")
        expression = re.search(r"expr: (?:>-)?(.*?)\n        (?:for|labels):", rest, re.DOTALL)
        lasts = re.search(r"for: (\w+)", rest)
        severity = re.search(r"severity: (\w+)", rest)
        assert expression
        assert severity
        found[name] = {
            "expr": " ".join(expression[1].split()),
            "for": lasts[1] if lasts else "0m",
            "severity": severity[1],
        }
    return found


def compared(rule: AlertRule) -> str:
    """How Prometheus asks for the bound that fires."""
    match rule:
        case KeyExpiryRule():
            return f"< {rule.within:f} * 86400"
        case BoundRule():
            unit = type(rule).model_fields["fires_at"].json_schema_extra["x-unit"]  # type: ignore[index,call-overload]
            bound = rule.fires_at * IN_BASE_UNITS[str(unit)]
            sign = "<" if rule.bounds.direction == "below" else ">="
            return f"{sign} {bound.normalize():f}"
        case StatusRule():
            return "gwtui_endpoint_status != 0"
        case UnreadableRule():
            return "gwtui_reading_up == 0"
        case EventRule():
            return f"[{rule.keep_for // timedelta(days=1)}d]) > 0"
    raise AssertionError(rule)


def test_prometheus_has_the_default_rules() -> None:
    rules = {name: rule for name, rule in default_rules().items() if rule.enabled}
    there = shipped()
    for identity in rules.keys() - NOT_EXPORTED:
        rule = rules[identity]
        name = "".join(word.capitalize() for word in identity.split("-"))
        assert there[name]["severity"] == rule.severity, name
        assert compared(rule) in there[name]["expr"], name
        lasts = rule.fire_after if isinstance(rule, ConditionRule) else timedelta()
        assert there[name]["for"] == f"{lasts // timedelta(minutes=1)}m", name


KEYS: dict[str, dict[str, Any]] = {
    "well": {},
    "near": {"limit_remaining": Decimal(10)},
    "used-up": {"limit_remaining": Decimal(0)},
    "soon": {"expires_at": wire_time(NOW + timedelta(days=6))},
    "today": {"expires_at": wire_time(NOW + timedelta(hours=20))},
    "off": {"limit_remaining": Decimal(0), "disabled": True},
    "over": {"expires_at": wire_time(NOW - timedelta(days=3)), "limit_remaining": Decimal(0)},
}
WORST = {"warning": Severity.WARNING, "critical": Severity.CRITICAL, "": Severity.OK}


@pytest.mark.parametrize("name", KEYS)
async def test_of_a_key_all_say_the_same(name: str) -> None:
    world, rules = World(), default_rules()
    whole = {"limit": Decimal(50), "limit_remaining": Decimal(40), "name": name, **KEYS[name]}
    world.keys = [key(**whole)]
    hub = FeedHub(world.client(), Clock(now=lambda: NOW))

    rows = (await keys_feed(hub, Scope()).refresh()).value
    evaluator = Evaluator(rules)
    evaluator.observe(observe_keys(rows or (), ObservedReading(NOW, 60)))
    fired = {alert.key.rule: alert for alert in evaluator.alerts.values()}
    alerts = max((alert.severity for alert in fired.values()), key=WORST.__getitem__, default="")

    facts = AccountFacts(workspaces=(workspace(),), keys={WORKSPACE_ID: tuple(world.keys)})
    found = {finding.rule: finding for finding in find(facts, rules, NOW) if finding.rule in rules}
    findings = max((str(one.severity) for one in found.values()), key=WORST.__getitem__, default="")
    assert (findings, found.keys()) == (alerts, fired.keys())
    for identity, finding in found.items():
        assert finding.title == fired[identity].title
        assert (
            finding.message == f"{fired[identity].message[0].upper()}{fired[identity].message[1:]}."
        )

    thresholds = {"rules": True}
    checked = await check_all(CheckContext(hub, thresholds, rules_of(thresholds, rules.values())))
    assert worst_of(checked) is WORST[alerts]
    await hub.close()
