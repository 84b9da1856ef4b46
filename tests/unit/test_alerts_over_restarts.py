"""Alerts over time: restarts, crashes, a lost lease, other rules, a week of readings."""

from __future__ import annotations

from decimal import Decimal

from alerts_kit import ACCOUNT, ENDPOINT, FIVE, LOW, Room, balance

from gwtui.domain.alert_rules import PriceRule, default_rules
from gwtui.watch.history.model import Observation

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
    seen = Observation("endpoint", room.now + FIVE, 60, {}, {ENDPOINT: {"price_prompt": "2"}})
    room.desk.observe(seen)  # killed here
    room.restart()
    room.now += 2 * FIVE
    assert room.run() == ["fired"]
    room.restart()
    assert room.run() == [], "once"


def test_changes_from_before_there_were_rules_are_history(room: Room) -> None:
    for price in ("1", "2"):
        seen = Observation("endpoint", room.now, 60, {}, {ENDPOINT: {"price_prompt": price}})
        room.desk.observe(seen)
        room.now += FIVE
    room.rules = {"price": PriceRule(name="Price")}
    assert room.run() == []


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
    assert room.events[-1].message == "the rule is switched off"
    room.rules = {"low": LOW}
    balance(room, 5)
    room.rules = {}
    room.restart()
    assert room.run() == ["cleared"], "also when it went while nobody evaluated"


# Over days --------------------------------------------------------------------------------------


def test_each_trouble_is_told_once(room: Room) -> None:
    """A reading every half hour: an outage, a figure that trembles around its bound, no traffic."""
    room.rules, room.every = default_rules(), 1800
    used, told = Decimal(0), []
    for place in range(90):
        hour = place / 2
        outage = 20 <= hour < 23
        weak = 10 <= hour < 14 and place % 2
        used += Decimal("0.3")
        room.see(ACCOUNT, {"balance": 1200 - used, "total_usage": used}, at=place * 30)
        uptime = 40 if outage else 91 if weak else None if 30 <= hour < 40 else 99
        room.see(ENDPOINT, {"uptime_last_30m": uptime, "status": 0}, at=place * 30 + 1)
        told += [(int(hour), one.event, one.key.rule) for one in room.events[len(told) :]]
    assert told == [(20, "fired", "endpoint-failing"), (23, "cleared", "endpoint-failing")]
