"""gwtui check: four exit codes, one line, and the text of each source."""

from __future__ import annotations

import csv
import io
import re
import socket
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest

from gwtui.cli.check import rules_of
from gwtui.cli.check_sources import (
    CheckContext,
    CheckedFigure,
    Finding,
    Severity,
    check_all,
    one_line,
    worst_of,
)
from gwtui.client.errors import GatewayError
from gwtui.contract.keys import ApiKey
from gwtui.contract.models import ModelEndpoints
from gwtui.domain.alert_rules import CreditsRule, default_rules
from gwtui.domain.alert_state import AlertState
from gwtui.domain.clock import Clock
from gwtui.watch.alerts.model import Alert, AlertKey, Present
from gwtui.watch.alerts.store import alerts_at
from gwtui.watch.history.file import history_path
from gwtui.watch.history.model import Subject
from gwtui.watch.history.reader import BALANCE, TOTAL_USAGE
from gwtui.watch.history.writer import watch_model
from gwtui.watch.hub import FeedHub
from headless_kit import Gwtui, Site
from history_kit import desk
from recorded_gateway_kit import World

NOW = datetime(2026, 11, 21, 12, 0, tzinfo=UTC)
MODEL = "helioscope/corona-code"
LABEL = re.compile(r"'[^'=|]+'=(U|-?\d+(\.\d+)?%?)(;[\d.]*:?){0,2}(;\d*){0,2}")


def line(gwtui: Gwtui, *words: str) -> tuple[int, str]:
    """Return the code and the line, which must have the format of monitoring plugins."""
    code, out, _ = gwtui("check", *words)
    (text,) = out.splitlines()
    word = text.removeprefix("GWTUI ").partition(":")[0]
    assert Severity[word] == code
    said, _, drawn = text.partition(" | ")
    assert "|" not in said
    rest = drawn
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


def test_endpoints_of_a_model(gwtui: Gwtui, place: Site) -> None:
    code, text = line(gwtui, "--model", MODEL, "--uptime-warning", "1", "--uptime-critical", "0")
    assert (code, text.count("'uptime ")) == (0, 3)
    assert "Endpoint uptime low: none of 3 endpoints" in text
    code, text = line(gwtui, "--model", MODEL, "--uptime-warning", "100", "--uptime-critical", "0")
    assert code == 1
    # Which endpoints have failed requests depends on the time.
    assert re.search(rf"{MODEL} at (Helioscope|Cobalt Row|Fjordcloud)", text)
    code, text = line(gwtui, "--model", "no/such")
    assert (code, "no/such is not in the catalog" in text) == (2, True)


def test_unreadable_sources_are_unknown(gwtui: Gwtui, place: Site) -> None:
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
    gwtui: Gwtui, place: Site, private_home: Path
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
    host = gwtui.site.gateway.host
    path = history_path(private_home / "data" / "gwtui", host, gwtui.site.gateway.base_url)
    path.parent.mkdir(parents=True)
    with desk(path, NOW) as history:
        watch_model(history.connection, MODEL, NOW)
    _, text = line(gwtui, "--watched")
    assert text.count(f"'uptime {MODEL}") == 3


def test_the_days_that_credits_last_are_those_that_gwtui_credits_tells(
    gwtui: Gwtui, private_home: Path
) -> None:
    now, gateway = datetime.now(UTC), gwtui.site.gateway
    path = history_path(private_home / "data" / "gwtui", gateway.host, gateway.base_url)
    with desk(path) as history:
        for hour in range(30, -1, -1):
            values = {TOTAL_USAGE: 1000 - hour * 5, BALANCE: 600}
            history.see(now - timedelta(hours=hour), values)
    (told,) = csv.DictReader(io.StringIO(gwtui("credits", "list", "--output", "csv")[1]))
    days = Decimal(told["balance"]) / (5 * 24)
    assert told["runway_days"] == f"{days:.1f}"
    assert f"gone in {days:.1f} days at" in line(gwtui, "--runway-warning", "9000")[1]
    assert "at the 24 h rate" in gwtui("credits", "get")[1]


# The sources


class Recorded:
    """A history with this result of the rules."""

    def __init__(self, present: Present) -> None:
        self._present = present

    async def read(self, question: Any) -> Any:
        return self._present if question.func is alerts_at else None


