"""The board over a history full of hostile texts: every panel, live and earlier, and what changed.

Names of keys, guardrails and endpoints come from other people, and stand in the history as they
came. Nothing dangerous may even reach the last wall. ``GWTUI_FULL=1`` takes every text of the
corpus, not one of five.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta
from decimal import Decimal
from pathlib import Path

import pytest
from hostile_sinks import Witness, dangerous
from hostile_strings import SMALL

import gwtui.ui.terminal.app
from board_kit import at_rest
from gwtui.watch.history.file import history_path
from gwtui.watch.history.model import Observation, Subject
from gwtui.watch.history.writer import watch_model
from harness import MOMENT, Harness, settled
from history_kit import desk
from screen_text import shown
from thoroughness import FULL

MODEL = "lab/[red]model"
THEN, BEFORE = MOMENT - timedelta(minutes=1), MOMENT - timedelta(minutes=2)


def storable(text: str) -> str:
    """A lone surrogate cannot be written; it never gets into a history."""
    return text.encode("utf-8", "replace").decode()


_EACH = 1 if FULL else 5
TEXTS = tuple(storable(text) for text in SMALL.values())[::_EACH]


@pytest.fixture
def demo(private_home: Path) -> Iterator[Harness]:
    one = Harness(content="empty")
    yield one
    one.close()


def fill(file: Path) -> None:
    """Everything is called something else each minute."""
    with desk(file, BEFORE) as history:
        watch_model(history.connection, MODEL, BEFORE)
        for number, at in enumerate((BEFORE, THEN)):
            for source, resource in (
                (f"endpoints:{MODEL}", "endpoint"),
                ("keys", "key"),
                ("workspaces", "workspace"),
                ("guardrails", "guardrail"),
            ):
                history.observe(observation(source, resource, number, at))


def observation(source: str, resource: str, number: int, at: object) -> Observation:
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
    return Observation(source, at, 60, values, facts)  # type: ignore[arg-type]


async def test_nothing_recorded_can_disturb_the_board(
    demo: Harness, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    leaks: list[str] = []
    monkeypatch.setattr(gwtui.ui.terminal.app, "_LAST_LOOK", Witness(leaks))
    data = tmp_path / "data"
    fill(history_path(data, "demo", "http://demo/api/v1"))
    app = demo.make_app("board", data=data)
    async with app.run_test(size=(200, 60), notifications=True) as pilot:

        def look(where: str) -> str:
            text = shown(app)
            assert not dangerous(text.replace("\n", "")), where
            assert not leaks, (where, leaks[:3])
            return text

        await at_rest(pilot)
        look("live")
        await pilot.press("comma")
        while "AS OF" not in shown(app):
            await pilot.pause(0.02)
        await at_rest(pilot)
        look("earlier")
        for _ in range(len(TEXTS) // 20):
            await pilot.press("pagedown")
            await pilot.pause()
            look("endpoints")
        await pilot.press("W", "c")
        await settled(pilot)
        for key in ("at", *"08:00", "enter", "l", "d", "v"):
            await pilot.press(key)
            await settled(pilot)
            look(f"changes {key}")
        await pilot.press("escape")
        for _ in range(5):
            await pilot.press("pagedown")
            await pilot.pause()
            look("changes")
