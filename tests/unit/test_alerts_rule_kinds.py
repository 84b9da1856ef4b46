"""Every kind of alert rule over recorded readings: what fires and what is said."""

from __future__ import annotations

from datetime import timedelta
from decimal import Decimal
from typing import Any

import pytest
from alerts_kit import ACCOUNT, ENDPOINT, KEY, LOW, SPACE, Room, balance

from gwtui.domain.alert_rules import (
    BudgetRule,
    GoneRule,
    GuardrailRule,
    KeyExpiryRule,
    KeyLimitRule,
    LatencyRule,
    PriceRule,
    RunwayRule,
    StatusRule,
    UnreadableRule,
    UptimeRule,
)
from gwtui.watch.history.model import Subject
from history_kit import minutes


def test_credits(room: Room) -> None:
    room.rules = {"low": LOW}
    assert balance(room, 50, 10) == []
    assert balance(room, "9.50") == ["fired"]
    assert room.events[0].message == "$9.50 left"
    assert room.events[0].name == "account"
    assert room.events[0].title == LOW.name
    assert balance(room, 9, 11, None, "11.99") == [], "between the bounds, and unknown"
    assert room.alerts[0].message == "$9.00 left", "what is wrong follows the figure"
    assert balance(room, 12) == ["cleared"]
    assert room.alerts == ()


def test_of_one_figure_only_the_more_severe_alert_shows(room: Room) -> None:
    bounds = {"fires_at": Decimal(80), "clears_at": Decimal(75)}
    late = timedelta(minutes=2)
    near = KeyLimitRule(name="Near", **bounds)
    full = KeyLimitRule(name="Full", severity="critical", fire_after=late, **bounds)
    room.rules = {"near": near, "full": full}
    facts = {"limit": "100", "name": "ci"}

    def remaining(amount: int) -> tuple[list[str], dict[str, str]]:
        happened = room.see(KEY, {"limit_remaining": amount}, facts)
        return happened, room.states

    assert remaining(10) == (["fired"], {"near": "firing", "full": "pending"})
    assert remaining(10) == ([], {"near": "firing", "full": "pending"})
    assert remaining(10) == (["fired", "cleared"], {"full": "firing"})
    assert room.events[-1].message == "replaced by a more severe alert"
    assert remaining(15) == ([], {"full": "firing"})
    assert remaining(90) == (["cleared"], {})


def test_alerts_of_rules_of_one_name_can_be_told_apart(room: Room) -> None:
    room.rules = {"low": LOW, "second": LOW}
    balance(room, "9.50")
    assert {event.title for event in room.events} == {f"{LOW.name} (low)", f"{LOW.name} (second)"}


def test_runway(room: Room) -> None:
    rule = RunwayRule(
        name="Soon", fires_at=Decimal(7), clears_at=Decimal(8), fire_after=timedelta(minutes=10)
    )
    room.rules, room.every = {"soon": rule}, 3600
    used = Decimal(0)
    happened = []
    for hour in range(36):
        used += 1 if hour < 24 else 30
        room.now += minutes(59)
        figures = {"balance": 1000 - used, "total_usage": used}
        happened += [(hour, what) for what in room.see(ACCOUNT, figures)]
    assert [what for _, what in happened] == ["fired"]
    assert 26 < happened[0][0] < 36, "the day's rate rises some hours after the use"
    assert room.events[0].message.startswith("gone in ")


