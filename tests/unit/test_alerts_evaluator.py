"""Alert rules over recorded readings: firing, messages, timing, acknowledging, silencing."""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from decimal import Decimal
from typing import Any

import pytest

from gwtui.domain.alert_rules import (
    AlertRule,
    BudgetRule,
    CreditsRule,
    GoneRule,
    KeyExpiryRule,
    KeyLimitRule,
    LatencyRule,
    PriceRule,
    RunwayRule,
    StatusRule,
    UnreadableRule,
    UptimeRule,
)
from gwtui.watch.alerts import store
from gwtui.watch.alerts.evaluator import PersistentEvaluator
from gwtui.watch.alerts.model import Alert, AlertEvent, AlertKey
from gwtui.watch.history.file import transaction
from gwtui.watch.history.model import Fields, Observation, Subject
from history_kit import START, HistoryFile, minutes

ACCOUNT = Subject("credits", "account")
ENDPOINT = Subject("endpoint", "northwind/atlas tag||fp8")
KEY = Subject("key", "c0ffee")
SPACE = Subject("workspace", "space-1")
FIVE = timedelta(minutes=5)
LOW = CreditsRule(name="Low", fires_at=Decimal(10), clears_at=Decimal(12))


@dataclass
class RuleHarness:
    """A history file and its evaluation; readings are ``every`` seconds apart."""

    history: HistoryFile
    rules: dict[str, AlertRule]
    core: PersistentEvaluator = field(default_factory=PersistentEvaluator)
    now: datetime = START
    every: int = 60
    events: list[AlertEvent] = field(default_factory=list)

    def see(
        self,
        subject: Subject,
        figures: Mapping[str, Any],
        facts: Fields | None = None,
        *,
        covers: bool = False,
        at: float | None = None,
    ) -> list[str]:
        """Record a reading and run the rules; return the events."""
        self.now = self.now + minutes(1) if at is None else START + minutes(at)
        values = {
            name: None if value is None else Decimal(str(value)) for name, value in figures.items()
        }
        missing = covers and facts is None
        observation = Observation(
            subject.resource,
            self.now,
            self.every,
            {} if missing else {subject: values},
            {} if missing else {subject: {"name": "It", **(facts or {})}},
            Subject(subject.resource, "") if covers else None,
        )
        self.history.observe(observation)
        return self.run((observation,))

    def run(self, observations: Sequence[Observation] = ()) -> list[str]:
        with transaction(self.connection):
            events = self.core.run(self.connection, self.rules, observations, self.now)
        self.events += events
        return [event.event for event in events]

    def later(self, by: timedelta) -> list[str]:
        self.now += by
        return self.run()

    def restart(self) -> None:
        self.core = PersistentEvaluator()

    @property
    def alerts(self) -> tuple[Alert, ...]:
        return store.read_alerts(self.connection, self.now)

    @property
    def connection(self) -> sqlite3.Connection:
        return self.history.connection

    @property
    def states(self) -> dict[str, str]:
        return {alert.key.rule: alert.status.state for alert in self.alerts}


def balance(harness: RuleHarness, *amounts: Any, at: float | None = None) -> list[str]:
    happened = []
    for amount in amounts:
        happened += harness.see(ACCOUNT, {"balance": amount, "total_usage": None}, at=at)
    return happened


@pytest.fixture
def harness(history: HistoryFile) -> RuleHarness:
    return RuleHarness(history, {})


# Every kind of rule -------------------------------------------------------------------------------


def test_credits_rules_fire_and_clear(harness: RuleHarness) -> None:
    harness.rules = {"low": LOW}
    assert balance(harness, 50, 10) == []
    assert balance(harness, "9.50") == ["fired"]
    assert harness.events[0].message == "$9.50 left"
    assert harness.events[0].name == "account"
    assert harness.events[0].title == LOW.name
    assert balance(harness, 9, 11, None, "11.99") == [], "no event between the thresholds"
    assert harness.alerts[0].message == "$9.00 left", "the message shows the current value"
    assert balance(harness, 12) == ["cleared"]
    assert harness.alerts == ()


