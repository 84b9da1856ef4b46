"""Notices: none may ever keep a timer from ending."""

from __future__ import annotations

import asyncio
import time

import pytest
from textual import notifications
from textual.app import App
from textual.screen import Screen
from textual.widgets._toast import Toast

from gwtui.ui.guarded import GuardedApp, Notice


@pytest.mark.parametrize("passed", [-86_400.0, 0.0, 4.999_999, 5.0, 5.000_1, 86_400.0])
def test_what_is_left_can_always_be_waited_for(
    passed: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    notice = Notice("done", timeout=5)
    monkeypatch.setattr(notifications, "time", lambda: notice.raised_at + passed)
    assert 0 < notice.time_left <= 5
    assert notice.has_expired is (passed >= 5)


async def test_a_screen_that_opens_as_a_notice_ends_goes_on(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The notice is not over when the new screen asks for it, and over when its toast is made."""
    app: App[int] = GuardedApp()
    async with app.run_test(notifications=True) as pilot:
        app.notify("done", timeout=3600)
        await pilot.pause()
        assert app.screen.query(Toast)
        monkeypatch.setattr(Notice, "has_expired", False)
        moment = time.time() + 3600.000_1
        monkeypatch.setattr(notifications, "time", lambda: moment)
        await app.push_screen(Screen())
        await asyncio.wait_for(pilot.pause(), 5)
        assert app.screen.query(Toast)