@pytest.mark.parametrize(
    ("rule", "good", "bad", "said"),
    [
        (
            UptimeRule(name="x", window="5m", fires_at=Decimal(90), clears_at=Decimal(95)),
            {"uptime_last_5m": 99, "uptime_last_30m": 10},
            {"uptime_last_5m": "82.5", "uptime_last_30m": 99},
            "82.5% of the requests of the last 5m succeeded",
        ),
        (
            LatencyRule(
                name="x", percentile="p99", fires_at=Decimal(5000), clears_at=Decimal(4000)
            ),
            {"latency_p99": 3000, "latency_p50": 9000},
            {"latency_p99": 12345, "latency_p50": 1},
            "p99 latency 12,345 ms",
        ),
        (StatusRule(name="x"), {"status": 0}, {"status": -2}, "the gateway reports status -2"),
    ],
)
def test_endpoints(room: Room, rule: Any, good: Any, bad: Any, said: str) -> None:
    room.rules = {"rule": rule.model_copy(update={"fire_after": 2 * minutes(1)})}
    silence = dict.fromkeys(good)
    assert room.see(ENDPOINT, silence) + room.see(ENDPOINT, good) == []
    assert room.see(ENDPOINT, bad) + room.see(ENDPOINT, bad) == []
    assert room.states == {"rule": "pending"}
    assert room.see(ENDPOINT, bad) == ["fired"]
    assert room.events[0].message == said
    assert room.events[0].name == "northwind/atlas at It"
    for _ in range(90):
        assert room.see(ENDPOINT, silence) == [], "no traffic is not well again"
    happened = [room.see(ENDPOINT, good) for _ in range(6)]
    assert [what for each in happened for what in each] == ["cleared"]


def test_an_endpoint_that_goes_and_comes(room: Room) -> None:
    room.rules = {
        "gone": GoneRule(name="Gone"),
        "down": StatusRule(name="x", fire_after=minutes(0)),
    }
    assert room.see(ENDPOINT, {"status": 1}, {}, covers=True) == ["fired"]
    assert room.see(ENDPOINT, {}, None, covers=True) == ["cleared", "fired"]
    assert [event.message for event in room.events[1:]] == [
        "no longer exists",
        "no longer offered",
    ]
    assert room.states == {"gone": "firing"}, "what lasted on it is over"
    assert room.see(ENDPOINT, {"status": 0}, {}, covers=True) == ["cleared"]
    assert room.events[-1].message == "offered again"
    room.see(ENDPOINT, {}, None, covers=True)
    assert room.later(timedelta(hours=23)) == []
    assert room.later(timedelta(hours=2)) == ["cleared"], "no news any more"


def test_a_price_that_changes(room: Room) -> None:
    room.rules = {
        "any": PriceRule(name="Any"),
        "large": PriceRule(name="Large", at_least=Decimal(50)),
    }
    room.see(ENDPOINT, {}, {"price_prompt": "0.000001", "price_completion": "0.000002"})
    assert room.see(ENDPOINT, {}, {"price_prompt": "0.0000012"}) == ["fired"]
    assert room.events[-1].message == "prompt $1.00 → $1.20 per million tokens (+20%)"
    assert room.see(ENDPOINT, {}, {"price_prompt": "0.000003", "price_completion": "0"}) == [
        "fired",
        "fired",
    ], "again is news again, and enough for the other rule"
    assert "completion $2.00 → $0.00 per million tokens (-100%)" in room.events[-1].message
    assert room.see(ENDPOINT, {}, {"overrides": [{"x": 1}]}) == ["fired", "fired"], (
        "what cannot be measured counts"
    )


def test_a_key_close_to_its_limit(room: Room) -> None:
    rule = KeyLimitRule(name="Near", fires_at=Decimal(80), clears_at=Decimal(75))
    room.rules = {"near": rule}
    limit = {"limit": "50", "disabled": False}
    assert room.see(KEY, {"limit_remaining": 20}, limit) == []
    assert room.see(KEY, {"limit_remaining": 10}, limit) == ["fired"], "80 % is enough"
    assert room.events[0].message == "80% of $50.00 is used"
    assert room.see(KEY, {"limit_remaining": None}, limit) == []
    assert room.see(KEY, {"limit_remaining": 12}, limit) == []
    assert room.see(KEY, {"limit_remaining": None}, {"limit": None}) == ["cleared"], "no limit now"
    assert room.see(KEY, {"limit_remaining": 1}, {"limit": "50"}) == ["fired"]
    assert room.see(KEY, {"limit_remaining": 1}, {"disabled": True}) == ["cleared"]
    assert room.see(KEY, {"limit_remaining": 0}, {"limit": "0", "disabled": False}) == ["fired"]
    assert room.see(KEY, {}, None, covers=True) == ["cleared"], "deleted"
    ended = (room.now + minutes(1)).isoformat().replace("+00:00", "Z")
    expired = {"limit": "50", "disabled": False, "expires_at": ended}
    assert room.see(KEY, {"limit_remaining": 0}, expired) == [], "refused from that moment on"


