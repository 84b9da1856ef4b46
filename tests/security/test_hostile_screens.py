"""Real screens on a gateway whose rows have texts from the corpus."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from hostile_gateway import Hostile
from hostile_sinks import Witness, dangerous
from hostile_strings import SMALL
from textual.pilot import Pilot
from textual.widget import Widget

import gwtui.ui.terminal.app
from board_kit import at_rest
from gwtui.contract.workspaces import PutBudgetRequest
from gwtui.resources.registry import PLACES
from gwtui.ui.app import GwtuiApp
from gwtui.ui.screens.pages import ReadingScreen
from gwtui.watch.history.file import history_path
from gwtui.watch.history.model import Observation, Subject
from gwtui.watch.history.writer import watch_model
from harness import MOMENT, Harness, settled
from history_kit import open_history
from screen_text import screen_text
from thoroughness import FULL

ALL_KEYS = ("v", "ctrl+p", "w", "s", "n", "e", "x", "D", "b", "R", "a", "o", "p", "m", "T")
SMALL_WALK: Mapping[str, tuple[str, ...]] = {
    "keys": ("v", "ctrl+p", "w", "e", "D", "T"),
    "workspaces": ("b",),
    "guardrails": ("e", "o", "p", "T"),
    "byok": ("D", "T"),
    "credits": (),
    "activity": (),
    "key": (),
}
"""The actions to run on each screen."""
SIZES = ((120, 30), (80, 24))
WALK = dict.fromkeys(PLACES, ALL_KEYS) if FULL else SMALL_WALK


@dataclass
class Walk:
    """The results of a walk; ``leaks`` is what reached the last boundary."""

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

    def look(self, step: str) -> str:
        screen = type(self.app.screen).__name__
        text = screen_text(self.app)
        assert not dangerous(text.replace("\n", "")), (screen, step)
        assert not self.leaks, (screen, step, self.leaks[:3])
        assert not sideways(self.app), (screen, step, self.app.size)
        return text

    async def close(self) -> None:
        """Close whatever was opened, confirming where asked."""
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
    """Widgets that scroll sideways, except on pages of raw JSON."""
    if isinstance(app.screen, ReadingScreen) and str(app.screen._title).startswith("Raw"):
        return []
    scrolling = (item for item in app.screen.query("*") if item.show_horizontal_scrollbar)
    return [item for item in scrolling if item.scrollbar_size_horizontal]


@pytest.fixture
def site(private_home: Path) -> Iterator[Hostile]:
    place = Hostile()
    yield place
    place.close()


@pytest.fixture
def leaks(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The dangerous texts that reach the last boundary."""
    texts: list[str] = []
    monkeypatch.setattr(gwtui.ui.terminal.app, "_LAST_LOOK", Witness(texts))
    return texts


@pytest.mark.timeout(1200 if FULL else 120)
async def test_every_screen_and_dialog_shows_hostile_text_safely(
    site: Hostile, leaks: list[str]
) -> None:
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
    """An action that sends an amount that the gateway should not have returned."""
    PutBudgetRequest.model_validate({"limit_usd": -5})


async def refused(site: Hostile, walk: Walk) -> None:
    """Refused changes are shown in a notice, refused reads in the banner."""
    walk.app.limit_to_workspace(None, None)
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
        if "break the contract" in screen_text(walk.app):
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


# The board ----------------------------------------------------------------------------------------


MODEL = "lab/[red]model"
ONE_MINUTE_AGO, TWO_MINUTES_AGO = MOMENT - timedelta(minutes=1), MOMENT - timedelta(minutes=2)


_STEP = 1 if FULL else 5
TEXTS = tuple(text.encode("utf-8", "replace").decode() for text in SMALL.values())[::_STEP]
"""Without lone surrogates, which cannot be written to a history."""


@pytest.fixture
def board_demo(private_home: Path) -> Iterator[Harness]:
    harness = Harness(content="empty")
    yield harness
    harness.close()


def fill(file: Path) -> None:
    """Record two minutes with different names for every resource."""
    with open_history(file, TWO_MINUTES_AGO) as history:
        watch_model(history.connection, MODEL, TWO_MINUTES_AGO)
        for number, moment in enumerate((TWO_MINUTES_AGO, ONE_MINUTE_AGO)):
            for source, resource in (
                (f"endpoints:{MODEL}", "endpoint"),
                ("keys", "key"),
                ("workspaces", "workspace"),
                ("guardrails", "guardrail"),
            ):
                history.observe(observation(source, resource, number, moment))


def observation(source: str, resource: str, number: int, moment: object) -> Observation:
    values, facts = {}, {}
    for place in range(len(TEXTS)):
        text = TEXTS[(place + number) % len(TEXTS)]
        prefix = f"{MODEL} " if resource == "endpoint" else ""
        subject = Subject(resource, f"{prefix}{place}")
        facts[subject] = {
            "name": text,
            "slug": text,
            "quantization": text,
            "limit_reset": text,
            "limit": "10",
            "workspace_id": "3",
            "budget_weekly": text,
            "allowed_models": [text],
        }
        figures = {
            "endpoint": ("uptime_last_5m", "latency_p50"),
            "key": ("limit", "limit_remaining"),
            "workspace": ("usage_weekly",),
        }
        values[subject] = dict.fromkeys(figures.get(resource, ()), Decimal(number + 1))
    return Observation(source, moment, 60, values, facts)  # type: ignore[arg-type]


async def test_the_board_shows_a_hostile_history_safely(
    board_demo: Harness, tmp_path: Path, leaks: list[str]
) -> None:
    data = tmp_path / "data"
    fill(history_path(data, "board_demo", "http://board_demo/api/v1"))
    app = board_demo.make_app("board", data=data)
    async with app.run_test(size=(200, 60), notifications=True) as pilot:
        walk = Walk(pilot, leaks)
        await at_rest(pilot)
        walk.look("live")
        await pilot.press("comma")
        while "AS OF" not in screen_text(app):
            await pilot.pause(0.02)
        await at_rest(pilot)
        walk.look("earlier")
        for _ in range(len(TEXTS) // 20):
            await pilot.press("pagedown")
            await pilot.pause()
            walk.look("endpoints")
        await pilot.press("W", "c")
        await settled(pilot)
        await walk.press("at", *"08:00", "enter", "l", "d", "v")
        await pilot.press("escape")
        for _ in range(5):
            await pilot.press("pagedown")
            await pilot.pause()
            walk.look("changes")
