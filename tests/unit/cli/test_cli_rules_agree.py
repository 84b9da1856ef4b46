"""On one account with many problems, alerts, findings, check and Prometheus agree."""

from __future__ import annotations

import asyncio
import re
from datetime import timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from pydantic import SecretStr

from gwtui.cli.check import rules_of
from gwtui.cli.check_sources import CheckContext, Severity, check_all, worst_of
from gwtui.client.connection import Connection
from gwtui.client.gateway import GatewayClient
from gwtui.domain.alert_rules import (
    AlertRule,
    BoundRule,
    ConditionRule,
    EventRule,
    KeyExpiryRule,
    KeyLimitRule,
    StatusRule,
    UnreadableRule,
    UptimeRule,
    default_rules,
)
from gwtui.domain.clock import Clock
from gwtui.domain.findings import AccountFacts, find
from gwtui.local.alerts import load_alerts
from gwtui.watch.alerts.evaluator import Evaluator
from gwtui.watch.alerts.model import Alert
from gwtui.watch.feeds.keys import keys_feed
from gwtui.watch.history.sources import Build, ObservedReading, Sources, observe_keys
from gwtui.watch.hub import FeedHub, Scope
from headless_kit import Gwtui, Site
from recorded_gateway_kit import World
from resource_samples import NOW, WORKSPACE_ID, key, wire_time, workspace

MODEL = "helioscope/corona-code"
RULES = """
[rules.credits-low]
fires_at = 999999
clears_at = 999999
severity = "warning"

[rules.key-near-limit]
fires_at = 1
clears_at = 1

[rules.key-expires]
within = 300

[rules.endpoint-failing]
fires_at = 100
clears_at = 100
fire_after = "0 min"
severity = "critical"
"""


async def evaluate(place: Site, file: Path) -> list[Alert]:
    """The alerts after one reading of the account."""
    connection = Connection(place.gateway.base_url, SecretStr(place.gateway.management))
    async with GatewayClient(connection) as client:
        hub = FeedHub(client)
        builds: list[Build] = []
        sources = Sources(hub, lambda _name, build: builds.append(build))
        sources.open()
        sources.follow((MODEL,))
        await sources.settled()
        evaluator = Evaluator(load_alerts(file).rules)
        for build in builds:
            evaluator.observe(build())
        sources.close()
        await hub.close()
    return [alert for alert in evaluator.alerts.values() if alert.status.alerting]


def test_alerts_findings_and_check_agree_on_one_account(
    gwtui: Gwtui, place: Site, private_home: Path
) -> None:
    file = private_home / "config" / "gwtui" / "alerts.toml"
    file.parent.mkdir(exist_ok=True)
    file.write_text(RULES)
    alerts = asyncio.run(evaluate(place, file))
    rules = load_alerts(file).rules
    assert {alert.key.rule for alert in alerts} >= {
        "credits-low",
        "key-near-limit",
        "key-limit-used-up",
        "key-expires",
        "endpoint-failing",
    }

    # Findings have one entry for each alert on a key, with the same words.
    on_keys = {
        (alert.key.rule, alert.key.subject.identity, alert.severity, alert.title): alert.message
        for alert in alerts
        if isinstance(rules[alert.key.rule], KeyLimitRule | KeyExpiryRule)
    }
    findings = {
        (row["rule"], row["identity"], row["severity"], row["title"]): row["message"]
        for row in gwtui.json("findings", "list")
        if row["rule"] in rules and row["identity"]
    }
    assert findings == {
        alert: f"{message[0].upper()}{message[1:]}." for alert, message in on_keys.items()
    }

    # The check is as severe, and names the worst subjects of each kind with the same words.
    code, text, _ = gwtui("check", "--rules", "--model", MODEL)
    assert code == 2
    for kind in (KeyLimitRule, KeyExpiryRule, UptimeRule):
        alike = [alert for alert in alerts if isinstance(rules[alert.key.rule], kind)]
        named = [item for item in alike if f"{item.name} {item.message}" in text]
        assert len(named) == min(len(alike), 3)
    (low,) = [alert for alert in alerts if alert.key.rule == "credits-low"]
    assert f"credits {low.message}" in text


# Shipped rules ------------------------------------------------------------------------------------


RULES_FILE = Path(__file__).resolve().parents[3] / "docs" / "prometheus" / "gwtui.rules.yml"
NOT_EXPORTED = {"endpoint-gone"}
IN_BASE_UNITS = {"USD": Decimal(1), "days": Decimal(1), "%": Decimal("0.01")}


def shipped() -> dict[str, dict[str, str]]:
    """Expression, duration and severity of each shipped Prometheus rule, by name."""
    results = {}
    for block in RULES_FILE.read_text().split("- alert: ")[1:]:
        name, _, rest = block.partition("\n")
        expression = re.search(r"expr: (?:>-)?(.*?)\n        (?:for|labels):", rest, re.DOTALL)
        lasts = re.search(r"for: (\w+)", rest)
        severity = re.search(r"severity: (\w+)", rest)
        assert expression
        assert severity
        results[name] = {
            "expr": " ".join(expression[1].split()),
            "for": lasts[1] if lasts else "0m",
            "severity": severity[1],
        }
    return results


def compared(rule: AlertRule) -> str:
    """The comparison in PromQL for the threshold that fires."""
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
async def test_alerts_findings_and_check_agree_on_a_key(name: str) -> None:
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
    results = {
        finding.rule: finding for finding in find(facts, rules, NOW) if finding.rule in rules
    }
    findings = max(
        (str(item.severity) for item in results.values()), key=WORST.__getitem__, default=""
    )
    assert (findings, results.keys()) == (alerts, fired.keys())
    for identity, finding in results.items():
        assert finding.title == fired[identity].title
        assert (
            finding.message == f"{fired[identity].message[0].upper()}{fired[identity].message[1:]}."
        )

    thresholds = {"rules": True}
    checked = await check_all(CheckContext(hub, thresholds, rules_of(thresholds, rules.values())))
    assert worst_of(checked) is WORST[alerts]
    await hub.close()
