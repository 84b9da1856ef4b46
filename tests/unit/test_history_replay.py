"""Figures as of a moment, what is different between two, and how the credits stood."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta
from decimal import Decimal
from pathlib import Path

import pytest

from gwtui.domain.runway import WINDOWS
from gwtui.watch.history.model import ACCOUNT, Reading, SeriesKey, Subject
from gwtui.watch.history.queries import BALANCE, TOTAL_USAGE, credits_state
from gwtui.watch.history.replay import differences, figures_at
from history_kit import START, Desk, desk, minutes

ENDPOINT = Subject("endpoint", "lab/model lab")
GUARDRAIL = Subject("guardrail", "g1")
KEY = Subject("key", "k1")
TOTAL_CREDITS = SeriesKey("credits", ACCOUNT, "total_credits")
UPTIME = SeriesKey(*ENDPOINT, "uptime_last_5m")
HOUR, DAY = timedelta(hours=1), timedelta(days=1)


@pytest.fixture
def history(tmp_path: Path) -> Iterator[Desk]:
    with desk(tmp_path / "h" / "one.sqlite3") as opened:
        yield opened


def test_figures_are_those_known_at_the_moment(history: Desk) -> None:
    history.see(START, {UPTIME: 99, BALANCE: 10})
    history.see(START + minutes(1), {UPTIME: None, BALANCE: 9})

    def uptime(minute: float) -> Reading:
        found = figures_at(history.reader, START + minutes(minute), {"endpoint"})
        assert set(found) == {ENDPOINT}
        return found[ENDPOINT]["uptime_last_5m"]

    assert uptime(0.5).value == 99
    assert uptime(1).state == "null"
    assert uptime(-1).state == "gap"


def test_a_moment_long_ago_is_known_to_the_hour(history: Desk) -> None:
    for minute in range(0, 60 * 24, 10):
        history.see(START + minutes(minute), {UPTIME: minute % 97}, every=600)
        history.tidy(START + minutes(minute))
    for hour in range(3):
        history.tidy(START + 3 * DAY + HOUR * hour)
    assert history.rows("runs") == 0
    found = figures_at(history.reader, START + 5 * HOUR + minutes(20), {"endpoint"})
    assert found[ENDPOINT]["uptime_last_5m"].value == 350 % 97


def test_the_differences_between_two_moments(history: Desk) -> None:
    history.see(
        START,
        {UPTIME: 99, BALANCE: 10},
        facts={
            ENDPOINT: {"name": "Lab", "price_prompt": "0.1", "status": 0},
            GUARDRAIL: {"name": "strict", "allowed_models": ["a", "b"]},
            KEY: {"name": "ci"},
        },
        covers=None,
    )
    new_key = Subject("key", "k2")
    for resource, found in (
        ("endpoint", {ENDPOINT: {"name": "Lab", "price_prompt": "0.2", "status": 0}}),
        ("guardrail", {GUARDRAIL: {"name": "strict", "allowed_models": ["a"]}}),
        ("key", {new_key: {"name": "cd"}}),
    ):
        history.see(
            START + minutes(2),
            {UPTIME: 99, BALANCE: 4} if resource == "endpoint" else {},
            facts=found,
            covers=Subject(resource, ""),
            source=resource,
        )
    found = differences(history.reader, START, START + minutes(2))
    assert [
        (each.subject, each.field, each.before, each.after, each.came) for each in found.facts
    ] == [
        (ENDPOINT, "price_prompt", "0.1", "0.2", None),
        (GUARDRAIL, "allowed_models", ["a", "b"], ["a"], None),
        (KEY, "", None, None, False),
        (new_key, "", None, None, True),
    ]
    assert [(each.series.key, each.before.value, each.after.value) for each in found.figures] == [
        (BALANCE, 10, 4)
    ]
    assert [each.name for each in found.facts if each.subject.resource == "key"] == ["ci", "cd"]
    nothing = differences(history.reader, START, START + minutes(1))
    assert (nothing.facts, nothing.figures) == ((), ())


def test_how_the_credits_stand_comes_from_what_was_recorded(history: Desk) -> None:
    used, bought = Decimal(0), Decimal(1000)
    for minute in range(0, 8 * 24 * 60, 10):
        if minute == 5 * 24 * 60:
            bought += 500
        history.see(
            START + minutes(minute),
            {TOTAL_USAGE: used, TOTAL_CREDITS: bought, BALANCE: bought - used},
            every=600,
        )
        used += Decimal("0.5")
        if minute % 360 == 0:
            history.tidy(START + minutes(minute))
    now = START + 8 * DAY - minutes(10)
    found = credits_state(history.reader, now)
    assert found.balance.value == bought - used + Decimal("0.5")
    assert [burn.window for burn in found.burns] == list(WINDOWS)
    for burn in found.burns:
        assert burn.rate is not None
        assert abs(burn.rate.usd_per_hour - 3) < Decimal("0.01")
    assert found.outlook is not None
    assert found.outlook.likely is not None
    left = found.balance.value / 3
    assert abs(found.outlook.likely - now - timedelta(hours=float(left))) < HOUR
    assert found.outlook.soonest is not None
    assert found.outlook.soonest <= found.outlook.likely


def test_a_past_standing_knows_nothing_of_later(history: Desk) -> None:
    for minute in range(0, 3 * 60, 5):
        history.see(
            START + minutes(minute), {TOTAL_USAGE: minute, BALANCE: 500 - minute}, every=300
        )
    early = credits_state(history.reader, START + HOUR)
    assert early.balance.value == 440
    assert early.burns[0].rate is not None
    assert early.burns[0].rate.usd_per_hour == 60
