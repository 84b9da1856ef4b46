"""Alerts as pictures: the list with its badge, what happened, the rules and their form."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from textual.pilot import Pilot

from dashboard_kit import Demo, pressing, settled
from gwtui.local.ledger import Operator
from gwtui.ui.app import GwtuiApp

SnapCompare = Callable[..., bool]

LOOKS: dict[str, tuple[str, ...]] = {
    "alerts": (),
    "alerts-detail": ("d",),
    "alerts-silence": ("z",),
    "alert-history": ("H",),
    "alert-rules": ("R",),
    "alert-rules-kinds": ("R", "n"),
    "alert-rules-form": ("R", "e"),
    "alert-effects": ("R", "E"),
}
WIDE = ("alerts", "alert-rules-form")
CASES = [
    *(pytest.param(name, "gwtui-dark", (80, 24), id=f"{name}-80x24") for name in LOOKS),
    *(pytest.param(name, "gwtui-light", (120, 40), id=f"{name}-120x40") for name in WIDE),
]
_ALERTS = 13
"""What fires in the simulated world at once."""


@pytest.fixture(autouse=True)
def operator(monkeypatch: pytest.MonkeyPatch) -> None:
    """Somebody who is the same on every machine."""
    monkeypatch.setattr(Operator, "present", lambda: Operator("kim", "desk"))


async def asking(pilot: Pilot[Any], app: GwtuiApp, count: int) -> None:
    """Wait until so many alerts ask for somebody."""
    for _ in range(800):
        badge = None if app.notices is None else app.notices.badge
        if badge is not None and badge.text.startswith(f"{count} "):
            return
        await pilot.pause(0.05)
    raise AssertionError(f"other alerts: {badge}")


def at_rest(*keys: str) -> Callable[[Pilot[Any]], Any]:
    """Press keys once everything fired; wait for what a form finds in the past."""

    async def steps(pilot: Pilot[Any]) -> None:
        app = pilot.app
        assert isinstance(app, GwtuiApp)
        await settled(pilot)
        await asking(pilot, app, _ALERTS)
        app.clear_notifications()
        for key in keys:
            await pilot.press(key)
            await pilot.pause(0.6)
            await settled(pilot)
        app.clear_notifications()
        await settled(pilot)

    return steps


@pytest.mark.one_app({name: ("alerts", at_rest(*keys)) for name, keys in LOOKS.items()})
@pytest.mark.parametrize(("name", "theme", "size"), CASES)
def test_alerts(
    name: str,
    theme: str,
    size: tuple[int, int],
    demo: Demo,
    tmp_path: Path,
    snap_compare: SnapCompare,
) -> None:
    app = demo.app("alerts", theme=theme, data=tmp_path / "data", config=tmp_path)
    assert snap_compare(app, terminal_size=size, run_before=at_rest(*LOOKS[name]))


def test_nothing_is_recorded(demo: Demo, snap_compare: SnapCompare) -> None:
    app = demo.app("alerts", theme="gwtui-dark")
    assert snap_compare(app, terminal_size=(80, 24), run_before=pressing())
