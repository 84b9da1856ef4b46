"""Rules over recorded readings: what fires, what outlives a restart, what a person does."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from gwtui.domain.alert_rules import (
    AlertRule,
    BudgetRule,
    CreditsRule,
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
    default_rules,
)
from gwtui.domain.clock import Clock
from gwtui.watch.alerts import store
from gwtui.watch.alerts.desk import AlertDesk
from gwtui.watch.alerts.model import Alert, AlertEvent, AlertKey
from gwtui.watch.history.errors import LeaseLostError
from gwtui.watch.history.file import open_writable
from gwtui.watch.history.lease import Lease
from gwtui.watch.history.model import Fields, Observation, Sample, Series, SeriesKey, Subject
from gwtui.watch.history.writer import HistoryWriter
from history_kit import START, Desk, desk, minutes

ACCOUNT = Subject("credits", "account")
ENDPOINT = Subject("endpoint", "northwind/atlas tag||fp8")
KEY = Subject("key", "c0ffee")
SPACE = Subject("workspace", "space-1")
FIVE = timedelta(minutes=5)

LOW = CreditsRule(name="Low", fires_at=Decimal(10), clears_at=Decimal(12))


@dataclass
class Room:
    """One history file with an evaluation beside it; readings are ``every`` seconds apart."""

    desk: Desk
    rules: dict[str, AlertRule]
    core: AlertDesk = field(default_factory=AlertDesk)
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
        """Record a reading and run the rules; gives what happened."""
        self.now = self.now + minutes(1) if at is None else START + minutes(at)
        samples = tuple(
            Sample(
                Series(SeriesKey(*subject, name)), None if value is None else Decimal(str(value))
            )
            for name, value in figures.items()
        )
        gone = covers and facts is None
        seen = Observation(
            subject.resource,
            self.now,
            self.every,
            () if gone else samples,
            {} if gone else {subject: {"name": "It", **(facts or {})}},
            Subject(subject.resource, "") if covers else None,
        )
        self.desk.writer.observe(seen)
        return self.run((seen,))

    def run(self, seen: Sequence[Observation] = ()) -> list[str]:
        events = self.core.run(self.desk.writer, self.rules, seen, self.now)
        self.events += events
        return [event.event for event in events]

    def later(self, by: timedelta) -> list[str]:
        self.now += by
        return self.run()

    def restart(self) -> None:
        self.core = AlertDesk()

    @property
    def alerts(self) -> tuple[Alert, ...]:
        return store.read_alerts(self.connection, self.now)

    @property
    def connection(self) -> sqlite3.Connection:
        return self.desk.connection

    @property
    def states(self) -> dict[str, str]:
        return {alert.key.rule: alert.standing.state for alert in self.alerts}


@pytest.fixture
def room(tmp_path: Path) -> Iterator[Room]:
    with desk(tmp_path / "h.sqlite3") as opened:
        yield Room(opened, {})


def balance(room: Room, *amounts: Any, at: float | None = None) -> list[str]:
    happened = []
    for amount in amounts:
        happened += room.see(ACCOUNT, {"balance": amount, "total_usage": None}, at=at)
    return happened


# Every kind of rule -----------------------------------------------------------------------------


def test_credits(room: Room) -> None:
    room.rules = {"low": LOW}
    assert balance(room, 50, 10) == []
    assert balance(room, "9.50") == ["fired"]
    assert room.events[0].said == "$9.50 left"
    assert room.events[0].name == "account"
    assert balance(room, 9, 11, None, "11.99") == [], "between the bounds, and unknown"
    assert room.alerts[0].said == "$9.00 left", "what is wrong follows the figure"
    assert balance(room, 12) == ["cleared"]
    assert room.alerts == ()


def test_runway(room: Room) -> None:
    rule = RunwayRule(
        name="Soon", fires_at=Decimal(7), clears_at=Decimal(8), fire_after=timedelta(minutes=10)
    )
    room.rules, room.every = {"soon": rule}, 600
    used = Decimal(0)
    happened = []
    for hour in range(60):
        for _ in range(6):
            used += Decimal(1 if hour < 48 else 30) / 6
            room.now += minutes(9)
            figures = {"balance": Decimal(1000) - used, "total_usage": used}
            happened += [(hour, what) for what in room.see(ACCOUNT, figures)]
    assert [what for _, what in happened] == ["fired"]
    assert 50 < happened[0][0] < 60, "the day's rate rises some hours after the use"
    assert room.events[0].said.startswith("gone in ")


@pytest.mark.parametrize(
    ("rule", "good", "bad", "said"),
    [
        (
            UptimeRule(name="x", window="5m", fires_at=Decimal(90), clears_at=Decimal(95)),
            {"uptime_last_5m": 99, "uptime_last_30m": 10},
            {"uptime_last_5m": "82.5", "uptime_last_30m": 99},
            "82.5% of the requests of 5 min were good",
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
    assert room.events[0].said == said
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
    assert [event.said for event in room.events[1:]] == [
        "it is not there any more",
        "not offered any more",
    ]
    assert room.states == {"gone": "firing"}, "what lasted on it is over"
    assert room.see(ENDPOINT, {"status": 0}, {}, covers=True) == ["cleared"]
    assert room.events[-1].said == "it is offered again"
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
    assert room.events[-1].said == "prompt $1.00 → $1.20 per million tokens (+20%)"
    assert room.see(ENDPOINT, {}, {"price_prompt": "0.000003", "price_completion": "0"}) == [
        "fired",
        "fired",
    ], "again is news again, and enough for the other rule"
    assert "completion $2.00 → $0.00 per million tokens (-100%)" in room.events[-1].said
    assert room.see(ENDPOINT, {}, {"overrides": [{"x": 1}]}) == ["fired", "fired"], (
        "what cannot be measured counts"
    )


def test_a_key_close_to_its_limit(room: Room) -> None:
    rule = KeyLimitRule(name="Near", fires_at=Decimal(80), clears_at=Decimal(75))
    room.rules = {"near": rule}
    limit = {"limit": "50", "disabled": False}
    assert room.see(KEY, {"limit_remaining": 20}, limit) == []
    assert room.see(KEY, {"limit_remaining": 10}, limit) == ["fired"], "80 % is enough"
    assert room.events[0].said == "80% of $50.00 is used"
    assert room.see(KEY, {"limit_remaining": None}, limit) == []
    assert room.see(KEY, {"limit_remaining": 12}, limit) == []
    assert room.see(KEY, {"limit_remaining": None}, {"limit": None}) == ["cleared"], "no limit now"
    assert room.see(KEY, {"limit_remaining": 1}, {"limit": "50"}) == ["fired"]
    assert room.see(KEY, {"limit_remaining": 1}, {"disabled": True}) == ["cleared"]
    assert room.see(KEY, {"limit_remaining": 0}, {"limit": "0", "disabled": False}) == ["fired"]
    assert room.see(KEY, {}, None, covers=True) == ["cleared"], "deleted"


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
    assert room.events[0].said == "95% of the daily budget of $10.00 is spent"
    figures = {"budget_daily_remaining": None, "budget_monthly_remaining": None}
    assert room.see(SPACE, figures, facts) == []
    assert room.see(SPACE, figures, dict.fromkeys(facts)) == ["cleared"], "no budget now"


def test_a_guardrail_and_a_gateway_that_cannot_be_read(room: Room) -> None:
    room.rules = {
        "left": GuardrailRule(name="Left", scope="workspace", only="w", fire_after=minutes(0)),
        "blind": UnreadableRule(name="Blind"),
    }
    room.see(Subject("guardrail", "g"), {}, {"name": "Strict", "workspace_id": "w"})
    guarded = Subject("guarded", "g northwind/atlas")
    assert room.see(guarded, {"healthy_endpoints": None}) == [], "no traffic tells nothing"
    assert room.see(guarded, {"healthy_endpoints": 0}) == ["fired"]
    assert room.events[0].name == "Strict · northwind/atlas"
    assert room.events[0].said == "no healthy endpoint left"
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


# What lasts -------------------------------------------------------------------------------------


def test_what_fires_already_does_not_fire_again_after_a_restart(room: Room) -> None:
    room.rules = {"low": LOW}
    balance(room, 5)
    room.restart()
    assert balance(room, 5, 4) == []
    assert room.states == {"low": "firing"}
    assert balance(room, 50) == ["cleared"]


def test_what_is_pending_begins_anew_after_a_restart(room: Room) -> None:
    room.rules = {"low": LOW.model_copy(update={"fire_after": FIVE})}
    balance(room, 5, 5, 5, 5)
    assert room.states == {"low": "pending"}
    room.restart()
    assert balance(room, 5, 5, 5, 5, 5) == [], "the pause was not seen"
    assert balance(room, 5) == ["fired"]


def test_changes_written_before_a_crash_are_told_after_it(room: Room) -> None:
    room.rules = {"price": PriceRule(name="Price")}
    room.see(ENDPOINT, {}, {"price_prompt": "1"})
    seen = Observation("endpoint", room.now + FIVE, 60, (), {ENDPOINT: {"price_prompt": "2"}})
    room.desk.writer.observe(seen)  # killed here
    room.restart()
    room.now += 2 * FIVE
    assert room.run() == ["fired"]
    room.restart()
    assert room.run() == [], "once"


def test_changes_from_before_there_were_rules_are_history(room: Room) -> None:
    for price in ("1", "2"):
        seen = Observation("endpoint", room.now, 60, (), {ENDPOINT: {"price_prompt": price}})
        room.desk.writer.observe(seen)
        room.now += FIVE
    room.rules = {"price": PriceRule(name="Price")}
    assert room.run() == []


def test_who_lost_the_lease_tells_nobody(room: Room, tmp_path: Path) -> None:
    room.rules = {"low": LOW}
    seen = Observation(
        "c", room.now, 60, (Sample(Series(SeriesKey(*ACCOUNT, "balance")), Decimal(1)),)
    )
    with closing(open_writable(tmp_path / "h.sqlite3", START).connection) as connection:
        room.desk.lease.release(room.connection)
        other = Lease(Clock(now=lambda: START, monotonic=lambda: 0.0))
        assert other.hold(connection)
        with pytest.raises(LeaseLostError):
            room.run((seen,))
        events = AlertDesk().run(HistoryWriter(connection, other.id), room.rules, (seen,), room.now)
        assert [event.event for event in events] == ["fired"], "the other one does"


def test_rules_that_change(room: Room) -> None:
    room.rules = {"low": LOW}
    balance(room, 5)
    room.rules = {"low": LOW.model_copy(update={"name": "Lower", "severity": "warning"})}
    assert room.run() == []
    assert (room.alerts[0].title, room.alerts[0].severity) == ("Lower", "warning")
    room.rules = {"low": LOW.model_copy(update={"fires_at": Decimal(2), "clears_at": Decimal(3)})}
    assert balance(room, 5) == ["cleared"], "well by the new bounds"
    room.rules = {"low": LOW}
    balance(room, 5)
    room.rules = {"low": LOW.model_copy(update={"enabled": False})}
    assert room.run() == ["cleared"]
    assert room.events[-1].said == "the rule is switched off"
    room.rules = {"low": LOW}
    balance(room, 5)
    room.rules = {}
    room.restart()
    assert room.run() == ["cleared"], "also when it went while nobody evaluated"


# What a person does -----------------------------------------------------------------------------


def test_acknowledging_holds_until_it_fires_anew(room: Room) -> None:
    room.rules = {"low": LOW}
    balance(room, 5)
    key = AlertKey("low", ACCOUNT)
    done = store.acknowledge(room.connection, [key, key], room.now, "kim@ops")
    assert [event.event for event in done] == ["acknowledged"], "once is enough"
    assert not room.alerts[0].loud
    assert room.alerts[0].acknowledged_by == "kim@ops"
    assert balance(room, 4, 3) == []
    room.restart()
    balance(room, 2)
    assert room.alerts[0].acknowledged_by == "kim@ops"
    assert balance(room, 50, 5) == ["cleared", "fired"]
    assert room.alerts[0].loud


def test_acknowledging_what_happened_ends_it(room: Room) -> None:
    room.rules = {"price": PriceRule(name="Price")}
    room.see(ENDPOINT, {}, {"price_prompt": "1"})
    room.see(ENDPOINT, {}, {"price_prompt": "2"})
    store.acknowledge(room.connection, [AlertKey("price", ENDPOINT)], room.now, "kim")
    assert room.run() == ["cleared"]
    assert room.alerts == ()


def test_silence_ends_by_itself_and_then_tells_again(room: Room) -> None:
    room.rules = {"low": LOW}
    balance(room, 5)
    key = AlertKey("low", ACCOUNT)
    store.silence(room.connection, [key], room.now, room.now + timedelta(hours=1), "kim")
    assert not room.alerts[0].loud
    assert balance(room, 50, 5) == ["cleared", "fired"]
    assert all(event.quiet and not event.told for event in room.events[-2:]), "nobody is told"
    room.restart()
    assert room.later(timedelta(minutes=30)) == []
    assert room.later(timedelta(minutes=30)) == ["unsilenced"]
    assert room.events[-1].told
    assert room.events[-1].said == "the silence is over: $5.00 left"
    assert room.alerts[0].loud
    assert room.later(timedelta(hours=1)) == [], "once"


def test_silence_on_what_is_over_ends_without_a_word(room: Room) -> None:
    room.rules = {"low": LOW}
    balance(room, 5)
    key = AlertKey("low", ACCOUNT)
    store.silence(room.connection, [key], room.now, room.now + timedelta(hours=1), "kim")
    balance(room, 50)
    assert room.later(timedelta(hours=2)) == []
    assert [event.told for event in balance(room, 5) and room.events[-1:]] == [True]


def test_silence_can_be_lifted(room: Room) -> None:
    room.rules = {"low": LOW}
    balance(room, 5)
    key = AlertKey("low", ACCOUNT)
    store.silence(room.connection, [key], room.now, room.now + timedelta(hours=1), "kim")
    lifted = store.lift(room.connection, [key], room.now, "lee")
    assert [(event.event, event.who) for event in lifted] == [("unsilenced", "lee")]
    assert store.lift(room.connection, [key], room.now, "lee") == ()
    history = store.read_events(room.connection)
    assert [(event.event, event.who) for event in history] == [
        ("unsilenced", "lee"),
        ("silenced", "kim"),
        ("fired", ""),
    ]
    assert history[1].until == room.now + timedelta(hours=1)


def test_the_history_of_alerts_is_bounded(room: Room, monkeypatch: pytest.MonkeyPatch) -> None:
    room.rules = {"low": LOW}
    monkeypatch.setattr(store, "MOST_EVENTS", 10)
    for _ in range(20):
        balance(room, 5, 50)
    room.later(timedelta(hours=7))
    assert len(store.read_events(room.connection)) == 10
    room.later(timedelta(days=366))
    assert store.read_events(room.connection) == ()


# A week -----------------------------------------------------------------------------------------


def test_a_simulated_week(room: Room) -> None:
    """Every ten minutes for seven days: each trouble is told once, and nothing else is."""
    room.rules, room.every = default_rules(), 600
    used, told = Decimal(0), []
    for place in range(7 * 144):
        hour = place / 6
        night = 60 <= hour < 63
        weak = 30 <= hour < 34 and place % 2  # trembles around the bound
        used += Decimal("0.1")
        room.see(ACCOUNT, {"balance": 1200 - used, "total_usage": used}, at=place * 10)
        uptime = 40 if night else 91 if weak else None if 100 <= hour < 120 else 99
        room.see(ENDPOINT, {"uptime_last_30m": uptime, "status": 0}, at=place * 10 + 1)
        told += [(round(hour), one.event, one.key.rule) for one in room.events[len(told) :]]
    assert told == [(60, "fired", "endpoint-failing"), (63, "cleared", "endpoint-failing")]
