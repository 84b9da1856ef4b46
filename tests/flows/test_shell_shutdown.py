"""What quitting waits for and leaves behind, and what is said of a gateway's clock that is off."""

from __future__ import annotations

import asyncio
import os
from pathlib import Path

import pytest

from gwtui.local.ledger import Ledger
from gwtui.ui.screens.dialogs import WaitScreen
from harness import Harness, dashboard, harness, line, listing, settled, until
from screen_text import shown


async def test_the_wait_ends_with_what_is_waited_for_or_with_the_person() -> None:
    async with harness() as place, dashboard(place, size=(80, 24)) as (app, pilot):
        over = asyncio.Event()
        ended: list[str] = []
        for way in ("over", "escape", "enter"):
            wait = WaitScreen("Waiting for the answer", "A moment.", over.wait, enough="Leave now")
            await app.push_screen(wait, lambda _, way=way: ended.append(way))
            await until(pilot, lambda: "Waiting for the answer" in shown(app), "the words")
            assert "Leave now" in shown(app)
            if way == "over":
                over.set()
            else:
                await pilot.press(way)
            await until(pilot, lambda: app.screen is listing(app), "the list")
            over.clear()
        assert ended == ["over", "escape", "enter"]


async def test_a_hard_end_says_of_a_write_on_its_way_that_it_is_unknown(
    private_home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    demo = Harness()
    ledger = Ledger(demo.folder / "audit.jsonl")
    ended: list[int] = []
    monkeypatch.setattr(os, "_exit", ended.append)
    app = demo.make_app()
    async with app.run_test(size=(80, 24)) as pilot:
        await settled(pilot)
        await pilot.press("x")
        await settled(pilot)
        demo.fault = "silent"
        await pilot.press("y")
        await until(pilot, lambda: list(ledger.entries()), "the intent")
        await until(pilot, lambda: any(one._sent for one in app.session.executor._executions), "it")
        app.shutdown._end(143)
        assert ended == [143]
        assert [entry.outcome for entry in ledger.entries()][::-1] == ["intent", "unknown"]
        (left,) = ledger.open_writes()
        assert left.outcome == "unknown"
        demo.fault = ""
    demo.close()


async def test_a_clock_that_is_off_is_told_until_it_is_right_again() -> None:
    async with harness() as place, dashboard(place, size=(80, 24)) as (app, pilot):
        assert line(listing(app), "banner") == ""
        skew = app.gateway.skew
        skew.low, skew.high = 94.5, 95.5
        listing(app).refresh_frame()
        await pilot.pause()
        assert "clock is 95 s ahead: ages and expiries here are off by that" in shown(app)
        skew.low, skew.high = -0.5, 0.5
        listing(app).refresh_frame()
        await pilot.pause()
        assert line(listing(app), "banner") == ""
