"""What a person does about alerts: acknowledging, silencing, lifting; how much of it is kept."""

from __future__ import annotations

from datetime import timedelta

import pytest
from alerts_kit import ACCOUNT, ENDPOINT, LOW, Room, balance

from gwtui.domain.alert_rules import PriceRule
from gwtui.watch.alerts import store
from gwtui.watch.alerts.model import AlertKey


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
    store.silence(room.connection, [key], room.now, until=room.now + timedelta(hours=1), who="kim")
    assert not room.alerts[0].loud
    assert balance(room, 50, 5) == ["cleared", "fired"]
    assert all(event.quiet and not event.notifies for event in room.events[-2:]), "nobody is told"
    room.restart()
    assert room.later(timedelta(minutes=30)) == []
    assert room.later(timedelta(minutes=30)) == ["unsilenced"]
    assert room.events[-1].notifies
    assert room.events[-1].message == "the silence ended: $5.00 left"
    assert room.alerts[0].loud
    assert room.later(timedelta(hours=1)) == [], "once"


def test_silence_on_what_is_over_ends_without_a_word(room: Room) -> None:
    room.rules = {"low": LOW}
    balance(room, 5)
    key = AlertKey("low", ACCOUNT)
    store.silence(room.connection, [key], room.now, until=room.now + timedelta(hours=1), who="kim")
    balance(room, 50)
    assert room.later(timedelta(hours=2)) == []
    assert [event.notifies for event in balance(room, 5) and room.events[-1:]] == [True]


def test_silence_can_be_lifted(room: Room) -> None:
    room.rules = {"low": LOW}
    balance(room, 5)
    key = AlertKey("low", ACCOUNT)
    store.silence(room.connection, [key], room.now, until=room.now + timedelta(hours=1), who="kim")
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
