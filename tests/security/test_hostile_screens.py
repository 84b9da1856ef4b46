"""Real screens on a gateway whose every row has texts of its own from the corpus.

One run of the dashboard walks through the places, opens what can be opened there, and is refused in
hostile words. Nothing dangerous may even reach the last wall: texts are made safe before. However
long they are, no screen can be scrolled sideways, in a small window or a large one.
``GWTUI_FULL=1`` goes everywhere and opens everything.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from hostile_gateway import Hostile
from hostile_sinks import Witness, dangerous
from textual.pilot import Pilot
from textual.widget import Widget

import gwtui.ui.terminal.app
from gwtui.contract.budgets import PutBudgetRequest
from gwtui.resources.registry import PLACES
from gwtui.ui.app import GwtuiApp
from gwtui.ui.screens.pages import ReadingScreen
from harness import settled
from screen_text import shown
from thoroughness import FULL

EVERYTHING = ("v", "ctrl+p", "w", "s", "n", "e", "x", "D", "b", "R", "a", "o", "p", "m", "T")
SMALL_WALK: Mapping[str, tuple[str, ...]] = {
    "keys": ("v", "ctrl+p", "w", "e", "D", "T"),
    "workspaces": ("b",),
    "guardrails": ("e", "o", "p", "T"),
    "byok": ("D", "T"),
    "credits": (),
    "activity": (),
    "key": (),
}
"""What is opened in each place."""
SIZES = ((120, 30), (80, 24))
WALK = dict.fromkeys(PLACES, EVERYTHING) if FULL else SMALL_WALK


@dataclass
class Walk:
    """What a walk met; ``leaks`` is what reached the last wall."""

    pilot: Pilot[Any]
    leaks: list[str]

    @property
    def app(self) -> GwtuiApp:
        app = self.pilot.app
        assert isinstance(app, GwtuiApp)
        return app

    async def press(self, *keys: str) -> None:
        for key in keys:
            await self.pilot.press(key)
            await settled(self.pilot)
            self.look(key)

    def look(self, where: str) -> str:
        screen = type(self.app.screen).__name__
        text = shown(self.app)
        assert not dangerous(text.replace("\n", "")), (screen, where)
        assert not self.leaks, (screen, where, self.leaks[:3])
        assert not sideways(self.app), (screen, where, self.app.size)
        return text

    async def close(self) -> None:
        """Out of whatever was opened, saying yes to leaving it."""
        for _ in range(6):
            if self.app.screen is self.app.navigation.screen:
                return
            await self.press("escape")
            deliberate = self.app.screen.query("#deliberate")
            if deliberate and self.app.screen is not self.app.navigation.screen:
                deliberate.first().focus()
                await self.press("enter")
        raise AssertionError(f"{self.app.screen} cannot be left")


def sideways(app: GwtuiApp) -> list[Widget]:
    """What has a scroll bar at its foot; an answer as it came is read sideways."""
    if isinstance(app.screen, ReadingScreen) and str(app.screen._title).startswith("Raw"):
        return []
    shown = (each for each in app.screen.query("*") if each.show_horizontal_scrollbar)
    return [each for each in shown if each.scrollbar_size_horizontal]


@pytest.fixture
def site(private_home: Path) -> Iterator[Hostile]:
    place = Hostile()
    yield place
    place.close()


@pytest.mark.timeout(1200 if FULL else 120)
async def test_every_place_and_what_opens_there(
    site: Hostile, monkeypatch: pytest.MonkeyPatch
) -> None:
    leaks: list[str] = []
    monkeypatch.setattr(gwtui.ui.terminal.app, "_LAST_LOOK", Witness(leaks))
    app = site.make_app("keys")
    async with app.run_test(size=(120, 30), notifications=True, tooltips=True) as pilot:
        walk = Walk(pilot, leaks)
        await settled(pilot)
        for number, (place, keys) in enumerate(WALK.items()):
            await pilot.resize_terminal(*SIZES[number % len(SIZES)])
            await app.open_route(place)
            await settled(pilot)
            walk.look(place)
            for key in keys:
                await walk.press(key)
                await walk.close()
        await refused(site, walk)


async def illegal() -> None:
    """An action that makes a request of an amount that the gateway should not have given."""
    PutBudgetRequest.model_validate({"limit_usd": -5})


async def refused(site: Hostile, walk: Walk) -> None:
    """A change that is refused is told in a notice, a reading that is refused in the banner."""
    walk.app.narrow(None, None)
    await walk.app.open_route("keys")
    await settled(walk.pilot)
    walk.app.clear_notifications()
    await walk.press("x", "y")
    for _ in range(50):
        if walk.app._notifications:
            break
        await walk.pilot.pause(0.02)
    assert "[@click=app.quit]" in walk.look("refused")
    walk.app.run_worker(illegal(), group="actions", exit_on_error=False)
    for _ in range(50):
        if "break the contract" in shown(walk.app):
            break
        await walk.pilot.pause(0.02)
    assert "must not be negative" in walk.look("illegal")
    site.refusing = True
    await walk.press("r")
    assert "418" in walk.look("banner")
    await walk.app.open_route("members/nowhere")
    await settled(walk.pilot)
    assert "could not be read" in walk.look("notice")
    await walk.app.open_route("models/no/where")
    await settled(walk.pilot)
    walk.app.clear_notifications()
    await walk.pilot.pause()
    assert "could not be read" in walk.look("panel")