async def looked(
    wanted: dict[str, Any], past: Recorded | None = None, **given: Any
) -> tuple[Severity, str]:
    world = World()
    world.credits, world.keys = account("100", "0"), []
    vars(world).update(given)
    hub = FeedHub(world.client(), Clock(now=lambda: NOW))
    rules = rules_of(wanted, default_rules().values())
    hub.recorder = cast("Any", SimpleNamespace(open_archive=past))
    look = CheckContext(hub, wanted, rules)
    try:
        findings = await check_all(look)
    finally:
        await hub.close()
    return worst_of(findings), one_line(findings)


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
        found, text = await looked({**expected, **more}, endpoints=model(*uptimes))
        assert (found, says in text) == (severity, True), text


async def test_an_uptime_that_was_not_given_is_unknown() -> None:
    result = ModelEndpoints.model_validate({"id": "a/b", "endpoints": [{"tag": "x"}]})
    severity, text = await looked({"models": ("a/b",)}, endpoints=result)
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
    assert (await looked({}, credits=credits))[0] is severity


async def test_unreadable_credits_are_unknown_in_one_line() -> None:
    severity, text = await looked({}, faults={"credits": GatewayError("away|now\nand then")})
    assert (severity, "away/now" in text, "\n" in text) == (Severity.UNKNOWN, True, False)


async def test_the_runway_by_the_use_of_today() -> None:
    spent = ApiKey.model_validate({"hash": "h", "usage_daily": Decimal(6), "disabled": False})
    given = {"credits": account("100", "40"), "keys": [spent]}
    severity, text = await looked({"runway_warning": 6, "runway_critical": 2}, **given)
    assert (severity, "gone in 5.0 days at the current rate" in text) == (Severity.WARNING, True)
    idle = {"credits": account("100", "40"), "keys": []}
    severity, text = await looked({"runway_warning": 6}, **idle)
    assert (severity, "'runway_days'=U" in text) == (Severity.OK, True)


# The line


def test_the_worst_decides_and_comes_first() -> None:
    findings = [Finding(severity, severity.name.lower()) for severity in Severity]
    assert one_line(findings) == "GWTUI CRITICAL: critical; unknown; warning; ok"
    assert worst_of([]) is Severity.UNKNOWN
    assert one_line([]) == "GWTUI UNKNOWN: nothing was checked"


def test_performance_data_is_quoted_and_bounded() -> None:
    low = CreditsRule(name="Low", severity="warning", fires_at=Decimal(50), clears_at=Decimal(50))
    figure = CheckedFigure("it's|a=b\n", Decimal("1E+2"), (low,), "%", "0", "100")
    assert figure.perfdata() == "'it_s_a_b␊'=100%;50:;;0;100"
    assert CheckedFigure("x", None).perfdata() == "'x'=U"


# Alerts -----------------------------------------------------------------------------------------


def alert(severity: Any = "warning", **more: Any) -> Alert:
    key = AlertKey("credits-low", Subject("credits", "account"))
    return Alert(key, AlertState("firing", NOW), severity, "Credits low", "credits", "$4", **more)


ALONE = {"alerts": True}


@pytest.mark.parametrize(
    ("present", "severity", "says"),
    [
        (Present((alert(),), watching=True), Severity.WARNING, "Credits low: credits $4"),
        (Present((alert("critical"),), watching=True), Severity.CRITICAL, "Credits low"),
        (Present((alert(acknowledged_at=NOW),), watching=True), Severity.OK, "no alerts"),
        (Present((), watching=True), Severity.OK, "no alerts"),
        (Present((alert(),), watching=False), Severity.UNKNOWN, "no dashboard is watching"),
        (None, Severity.UNKNOWN, "no dashboard is watching"),
    ],
    ids=["warning", "critical", "known", "none", "nobody watches", "nothing recorded"],
)
async def test_alerts_that_ask_for_somebody_count(
    present: Present | None, severity: Severity, says: str
) -> None:
    assert (await looked(ALONE, Recorded(present)))[0] is severity
    assert says in (await looked(ALONE, Recorded(present)))[1]


async def test_alerts_count_only_when_asked_for() -> None:
    expected = {}
    assert "Credits low" not in (await looked(expected, Recorded(Present((alert(),), True))))[1]
