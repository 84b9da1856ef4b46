"""Figures as of a moment, what is different between two, and how the credits stood."""

from __future__ import annotations

from datetime import timedelta
from decimal import Decimal

from gwtui.domain.runway import WINDOWS
from gwtui.watch.feeds.recorded import Between, rows_between
from gwtui.watch.history.model import ACCOUNT, SeriesKey, Subject
from gwtui.watch.history.reader import BALANCE, TOTAL_USAGE, credits_state
from history_kit import START, Desk, minutes

ENDPOINT = Subject("endpoint", "lab/model lab")
GUARDRAIL = Subject("guardrail", "g1")
KEY = Subject("key", "k1")
TOTAL_CREDITS = SeriesKey("credits", ACCOUNT, "total_credits")
UPTIME = SeriesKey(*ENDPOINT, "uptime_last_5m")
HOUR, DAY = timedelta(hours=1), timedelta(days=1)


def test_a_moment_long_ago_is_known_to_the_hour(history: Desk) -> None:
    for minute in range(0, 60 * 24, 10):
        history.see(START + minutes(minute), {UPTIME: minute % 97}, every=600)
        history.tidy(START + minutes(minute))
    for hour in range(3):
        history.tidy(START + 3 * DAY + HOUR * hour)
    assert history.rows("runs") == 0
    assert history.reader.value_at(UPTIME, START + 5 * HOUR + minutes(20)).value == 350 % 97


def test_the_differences_between_two_moments(history: Desk) -> None:
    history.see(START, {UPTIME: 99, BALANCE: 10})
    new_key = Subject("key", "k2")
    for source, before, after in (
        (
            "endpoints:lab/model",
            {ENDPOINT: {"name": "Lab", "price_prompt": "0.1", "status": 0}},
            {ENDPOINT: {"name": "Lab", "price_prompt": "0.2", "status": 0}},
        ),
        (
            "guardrails",
            {GUARDRAIL: {"name": "strict", "allowed_models": ["a", "b"]}},
            {GUARDRAIL: {"name": "strict", "allowed_models": ["a"]}},
        ),
        ("keys", {KEY: {"name": "ci"}}, {new_key: {"name": "cd"}}),
    ):
        covers = Subject(next(iter(before)).resource, "")
        history.see(START, facts=before, covers=covers, source=source)
        history.see(START + minutes(2), facts=after, covers=covers, source=source)
    history.see(START + minutes(2), {UPTIME: 99, BALANCE: 4})
    until = START + minutes(2)
    *facts, figures = rows_between(history.reader, Between(START), until)
    assert [
        (each.kind, each.subject, each.name, each.field, each.before, each.after, each.at)
        for each in facts
    ] == [
        ("endpoint.price", ENDPOINT, "Lab", "price_prompt", "0.1", "0.2", until),
        ("guardrail.changed", GUARDRAIL, "strict", "allowed_models", ["a", "b"], ["a"], until),
        ("key.deleted", KEY, "ci", "", None, None, until),
        ("key.created", new_key, "cd", "", None, None, until),
    ]
    assert [(each.key, each.before.value, each.after.value) for each in figures.figures] == [
        (BALANCE, 10, 4)
    ]
    assert rows_between(history.reader, Between(START), START + minutes(1)) == ()


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
