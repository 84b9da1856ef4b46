"""Names without an end: no screen that shows them can be scrolled sideways."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import hostile_dashboard
import pytest
from hostile_dashboard import Hostile
from textual.pilot import Pilot
from textual.widget import Widget

from gwtui.resources.registry import PLACES
from gwtui.ui.app import GwtuiApp
from gwtui.ui.screens.pages import ReadingScreen
from harness import settled

LONG = "a" * 90 + " long name of many words " * 6 + "生" * 60

SMALL, LARGE = (80, 24), (110, 30)

OPENED = ("d", "question_mark", "ctrl+p", "w", "s", "e")
"""Keys that open something above a list."""


@pytest.fixture
def place(private_home: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Hostile]:
    monkeypatch.setattr(
        hostile_dashboard, "text_of", lambda name, value: f"{name}{value[:8]}{LONG}"
    )
    site = Hostile()
    yield site
    site.close()


def sideways(app: GwtuiApp) -> list[Widget]:
    """What has a scroll bar at its foot; an answer as it came is read sideways."""
    if isinstance(app.screen, ReadingScreen) and str(app.screen._title).startswith("Raw"):
        return []
    return [
        one
        for one in app.screen.query("*")
        if one.show_horizontal_scrollbar and one.scrollbar_size_horizontal
    ]


async def look(app: GwtuiApp, pilot: Pilot[None], where: object) -> None:
    """Nothing scrolls sideways, neither as it was opened nor in a window of the other size."""
    for change in (True, False):
        found = sideways(app)
        assert not found, (where, app.size, app.screen, found)
        if change:
            await pilot.resize_terminal(*(LARGE if app.size == SMALL else SMALL))
            await settled(pilot)


async def test_no_screen_scrolls_sideways(place: Hostile) -> None:
    app = place.make_app("keys")
    async with app.run_test(size=SMALL, notifications=True) as pilot:
        await settled(pilot)
        for name in PLACES:
            await app.open_route(name)
            await settled(pilot)
            await look(app, pilot, (name, "list"))
            for key in OPENED if name in ("keys", "guardrails") else ("d",):
                screen = app.screen
                await pilot.press(key)
                await settled(pilot)
                await look(app, pilot, (name, key))
                for _ in range(4):
                    if app.screen is app.navigation.screen:
                        break
                    await pilot.press("escape")
                    await settled(pilot)
                assert app.screen is screen is app.navigation.screen, (name, key, app.screen)
