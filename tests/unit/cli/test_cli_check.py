"""gwtui check: exit codes, one line, and the same words as alerts, findings and Prometheus."""

from __future__ import annotations

import asyncio
import csv
import io
import re
import socket
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest
from pydantic import SecretStr

from gwtui.cli.check import rules_of
from gwtui.cli.check_sources import (
    CheckContext,
    CheckedFigure,
    Finding,
    Severity,
    check_all,
    status_line,
    worst_of,
)
from gwtui.client.connection import Connection
from gwtui.client.errors import GatewayError
from gwtui.client.gateway import GatewayClient
from gwtui.contract.keys import ApiKey
from gwtui.contract.models import ModelEndpoints
from gwtui.domain.alert_rules import (
    AlertRule,
    BoundRule,
    ConditionRule,
    CreditsRule,
    EventRule,
    KeyExpiryRule,
    KeyLimitRule,
    StatusRule,
    UnreadableRule,
    UptimeRule,
    default_rules,
)
from gwtui.domain.alert_state import AlertState
from gwtui.domain.clock import SYSTEM_CLOCK, Clock
from gwtui.domain.findings import AccountFacts, find
from gwtui.embedded.faults import FaultInjector
from gwtui.local.alerts import load_alerts
from gwtui.watch.alerts.evaluator import Evaluator
from gwtui.watch.alerts.model import Alert, AlertKey, StoredAlerts
from gwtui.watch.alerts.store import alerts_at
from gwtui.watch.feeds.keys import keys_feed
from gwtui.watch.history.file import history_path
from gwtui.watch.history.model import Subject
from gwtui.watch.history.reader import BALANCE, TOTAL_USAGE
from gwtui.watch.history.sources import Build, ObservedReading, Sources, observe_keys
from gwtui.watch.history.writer import watch_model
from gwtui.watch.hub import FeedHub, Scope
from headless_kit import FaultyGateway, Gwtui
from history_kit import open_history
from login_kit import served_gateway
from recorded_gateway_kit import World
from resource_samples import NOW, WORKSPACE_ID, key, wire_time, workspace

NOON = datetime(2026, 11, 21, 12, 0, tzinfo=UTC)
MODEL = "helioscope/corona-code"
LABEL = re.compile(r"'[^'=|]+'=(U|-?\d+(\.\d+)?%?)(;[\d.]*:?){0,2}(;\d*){0,2}")


def line(gwtui: Gwtui, *words: str) -> tuple[int, str]:
    """Return the code and the line, which must have the format of monitoring plugins."""
    code, out, _ = gwtui("check", *words)
    (text,) = out.splitlines()
    word = text.removeprefix("GWTUI ").partition(":")[0]
    assert Severity[word] == code
    summary, _, figures = text.partition(" | ")
    assert "|" not in summary
    rest = figures
    while rest:
        match = LABEL.match(rest)
        assert match, rest
        rest = rest[match.end() :].lstrip()
    return code, text


# The command


def test_credits_decide_by_their_thresholds(gwtui: Gwtui) -> None:
    code, text = line(gwtui)
    assert code == 0
    assert re.match(r"GWTUI OK: credits \$\d+\.\d\d left \| 'credits'=\d+\.\d+;;10:$", text)
    assert line(gwtui, "--credits-warning", "9999", "--credits-critical", "1")[0] == 1
    assert line(gwtui, "--credits-critical", "9999")[0] == 2


def test_keys_and_runway_when_asked_for(gwtui: Gwtui) -> None:
    code, text = line(gwtui, "--keys-warning", "80", "--expiry-warning", "7")
    assert code == 1
    # The usage of the simulated keys grows during the day.
    assert re.search(r"Key close to its limit: .*partner:birch-insurance 10[0-9](\.\d)?%", text)
    assert "and " in text
    assert re.search(r"'keys_most_used'=10[0-9](\.\d+)?%", text)
    assert "Key expires soon: " in text
    code, text = line(gwtui, "--runway-warning", "9000", "--runway-critical", "0.1")
    assert code in {0, 1}  # too early in the UTC day
    assert "'runway_days'=" in text


def test_endpoints_of_a_model(gwtui: Gwtui, place: FaultyGateway) -> None:
    code, text = line(gwtui, "--model", MODEL, "--uptime-warning", "1", "--uptime-critical", "0")
    assert (code, text.count("'uptime ")) == (0, 3)
    assert "Endpoint uptime low: none of 3 endpoints" in text
    code, text = line(gwtui, "--model", MODEL, "--uptime-warning", "100", "--uptime-critical", "0")
    assert code == 1
    # Which endpoints have failed requests depends on the time.
    assert re.search(rf"{MODEL} at (Helioscope|Cobalt Row|Fjordcloud)", text)
    code, text = line(gwtui, "--model", "no/such")
    assert (code, "no/such is not in the catalog" in text) == (2, True)


