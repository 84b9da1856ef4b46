"""How often a rule would have fired: the same state machine over recorded hours, with gaps."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta
from decimal import Decimal
from pathlib import Path

import pytest

from gwtui.domain.alert_rules import (
    CreditsRule,
    GoneRule,
    KeyLimitRule,
    PriceRule,
    RunwayRule,
    UptimeRule,
    default_rules,
)
from gwtui.watch.alerts.evaluator import preview
from gwtui.watch.history.model import SeriesKey, Subject, endpoint_identity
from history_kit import START, USED, HistoryFile, minutes, open_history
from thoroughness import FULL

BALANCE = SeriesKey("credits", "account", "balance")
ENDPOINTS = 40 if FULL else 4
WEEK = timedelta(days=7)
KEY = Subject("key", "c0ffee")
ENDPOINT_IDS = [endpoint_identity(f"a/m{number}", "p||fp8") for number in range(ENDPOINTS)]


def uptime(place: int, minute: int) -> int | None:
    """Good except for one bad hour each day; no traffic at night."""
    hour = minute // 60 % 24
    if hour < 4:
        return None
    return 50 if hour == 12 + place % 4 else 99


@pytest.fixture(scope="module")
def week(tmp_path_factory: pytest.TempPathFactory) -> Iterator[HistoryFile]:
    """Readings every ten minutes for eight days, rolled up and deleted as usual."""
    with open_history(tmp_path_factory.mktemp("h") / "week.sqlite3") as opened:
        used = Decimal(0)
        for minute in range(0, 8 * 1440, 10):
            moment = START + minutes(minute)
            used += Decimal("0.7")
            balance = 5 if 3000 <= minute < 3060 else 1200 - used
            opened.see(moment, {USED: used, BALANCE: balance}, every=600)
            figures = {
                SeriesKey("endpoint", identity, "uptime_last_30m"): uptime(place, minute)
                for place, identity in enumerate(ENDPOINT_IDS)
            }
            if not 5 * 1440 <= minute < 6 * 1440:  # a day without recording
                opened.see(moment, figures, source="endpoints", every=600)
            if minute % 1440 == 0:
                price = {"price_prompt": f"0.00000{1 + minute // 1440 % 2}", "name": "P"}
                opened.see(
                    moment, {}, facts={Subject("endpoint", ENDPOINT_IDS[0]): price}, source="facts"
                )
            if minute % 60 == 10:
                opened.tidy(moment)
        opened.tidy(START + timedelta(days=8))
        yield opened


NOW = START + timedelta(days=8)


def test_preview_counts_alerts_that_would_have_fired(week: HistoryFile) -> None:
    rule = CreditsRule(name="x", fires_at=Decimal(10), clears_at=Decimal(12))
    result = preview(week.reader, "x", rule, NOW)
    assert (result.fired, result.still, result.recorded) == (1, 0, WEEK)
    assert result.events[0].at == START + minutes(3000)
    assert [event.event for event in result.events] == ["fired", "cleared"]
    disabled_rule = CreditsRule(
        name="x", fires_at=Decimal(1000), clears_at=Decimal(1200), enabled=False
    )
    result = preview(week.reader, "x", disabled_rule, NOW)
    assert (result.fired, result.still) == (1, 1), "a disabled rule is previewed as well"


def test_gaps_and_nights_fire_and_clear_nothing(week: HistoryFile) -> None:
    rule = UptimeRule(name="x", fires_at=Decimal(90), clears_at=Decimal(95))
    result = preview(week.reader, "x", rule, NOW)
    days = 6  # one of the last seven days was not recorded
    assert (result.subjects, result.of) == (ENDPOINTS, ENDPOINTS)
    assert result.fired == days * ENDPOINTS
    assert sum(event.event == "cleared" for event in result.events) == days * ENDPOINTS
    item = rule.model_copy(update={"scope": "endpoint", "only": ENDPOINT_IDS[1]})
    assert preview(week.reader, "x", item, NOW).fired == days
    long = rule.model_copy(update={"fire_after": timedelta(hours=2)})
    assert preview(week.reader, "x", long, NOW).fired == 0


def test_preview_evaluates_rules_on_changes(week: HistoryFile) -> None:
    assert preview(week.reader, "x", PriceRule(name="x"), NOW).fired == 6
    large = PriceRule(name="x", at_least=Decimal(60))
    assert preview(week.reader, "x", large, NOW).fired == 3, "changes of +100 % and -50 %"
    assert preview(week.reader, "x", GoneRule(name="x"), NOW).fired == 0


def test_preview_evaluates_the_runway(week: HistoryFile) -> None:
    daily = 0.7 * 144
    rule = RunwayRule(name="x", fires_at=Decimal(7), clears_at=Decimal(8))
    result = preview(week.reader, "x", rule, NOW)
    fired = [event.at for event in result.events if event.event == "fired"]
    assert len(fired) == 2, "one alert while the balance was 5 USD"
    expected = START + timedelta(days=1200 / daily - 7) + rule.fire_after
    assert abs(fired[1] - expected) < minutes(120)


def test_preview_without_history_reports_nothing(tmp_path: Path) -> None:
    with open_history(tmp_path / "h.sqlite3") as opened:
        result = preview(opened.reader, "x", default_rules()["credits-low"], NOW)
        assert (result.recorded, result.of) == (timedelta(), 0)
        opened.see(NOW - minutes(90), {BALANCE: 5})
        result = preview(opened.reader, "x", default_rules()["credits-low"], NOW)
        assert (result.recorded, result.fired) == (minutes(90), 1)
        result = preview(opened.reader, "x", default_rules()["endpoint-failing"], NOW)
        assert (result.of, result.fired) == (0, 0)


def test_bounds_are_compared_with_the_limit_of_now(tmp_path: Path) -> None:
    remaining = SeriesKey(*KEY, "limit_remaining")
    rule = KeyLimitRule(name="x", fires_at=Decimal(80), clears_at=Decimal(75))
    with open_history(tmp_path / "h.sqlite3") as opened:
        for minute in range(0, 600, 5):
            facts = {KEY: {"limit": "10", "name": "k"}}
            rest = 9 if minute < 300 else 1
            opened.see(
                START + minutes(minute), {remaining: rest}, facts=facts, source="keys", every=300
            )
        result = preview(opened.reader, "x", rule, START + minutes(600))
    assert (result.fired, result.still) == (1, 1)
    assert result.events[0].at == START + minutes(300)