def test_only_the_more_severe_alert_on_a_figure_shows(harness: RuleHarness) -> None:
    bounds = {"fires_at": Decimal(80), "clears_at": Decimal(75)}
    late = timedelta(minutes=2)
    near = KeyLimitRule(name="Near", **bounds)
    full = KeyLimitRule(name="Full", severity="critical", fire_after=late, **bounds)
    harness.rules = {"near": near, "full": full}
    facts = {"limit": "100", "name": "ci"}

    def remaining(amount: int) -> tuple[list[str], dict[str, str]]:
        happened = harness.see(KEY, {"limit_remaining": amount}, facts)
        return happened, harness.states

    assert remaining(10) == (["fired"], {"near": "firing", "full": "pending"})
    assert remaining(10) == ([], {"near": "firing", "full": "pending"})
    assert remaining(10) == (["fired", "cleared"], {"full": "firing"})
    assert harness.events[-1].message == "replaced by a more severe alert"
    assert remaining(15) == ([], {"full": "firing"})
    assert remaining(90) == (["cleared"], {})


def test_alerts_of_rules_of_one_name_can_be_told_apart(harness: RuleHarness) -> None:
    harness.rules = {"low": LOW, "second": LOW}
    balance(harness, "9.50")
    assert {event.title for event in harness.events} == {
        f"{LOW.name} (low)",
        f"{LOW.name} (second)",
    }


def test_runway_rules_fire_and_clear(harness: RuleHarness) -> None:
    rule = RunwayRule(
        name="Soon", fires_at=Decimal(7), clears_at=Decimal(8), fire_after=timedelta(minutes=10)
    )
    harness.rules, harness.every = {"soon": rule}, 3600
    used = Decimal(0)
    happened = []
    for hour in range(36):
        used += 1 if hour < 24 else 30
        harness.now += minutes(59)
        figures = {"balance": 1000 - used, "total_usage": used}
        happened += [(hour, event) for event in harness.see(ACCOUNT, figures)]
    assert [event for _, event in happened] == ["fired"]
    assert 26 < happened[0][0] < 36, "the daily rate rises some hours after the usage"
    assert harness.events[0].message.startswith("gone in ")