def test_unreadable_sources_are_unknown(gwtui: Gwtui, place: FaultyGateway) -> None:
    place.faults.arm("500:GET /credits")
    code, text = line(gwtui)
    assert code == 3
    assert "credits could not be read" in text
    gwtui.monkeypatch.setenv("GWTUI_TOKEN", "x")
    code, out, _ = gwtui.in_environment("check", "--base-url", "http://127.0.0.1:9")
    assert (code, out.count("\n")) == (3, 1)


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (("--nope",), "unrecognized arguments"),
        (("--credits-warning", "much"), "credits_warning"),
        (("--credits-warning", "1", "--credits-critical", "5"), "the warning threshold must"),
        (("--profile", "nowhere"), "there is no profile 'nowhere'"),
        (("--uptime-window", "2h"), "uptime_window"),
        (("--watched",), "no models are watched"),
    ],
)
def test_a_check_that_is_wrong_is_unknown(gwtui: Gwtui, words: tuple[str, ...], says: str) -> None:
    code, text = line(gwtui, *words)
    assert code == 3
    assert says in text


def test_a_silent_gateway_costs_no_more_than_the_time_limit(gwtui: Gwtui) -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:
        address = f"http://127.0.0.1:{silent.getsockname()[1]}"
        gwtui.monkeypatch.setenv("GWTUI_TOKEN", "x")
        words = ("check", "--base-url", address, "--timeout", "0.3")
        code, out, _ = gwtui.in_environment(*words)
    assert (code, out) == (3, "GWTUI UNKNOWN: no response within 0.3 s\n")


def test_thresholds_stand_in_the_profile_and_options_go_before_them(
    gwtui: Gwtui, place: FaultyGateway, private_home: Path
) -> None:
    file = private_home / "config" / "gwtui" / "profiles.toml"
    file.parent.mkdir()
    file.write_text(
        f'[profiles.work]\nbase_url = "{place.gateway.base_url}"\n'
        "[profiles.work.check]\ncredits_warning = 9999.5\n"
        f'models = ["{MODEL}"]\nuptime_warning = 1\nuptime_critical = 0.5\n'
    )
    code, text = line(gwtui, "--profile", "work")
    assert (code, "9999.5:" in text, "none of 3 endpoints" in text) == (1, True, True)
    assert line(gwtui, "--profile", "work", "--credits-warning", "1")[0] == 0
    file.write_text(file.read_text() + "credit_warning = 3\n")
    code, text = line(gwtui, "--profile", "work")
    assert code == 3
    assert "profiles.toml: " in text
    assert "did you mean 'check.credits_warning'?" in text
    assert gwtui.in_environment("profiles", "remove", "work")[0] == 0
    assert "credits_warning" not in file.read_text()


def test_the_watched_models_come_from_the_history(gwtui: Gwtui, private_home: Path) -> None:
    host = gwtui.target.gateway.host
    path = history_path(private_home / "data" / "gwtui", host, gwtui.target.gateway.base_url)
    path.parent.mkdir(parents=True)
    with open_history(path, NOON) as history:
        watch_model(history.connection, MODEL, NOON)
    _, text = line(gwtui, "--watched")
    assert text.count(f"'uptime {MODEL}") == 3


def test_the_days_that_credits_last_are_those_that_gwtui_credits_tells(
    gwtui: Gwtui, private_home: Path
) -> None:
    now, gateway = datetime.now(UTC), gwtui.target.gateway
    path = history_path(private_home / "data" / "gwtui", gateway.host, gateway.base_url)
    with open_history(path) as history:
        for hour in range(30, -1, -1):
            values = {TOTAL_USAGE: 1000 - hour * 5, BALANCE: 600}
            history.see(now - timedelta(hours=hour), values)
    (row,) = csv.DictReader(io.StringIO(gwtui("credits", "list", "--output", "csv")[1]))
    days = Decimal(row["balance"]) / (5 * 24)
    assert row["runway_days"] == f"{days:.1f}"
    assert f"gone in {days:.1f} days at" in line(gwtui, "--runway-warning", "9000")[1]
    assert "at the 24 h rate" in gwtui("credits", "get")[1]


# The sources


class Recorded:
    """A history with this result of the rules."""

    def __init__(self, present: StoredAlerts) -> None:
        self._present = present

    async def read(self, question: Any) -> Any:
        return self._present if question.func is alerts_at else None


