"""Pictures of alerts: the list with its badge, the history, the rules and their form."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from pictures import DARK, LIGHT, SIZES, Pictures, SnapCompare, start_clean
from textual.pilot import Pilot

from gwtui.local.ledger import Operator
from gwtui.ui.app import GwtuiApp
from harness import Harness, all_fired, settled

LOOKS: dict[str, tuple[str, ...]] = {
    "alerts": (),
    "alerts-detail": ("d",),
    "alerts-silence": ("x",),
    "alert-history": ("H",),
    "alert-rules": ("e",),
    "alert-rules-kinds": ("e", "n"),
    "alert-rules-form": ("e", "e"),
}
WIDE = ("alerts", "alert-rules-form")


@pytest.fixture(autouse=True)
def operator(monkeypatch: pytest.MonkeyPatch) -> None:
    """A user with the same name on every machine."""
    monkeypatch.setattr(Operator, "present", lambda: Operator("kim", "desk"))


def at_rest(*keys: str) -> Callable[[Pilot[Any]], Any]:
    """Press keys once every alert fires; wait for the preview in a form."""

    async def steps(pilot: Pilot[Any]) -> None:
        app = pilot.app
        assert isinstance(app, GwtuiApp)
        await settled(pilot)
        await all_fired(pilot)
        await pilot.press("r")
        await settled(pilot)
        app.clear_notifications()
        for key in keys:
            await pilot.press(key)
            await pilot.pause(0.6)
            await settled(pilot)
        app.clear_notifications()
        await settled(pilot)

    return steps


async def test_alerts(demo: Harness, tmp_path: Path, pictures: Pictures) -> None:
    app = demo.make_app("alerts", data=tmp_path / "data", config=tmp_path)
    async with app.run_test(size=SIZES[0], notifications=True) as pilot:
        for name, keys in LOOKS.items():
            await start_clean(pilot)
            await app.open_route("alerts")
            await at_rest(*keys)(pilot)
            looks = [DARK[0], *[LIGHT] * (name in WIDE)]
            await pictures.take(pilot, looks, name + "-{size}")


def test_alerts_without_a_history(demo: Harness, snap_compare: SnapCompare) -> None:
    assert snap_compare(demo.make_app("alerts"), run_before=settled)