@pytest.mark.parametrize(
    ("rule", "good", "bad", "message"),
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
def test_endpoint_rules_fire_and_clear(
    harness: RuleHarness, rule: Any, good: Any, bad: Any, message: str
) -> None:
    harness.rules = {"rule": rule.model_copy(update={"fire_after": 2 * minutes(1)})}
    silence = dict.fromkeys(good)
    assert harness.see(ENDPOINT, silence) + harness.see(ENDPOINT, good) == []
    assert harness.see(ENDPOINT, bad) + harness.see(ENDPOINT, bad) == []
    assert harness.states == {"rule": "pending"}
    assert harness.see(ENDPOINT, bad) == ["fired"]
    assert harness.events[0].message == message
    assert harness.events[0].name == "northwind/atlas at It"
    for _ in range(90):
        assert harness.see(ENDPOINT, silence) == [], "missing traffic does not clear an alert"
    happened = [harness.see(ENDPOINT, good) for _ in range(6)]
    assert [event for item in happened for event in item] == ["cleared"]


def test_a_missing_endpoint_fires_and_clears(harness: RuleHarness) -> None:
    harness.rules = {
        "gone": GoneRule(name="Gone"),
        "down": StatusRule(name="x", fire_after=minutes(0)),
    }
    assert harness.see(ENDPOINT, {"status": 1}, {}, covers=True) == ["fired"]
    assert harness.see(ENDPOINT, {}, None, covers=True) == ["cleared", "fired"]
    assert [event.message for event in harness.events[1:]] == [
        "no longer exists",
        "no longer offered",
    ]
    assert harness.states == {"gone": "firing"}, "other rules end with the endpoint"
    assert harness.see(ENDPOINT, {"status": 0}, {}, covers=True) == ["cleared"]
    assert harness.events[-1].message == "offered again"
    harness.see(ENDPOINT, {}, None, covers=True)
    assert harness.later(timedelta(hours=23)) == []
    assert harness.later(timedelta(hours=2)) == ["cleared"], "cleared after a day"


def test_a_price_that_changes(harness: RuleHarness) -> None:
    harness.rules = {
        "any": PriceRule(name="Any"),
        "large": PriceRule(name="Large", at_least=Decimal(50)),
    }
    harness.see(ENDPOINT, {}, {"price_prompt": "0.000001", "price_completion": "0.000002"})
    assert harness.see(ENDPOINT, {}, {"price_prompt": "0.0000012"}) == ["fired"]
    assert harness.events[-1].message == "prompt $1.00 → $1.20 per million tokens (+20%)"
    assert harness.see(ENDPOINT, {}, {"price_prompt": "0.000003", "price_completion": "0"}) == [
        "fired",
        "fired",
    ], "the second change also reaches the other threshold"
    assert "completion $2.00 → $0.00 per million tokens (-100%)" in harness.events[-1].message
    assert harness.see(ENDPOINT, {}, {"overrides": [{"x": 1}]}) == ["fired", "fired"], (
        "a change without a percentage fires as well"
    )


def test_a_key_close_to_its_limit(harness: RuleHarness) -> None:
    rule = KeyLimitRule(name="Near", fires_at=Decimal(80), clears_at=Decimal(75))
    harness.rules = {"near": rule}
    limit = {"limit": "50", "disabled": False}
    assert harness.see(KEY, {"limit_remaining": 20}, limit) == []
    assert harness.see(KEY, {"limit_remaining": 10}, limit) == ["fired"], "80 % fires"
    assert harness.events[0].message == "80% of $50.00 is used"
    assert harness.see(KEY, {"limit_remaining": None}, limit) == []
    assert harness.see(KEY, {"limit_remaining": 12}, limit) == []
    assert harness.see(KEY, {"limit_remaining": None}, {"limit": None}) == ["cleared"], (
        "the limit was removed"
    )
    assert harness.see(KEY, {"limit_remaining": 1}, {"limit": "50"}) == ["fired"]
    assert harness.see(KEY, {"limit_remaining": 1}, {"disabled": True}) == ["cleared"]
    assert harness.see(KEY, {"limit_remaining": 0}, {"limit": "0", "disabled": False}) == ["fired"]
    assert harness.see(KEY, {}, None, covers=True) == ["cleared"], "deleted"
    ended = (harness.now + minutes(1)).isoformat().replace("+00:00", "Z")
    expired = {"limit": "50", "disabled": False, "expires_at": ended}
    assert harness.see(KEY, {"limit_remaining": 0}, expired) == [], (
        "an expired key is refused anyway"
    )


def test_a_key_that_expires(harness: RuleHarness) -> None:
    harness.rules = {"expires": KeyExpiryRule(name="Expires", within=Decimal(3))}
    facts = {"expires_at": "2026-11-10T00:00:00Z"}  # eight days after START
    happened = []
    for hour in range(1, 24 * 11):
        minute = hour * 60
        if harness.see(KEY, {"usage": 1}, facts, at=minute):
            happened.append((hour / 24, harness.events[-1].event))
    assert happened == [(5 + 1 / 24, "fired"), (9, "cleared")], "it clears one day after the expiry"
    assert harness.see(KEY, {"usage": 1}, {"expires_at": None}) == []


def test_a_workspace_close_to_a_budget(harness: RuleHarness) -> None:
    rule = BudgetRule(name="Budget", fires_at=Decimal(90), clears_at=Decimal(85))
    harness.rules = {
        "any": rule,
        "month": rule.model_copy(update={"interval": "monthly"}),
        "other": rule.model_copy(update={"scope": "workspace", "only": "space-2"}),
    }
    facts = {"budget_daily": "10", "budget_monthly": "100"}
    figures = {"budget_daily_remaining": "0.50", "budget_monthly_remaining": 80}
    assert harness.see(SPACE, figures, facts) == ["fired"]
    assert harness.events[0].message == "95% of the daily budget of $10.00 is spent"
    figures = {"budget_daily_remaining": None, "budget_monthly_remaining": None}
    assert harness.see(SPACE, figures, facts) == []
    assert harness.see(SPACE, figures, dict.fromkeys(facts)) == ["cleared"], (
        "the budget was removed"
    )


def test_a_gateway_that_cannot_be_read(harness: RuleHarness) -> None:
    harness.rules = {
        "blind": UnreadableRule(name="Blind"),
    }
    gateway = Subject("gateway", "account")
    happened = [harness.see(gateway, {"unreadable": 1}) for _ in range(7)]
    assert happened == [[], [], [], [], [], ["fired"], []], "for five minutes"


def test_rules_apply_to_their_scope(harness: RuleHarness) -> None:
    rule = StatusRule(name="x", fire_after=minutes(0))
    harness.rules = {
        "model": rule.model_copy(update={"scope": "model", "only": "northwind/atlas"}),
        "endpoint": rule.model_copy(update={"scope": "endpoint", "only": ENDPOINT.identity}),
        "other": rule.model_copy(update={"scope": "model", "only": "northwind/at"}),
        "off": rule.model_copy(update={"enabled": False}),
    }
    harness.see(ENDPOINT, {"status": 1})
    assert set(harness.states) == {"model", "endpoint"}


# What lasts -------------------------------------------------------------------------------------


def test_firing_alerts_do_not_fire_again_after_a_restart(harness: RuleHarness) -> None:
    harness.rules = {"low": LOW}
    balance(harness, 5)
    harness.restart()
    assert balance(harness, 5, 4) == []
    assert harness.states == {"low": "firing"}
    assert balance(harness, 50) == ["cleared"]


def test_pending_alerts_start_over_after_a_restart(harness: RuleHarness) -> None:
    harness.rules = {"low": LOW.model_copy(update={"fire_after": FIVE})}
    balance(harness, 5, 5, 5, 5)
    assert harness.states == {"low": "pending"}
    harness.restart()
    assert balance(harness, 5, 5, 5, 5, 5) == [], "the unrecorded pause does not count"
    assert balance(harness, 5) == ["fired"]


def test_changes_recorded_before_a_crash_fire_after_it(harness: RuleHarness) -> None:
    harness.rules = {"price": PriceRule(name="Price")}
    harness.see(ENDPOINT, {}, {"price_prompt": "1"})
    observation = Observation(
        "endpoint", harness.now + FIVE, 60, {}, {ENDPOINT: {"price_prompt": "2"}}
    )
    harness.history.observe(observation)  # killed here
    harness.restart()
    harness.now += 2 * FIVE
    assert harness.run() == ["fired"]
    harness.restart()
    assert harness.run() == [], "once"


def test_changes_older_than_the_rules_do_not_fire(harness: RuleHarness) -> None:
    for price in ("1", "2"):
        observation = Observation(
            "endpoint", harness.now, 60, {}, {ENDPOINT: {"price_prompt": price}}
        )
        harness.history.observe(observation)
        harness.now += FIVE
    harness.rules = {"price": PriceRule(name="Price")}
    assert harness.run() == []


def test_rules_that_change(harness: RuleHarness) -> None:
    harness.rules = {"low": LOW}
    balance(harness, 5)
    harness.rules = {"low": LOW.model_copy(update={"name": "Lower", "severity": "warning"})}
    assert harness.run() == []
    assert (harness.alerts[0].title, harness.alerts[0].severity) == ("Lower", "warning")
    harness.rules = {
        "low": LOW.model_copy(update={"fires_at": Decimal(2), "clears_at": Decimal(3)})
    }
    assert balance(harness, 5) == ["cleared"], "cleared by the new thresholds"
    harness.rules = {"low": LOW}
    balance(harness, 5)
    harness.rules = {"low": LOW.model_copy(update={"enabled": False})}
    assert harness.run() == ["cleared"]
    assert harness.events[-1].message == "the rule is switched off"
    harness.rules = {"low": LOW}
    balance(harness, 5)
    harness.rules = {}
    harness.restart()
    assert harness.run() == ["cleared"], "also if the rule was removed in between"


# What a person does -------------------------------------------------------------------------------


LOW_BALANCE = AlertKey("low", ACCOUNT)


@pytest.fixture
def firing(harness: RuleHarness) -> RuleHarness:
    """A low balance that fired."""
    harness.rules = {"low": LOW}
    balance(harness, 5)
    return harness


def silence(harness: RuleHarness) -> None:
    until = harness.now + timedelta(hours=1)
    store.silence(harness.connection, [LOW_BALANCE], harness.now, until=until, who="kim")


def test_an_acknowledgement_lasts_until_the_next_firing(firing: RuleHarness) -> None:
    events = store.acknowledge(firing.connection, [LOW_BALANCE, LOW_BALANCE], firing.now, "kim@ops")
    assert [event.event for event in events] == ["acknowledged"], "each alert is acknowledged once"
    assert not firing.alerts[0].loud
    assert firing.alerts[0].acknowledged_by == "kim@ops"
    assert balance(firing, 4, 3) == []
    firing.restart()
    balance(firing, 2)
    assert firing.alerts[0].acknowledged_by == "kim@ops"
    assert balance(firing, 50, 5) == ["cleared", "fired"]
    assert firing.alerts[0].loud


def test_acknowledging_an_event_ends_it(harness: RuleHarness) -> None:
    harness.rules = {"price": PriceRule(name="Price")}
    harness.see(ENDPOINT, {}, {"price_prompt": "1"})
    harness.see(ENDPOINT, {}, {"price_prompt": "2"})
    store.acknowledge(harness.connection, [AlertKey("price", ENDPOINT)], harness.now, "kim")
    assert harness.run() == ["cleared"]
    assert harness.alerts == ()


def test_silence_expires_and_notices_resume(firing: RuleHarness) -> None:
    silence(firing)
    assert not firing.alerts[0].loud
    assert balance(firing, 50, 5) == ["cleared", "fired"]
    assert all(event.quiet and not event.notifies for event in firing.events[-2:]), "silenced"
    firing.restart()
    assert firing.later(timedelta(minutes=30)) == []
    assert firing.later(timedelta(minutes=30)) == ["unsilenced"]
    assert firing.events[-1].notifies
    assert firing.events[-1].message == "the silence ended: $5.00 left"
    assert firing.alerts[0].loud
    assert firing.later(timedelta(hours=1)) == [], "once"


def test_silence_on_a_cleared_alert_ends_quietly(firing: RuleHarness) -> None:
    silence(firing)
    balance(firing, 50)
    assert firing.later(timedelta(hours=2)) == []
    assert [event.notifies for event in balance(firing, 5) and firing.events[-1:]] == [True]


def test_silence_can_be_lifted(firing: RuleHarness) -> None:
    silence(firing)
    lifted = store.unsilence(firing.connection, [LOW_BALANCE], firing.now, "lee")
    assert [(event.event, event.who) for event in lifted] == [("unsilenced", "lee")]
    assert store.unsilence(firing.connection, [LOW_BALANCE], firing.now, "lee") == ()
    history = store.read_events(firing.connection)
    assert [(event.event, event.who) for event in history] == [
        ("unsilenced", "lee"),
        ("silenced", "kim"),
        ("fired", ""),
    ]
    assert history[1].until == firing.now + timedelta(hours=1)


def test_the_history_of_alerts_is_bounded(
    harness: RuleHarness, monkeypatch: pytest.MonkeyPatch
) -> None:
    harness.rules = {"low": LOW}
    monkeypatch.setattr(store, "MOST_EVENTS", 10)
    for _ in range(20):
        balance(harness, 5, 50)
    harness.later(timedelta(hours=7))
    assert len(store.read_events(harness.connection)) == 10
    harness.later(timedelta(days=366))
    assert store.read_events(harness.connection) == ()