async def check(
    thresholds: dict[str, Any], past: Recorded | None = None, **facts: Any
) -> tuple[Severity, str]:
    world = World()
    world.credits, world.keys = account("100", "0"), []
    vars(world).update(facts)
    hub = FeedHub(world.client(), Clock(now=lambda: NOON))
    rules = rules_of(thresholds, default_rules().values())
    hub.recorder = cast("Any", SimpleNamespace(open_archive=past))
    look = CheckContext(hub, thresholds, rules, default_rules())
    try:
        findings = await check_all(look)
    finally:
        await hub.close()
    return worst_of(findings), status_line(findings)


def account(bought: str, used: str) -> dict[str, Decimal]:
    return {"total_credits": Decimal(bought), "total_usage": Decimal(used)}


def model(*uptimes: str | None) -> ModelEndpoints:
    rows = [
        {
            "provider_name": f"p{place}",
            "tag": f"p{place}",
            "uptime_last_30m": value and float(value),
        }
        for place, value in enumerate(uptimes)
    ]
    return ModelEndpoints.model_validate({"id": "a/b", "name": "B", "endpoints": rows})


async def test_missing_traffic_alone_is_never_critical() -> None:
    expected = {"models": ("a/b",)}
    for more, uptimes, severity, says in (
        ({}, (None, None), Severity.OK, "'uptime a/b p0__'=U;90:;;0;100"),
        ({}, (None, "30"), Severity.WARNING, "p1 30% of the requests"),
        ({"uptime_critical": 50}, (None, "30"), Severity.CRITICAL, "p1 30%"),
        (
            {"uptime_critical": 50, "uptime_of": "best"},
            ("99", "30"),
            Severity.OK,
            "none of 1 endpoints",
        ),
        ({"uptime_critical": 50, "uptime_of": "best"}, (None, "30"), Severity.CRITICAL, "p1 30%"),
        ({}, (), Severity.CRITICAL, "has no endpoint"),
    ):
        actual, text = await check({**expected, **more}, endpoints=model(*uptimes))
        assert (actual, says in text) == (severity, True), text


async def test_an_uptime_that_was_not_given_is_unknown() -> None:
    result = ModelEndpoints.model_validate({"id": "a/b", "endpoints": [{"tag": "x"}]})
    severity, text = await check({"models": ("a/b",)}, endpoints=result)
    assert severity is Severity.UNKNOWN
    assert "uptime missing in the response" in text


@pytest.mark.parametrize(
    ("credits", "severity"),
    [
        (account("5", "5"), Severity.CRITICAL),
        (account("50", "40"), Severity.OK),
        (account("50", "40.01"), Severity.CRITICAL),
        ({}, Severity.UNKNOWN),
    ],
)
async def test_used_up_credits_are_critical_and_unknown_ones_unknown(
    credits: dict[str, Decimal], severity: Severity
) -> None:
    assert (await check({}, credits=credits))[0] is severity


async def test_unreadable_credits_are_unknown_in_one_line() -> None:
    severity, text = await check({}, faults={"credits": GatewayError("away|now\nand then")})
    assert (severity, "away/now" in text, "\n" in text) == (Severity.UNKNOWN, True, False)


async def test_the_runway_by_the_use_of_today() -> None:
    spent = ApiKey.model_validate({"hash": "h", "usage_daily": Decimal(6), "disabled": False})
    facts = {"credits": account("100", "40"), "keys": [spent]}
    severity, text = await check({"runway_warning": 6, "runway_critical": 2}, **facts)
    assert (severity, "gone in 5.0 days at the current rate" in text) == (Severity.WARNING, True)
    idle = {"credits": account("100", "40"), "keys": []}
    severity, text = await check({"runway_warning": 6}, **idle)
    assert (severity, "'runway_days'=U" in text) == (Severity.OK, True)


# The line


def test_the_worst_decides_and_comes_first() -> None:
    findings = [Finding(severity, severity.name.lower()) for severity in Severity]
    assert status_line(findings) == "GWTUI CRITICAL: critical; unknown; warning; ok"
    assert worst_of([]) is Severity.UNKNOWN
    assert status_line([]) == "GWTUI UNKNOWN: nothing was checked"


def test_performance_data_is_quoted_and_bounded() -> None:
    low = CreditsRule(name="Low", severity="warning", fires_at=Decimal(50), clears_at=Decimal(50))
    figure = CheckedFigure("it's|a=b\n", Decimal("1E+2"), (low,), "%", "0", "100")
    assert figure.perfdata() == "'it_s_a_b␊'=100%;50:;;0;100"
    assert CheckedFigure("x", None).perfdata() == "'x'=U"


# Alerts -----------------------------------------------------------------------------------------


