"""Alert notices never keep a timer from ending."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from types import SimpleNamespace
from typing import Any, cast

import pytest
from textual import notifications

from gwtui.local.alerts import AlertEffects
from gwtui.ui.alert_notices import AlertNotices
from gwtui.ui.terminal.app import Notice
from gwtui.watch.alerts.model import AlertEvent, AlertKey
from gwtui.watch.feed import FeedState
from gwtui.watch.history.model import Subject


@pytest.mark.parametrize("passed", [-86_400.0, 0.0, 4.999_999, 5.0, 5.000_1, 86_400.0])
def test_the_time_left_of_a_notice_is_positive(
    passed: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    notice = Notice("done", timeout=5)
    monkeypatch.setattr(notifications, "time", lambda: notice.raised_at + passed)
    assert 0 < notice.time_left <= 5
    assert notice.has_expired is (passed >= 5)


@pytest.mark.parametrize(
    ("has_past", "expected"),
    [(True, ["b: x: y"]), (False, ["a: x: y", "b: x: y"])],
    ids=["a past", "none"],
)
def test_events_of_a_simulated_past_raise_no_notice(has_past: bool, expected: list[str]) -> None:
    began = datetime(2026, 11, 23, 8, 0, tzinfo=UTC)
    notices: list[str] = []
    app = SimpleNamespace(
        call_later=lambda call, *arguments: call(*arguments),
        say=lambda text, severity: notices.append(text),
    )
    history = SimpleNamespace(filled_until=began if has_past else None)
    feed = SimpleNamespace(watch=lambda *_called, **_options: list)
    session = SimpleNamespace(
        hub=SimpleNamespace(feed=lambda *_facts, **_options: feed), history=history, began=began
    )
    alerts = SimpleNamespace(notifier=SimpleNamespace(), effects=AlertEffects())
    alert_notices = AlertNotices(cast("Any", app), cast("Any", session), cast("Any", alerts))

    def event(number: int, title: str, after: timedelta) -> AlertEvent:
        key = AlertKey("rule", Subject("key", "k"))
        moment = began + after
        return AlertEvent(moment, "fired", key, "warning", title, "x", "y", id=number)

    first = event(2, "a", timedelta(seconds=20))
    later = event(3, "b", timedelta(seconds=90))
    before = event(1, "c", timedelta(seconds=-1))
    for events in ((first, before), (later, first, before)):  # it fired before the first look
        alert_notices._happened(FeedState(events))
    assert notices == expected