def test_a_key_that_expires(room: Room) -> None:
    room.rules = {"expires": KeyExpiryRule(name="Expires", within=Decimal(3))}
    facts = {"expires_at": "2026-11-10T00:00:00Z"}  # eight days after START
    happened = []
    for hour in range(1, 24 * 11):
        at = hour * 60
        if room.see(KEY, {"usage": 1}, facts, at=at):
            happened.append((hour / 24, room.events[-1].event))
    assert happened == [(5 + 1 / 24, "fired"), (9, "cleared")], "it stays for a day after the end"
    assert room.see(KEY, {"usage": 1}, {"expires_at": None}) == []


def test_a_workspace_close_to_a_budget(room: Room) -> None:
    rule = BudgetRule(name="Budget", fires_at=Decimal(90), clears_at=Decimal(85))
    room.rules = {
        "any": rule,
        "month": rule.model_copy(update={"interval": "monthly"}),
        "other": rule.model_copy(update={"scope": "workspace", "only": "space-2"}),
    }
    facts = {"budget_daily": "10", "budget_monthly": "100"}
    figures = {"budget_daily_remaining": "0.50", "budget_monthly_remaining": 80}
    assert room.see(SPACE, figures, facts) == ["fired"]
    assert room.events[0].message == "95% of the daily budget of $10.00 is spent"
    figures = {"budget_daily_remaining": None, "budget_monthly_remaining": None}
    assert room.see(SPACE, figures, facts) == []
    assert room.see(SPACE, figures, dict.fromkeys(facts)) == ["cleared"], "no budget now"


def test_a_guardrail_and_a_gateway_that_cannot_be_read(room: Room) -> None:
    room.rules = {
        "left": GuardrailRule(name="Left", scope="workspace", only="w", fire_after=minutes(0)),
        "blind": UnreadableRule(name="Blind"),
    }
    assert room.rules["left"].demand == "fewer than 1 endpoints"
    room.see(Subject("guardrail", "g"), {}, {"name": "Strict", "workspace_id": "w"})
    guarded = Subject("guarded", "g northwind/atlas")
    assert room.see(guarded, {"healthy_endpoints": None}) == [], "no traffic tells nothing"
    assert room.see(guarded, {"healthy_endpoints": 0}) == ["fired"]
    assert room.events[0].name == "Strict · northwind/atlas"
    assert room.events[0].message == "healthy endpoints left: 0"
    gateway = Subject("gateway", "account")
    happened = [room.see(gateway, {"unreadable": 1}) for _ in range(7)]
    assert happened == [[], [], [], [], [], ["fired"], []], "for five minutes"


def test_scopes(room: Room) -> None:
    rule = StatusRule(name="x", fire_after=minutes(0))
    room.rules = {
        "model": rule.model_copy(update={"scope": "model", "only": "northwind/atlas"}),
        "endpoint": rule.model_copy(update={"scope": "endpoint", "only": ENDPOINT.identity}),
        "other": rule.model_copy(update={"scope": "model", "only": "northwind/at"}),
        "off": rule.model_copy(update={"enabled": False}),
    }
    room.see(ENDPOINT, {"status": 1})
    assert set(room.states) == {"model", "endpoint"}