def alert(severity: Any = "warning", **more: Any) -> Alert:
    key = AlertKey("credits-low", Subject("credits", "account"))
    return Alert(key, AlertState("firing", NOON), severity, "Credits low", "credits", "$4", **more)


ALONE = {"alerts": True}


@pytest.mark.parametrize(
    ("present", "severity", "says"),
    [
        (StoredAlerts((alert(),), watching=True), Severity.WARNING, "Credits low: credits $4"),
        (StoredAlerts((alert("critical"),), watching=True), Severity.CRITICAL, "Credits low"),
        (StoredAlerts((alert(acknowledged_at=NOON),), watching=True), Severity.OK, "no alerts"),
        (StoredAlerts((), watching=True), Severity.OK, "no alerts"),
        (StoredAlerts((alert(),), watching=False), Severity.UNKNOWN, "no dashboard is watching"),
        (None, Severity.UNKNOWN, "no dashboard is watching"),
    ],
    ids=["warning", "critical", "known", "none", "nobody watches", "nothing recorded"],
)
async def test_alerts_that_ask_for_somebody_count(
    present: StoredAlerts | None, severity: Severity, says: str
) -> None:
    assert (await check(ALONE, Recorded(present)))[0] is severity
    assert says in (await check(ALONE, Recorded(present)))[1]


@pytest.mark.parametrize(("severity", "named"), [("warning", False), ("critical", True)])
async def test_a_problem_is_named_once_unless_its_alert_is_more_severe(
    severity: Any, named: bool
) -> None:
    past = Recorded(StoredAlerts((alert(severity),), watching=True))
    wanted = {"alerts": True, "credits_warning": 200}
    worst, text = await check(wanted, past)
    assert "credits $100.00 left" in text
    assert ("Credits low: credits $4" in text) is named
    assert worst is Severity[severity.upper()]
    assert "no alerts" not in text


async def test_alerts_count_only_when_asked_for() -> None:
    expected = {}
    assert "Credits low" not in (await check(expected, Recorded(StoredAlerts((alert(),), True))))[1]


# The same words everywhere ------------------------------------------------------------------------


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


async def evaluate(place: FaultyGateway, file: Path) -> list[Alert]:
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
            evaluator.apply_observation(build())
        sources.close()
        await hub.close()
    return [alert for alert in evaluator.alerts.values() if alert.status.is_alerting]


@pytest.fixture
def unchanging(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Iterator[Gwtui]:
    """Commands against a simulated account whose figures do not change by the minute."""
    moment = SYSTEM_CLOCK.now()
    with served_gateway("simulated", now=lambda: moment) as served:
        yield Gwtui(monkeypatch, capsys, FaultyGateway(served, FaultInjector()))


def test_alerts_findings_and_check_agree_on_one_account(
    unchanging: Gwtui, private_home: Path
) -> None:
    file = private_home / "config" / "gwtui" / "alerts.toml"
    file.parent.mkdir(exist_ok=True)
    file.write_text(RULES)
    alerts = asyncio.run(evaluate(unchanging.target, file))
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
        for row in unchanging.json("findings", "list")
        if row["rule"] in rules and row["identity"]
    }
    assert findings == {
        alert: f"{message[0].upper()}{message[1:]}." for alert, message in on_keys.items()
    }

    # The check is as severe, and names the worst subjects of each kind with the same words.
    code, text, _ = unchanging("check", "--rules", "--model", MODEL)
    assert code == 2
    for kind in (KeyLimitRule, KeyExpiryRule, UptimeRule):
        alike = [alert for alert in alerts if isinstance(rules[alert.key.rule], kind)]
        in_line = [item for item in alike if f"{item.name} {item.message}" in text]
        assert len(in_line) == min(len(alike), 3)
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
    alerts = shipped()
    for identity in rules.keys() - NOT_EXPORTED:
        rule = rules[identity]
        name = "".join(word.capitalize() for word in identity.split("-"))
        assert alerts[name]["severity"] == rule.severity, name
        assert compared(rule) in alerts[name]["expr"], name
        lasts = rule.fire_after if isinstance(rule, ConditionRule) else timedelta()
        assert alerts[name]["for"] == f"{lasts // timedelta(minutes=1)}m", name


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
    fields = {"limit": Decimal(50), "limit_remaining": Decimal(40), "name": name, **KEYS[name]}
    world.keys = [key(**fields)]
    hub = FeedHub(world.client(), Clock(now=lambda: NOW))

    rows = (await keys_feed(hub, Scope()).refresh()).value
    evaluator = Evaluator(rules)
    evaluator.apply_observation(observe_keys(rows or (), ObservedReading(NOW, 60)))
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
