"""Loading, empty, failed, stale and read-only, for lists and for the credits."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import timedelta
from typing import Any

import pytest
from shared_runs import dark_and
from textual.pilot import Pilot

from dashboard_kit import Demo, pressing, settled

SnapCompare = Callable[..., bool]

STARTS = {"keys": "keys", "credits": "credits", "endpoints": "models/northwind/atlas-large"}
LIGHT = {"keys", "credits"}

pytestmark = pytest.mark.parametrize(("theme", "size", "name"), dark_and(LIGHT, STARTS))


def in_turn(*keys: str) -> pytest.MarkDecorator:
    """One app shows all three."""
    return pytest.mark.one_app({name: (start, pressing(*keys)) for name, start in STARTS.items()})


@pytest.fixture
def empty() -> Iterator[Demo]:
    one = Demo(content="empty")
    yield one
    one.close()


def compare(
    snap_compare: SnapCompare, demo: Demo, look: tuple[str, str, tuple[int, int]], steps: Any
) -> bool:
    start, theme, size = look
    return snap_compare(demo.app(start, theme=theme), terminal_size=size, run_before=steps)


@pytest.fixture
def look(name: str, theme: str, size: tuple[int, int]) -> tuple[str, str, tuple[int, int]]:
    return STARTS[name], theme, size


def test_not_connected(demo: Demo, look: Any, snap_compare: SnapCompare) -> None:
    demo.unreachable = True
    assert compare(snap_compare, demo, look, pressing())


def test_loading(demo: Demo, look: Any, snap_compare: SnapCompare) -> None:
    demo.fall_silent()

    async def connected(pilot: Pilot[Any]) -> None:
        while pilot.app.session is None:
            await pilot.pause(0.02)
        await pilot.pause(0.2)

    assert compare(snap_compare, demo, look, connected)


@in_turn()
def test_empty(empty: Demo, look: Any, snap_compare: SnapCompare) -> None:
    assert compare(snap_compare, empty, look, pressing())


@in_turn()
def test_failed_at_once(demo: Demo, look: Any, snap_compare: SnapCompare) -> None:
    demo.fault = "403"
    assert compare(snap_compare, demo, look, pressing())


def test_failed_with_last_good_data(demo: Demo, look: Any, snap_compare: SnapCompare) -> None:
    async def breaking(pilot: Pilot[Any]) -> None:
        await settled(pilot)
        demo.fault = "403"
        demo.passed = timedelta(minutes=4)
        await pilot.press("r")
        await settled(pilot)

    assert compare(snap_compare, demo, look, breaking)


@in_turn("n")
def test_read_only(demo: Demo, look: Any, snap_compare: SnapCompare) -> None:
    demo.read_only = True
    assert compare(snap_compare, demo, look, pressing("n"))
