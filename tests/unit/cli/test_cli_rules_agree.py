"""On one account with many faults, alerts, findings and ``gwtui check`` say the same."""

from __future__ import annotations

import asyncio
from pathlib import Path

from pydantic import SecretStr

from gwtui.client.connection import Connection
from gwtui.client.gateway import GatewayClient
from gwtui.domain.alert_rules import KeyExpiryRule, KeyLimitRule, UptimeRule
from gwtui.local.alerts import load_alerts
from gwtui.watch.alerts.evaluator import Evaluator
from gwtui.watch.alerts.model import Alert
from gwtui.watch.history.sources import Build, Sources
from gwtui.watch.hub import FeedHub
from headless_kit import Gwtui, Site

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


def test_one_account_is_judged_alike(gwtui: Gwtui, place: Site, private_home: Path) -> None:
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
        alike = [one for one in alerts if isinstance(rules[one.key.rule], kind)]
        named = [one for one in alike if f"{one.name} {one.message}" in text]
        assert len(named) == min(len(alike), 3)
    (low,) = [one for one in alerts if one.key.rule == "credits-low"]
    assert f"credits {low.message}" in text
