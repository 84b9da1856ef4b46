"""What the screen says when quitting waits for a write, and when the gateway's clock is off."""

from __future__ import annotations

import asyncio
from pathlib import Path

from gwtui.ui.screens.ask import WaitScreen
from shell_kit import dashboard, line, listing, shown, site, until


async def test_the_wait_ends_with_what_is_waited_for_or_with_the_person(tmp_path: Path) -> None:
    async with site() as place, dashboard(place, tmp_path, size=(80, 24)) as (app, pilot):
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


async def test_a_clock_that_is_off_is_told_until_it_is_right_again(tmp_path: Path) -> None:
    async with site() as place, dashboard(place, tmp_path, size=(80, 24)) as (app, pilot):
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
