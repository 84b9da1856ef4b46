"""Pictures of the board: three sizes, its pages, an earlier time, and its states."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from typing import Any

from pictures import LIGHT, Pictures, SnapCompare, start_clean
from textual.pilot import Pilot

from board_kit import at_rest, board_of, has_answered
from harness import Harness, settled

SIZES = [(80, 24), (120, 40), (200, 60)]
LOOKS: dict[str, tuple[str, ...]] = {
    "live": (),
    "account": ("l",),
    "earlier": ("at", "type 07:00", "enter"),
    "unrecorded": ("at", "type 01:30", "enter"),
}
CASES = [
    *(("live", size) for size in SIZES),
    ("account", SIZES[0]),
    ("earlier", SIZES[0]),
    ("earlier", SIZES[-1]),
    ("unrecorded", SIZES[0]),
]


def pressing(*keys: str) -> Callable[[Pilot[Any]], Any]:
    async def steps(pilot: Pilot[Any]) -> None:
        await at_rest(pilot)
        for key in keys:
            text = key.removeprefix("type ")
            await pilot.press(*([key] if text == key else text))
            await at_rest(pilot)
        pilot.app.clear_notifications()
        await pilot.pause()

    return steps


async def test_board(demo: Harness, data: Path, pictures: Pictures) -> None:
    app = demo.make_app("board", data=data)
    async with app.run_test(size=SIZES[0], notifications=True) as pilot:
        for name, keys in LOOKS.items():
            await start_clean(pilot)
            await app.open_route("board")
            await pressing(*keys)(pilot)
            looks = [("gwtui-dark", size) for case, size in CASES if case == name]
            await pictures.take(pilot, looks, name + "-{size}")


def test_changes(demo: Harness, data: Path, snap_compare: SnapCompare) -> None:
    async def steps(pilot: Pilot[Any]) -> None:
        await at_rest(pilot)
        await pilot.press("c")
        await settled(pilot)

    assert snap_compare(demo.make_app("board", data=data), run_before=steps)


def test_board_in_light_colours(demo: Harness, data: Path, snap_compare: SnapCompare) -> None:
    app = demo.make_app("board", theme=LIGHT[0], data=data)
    assert snap_compare(app, terminal_size=LIGHT[1], run_before=pressing())


def test_board_loading(demo: Harness, data: Path, snap_compare: SnapCompare) -> None:
    """Recorded data is shown before the gateway responds."""
    demo.fall_silent()

    async def connected(pilot: Pilot[Any]) -> None:
        app: Any = pilot.app
        while app.session is None or app.session.recorder is None:
            await pilot.pause(0.02)
        board = app.navigation.screen
        while (
            board.recording is None or not has_answered(board) or not app.session.completed.is_set()
        ):
            await pilot.pause(0.02)
        await pilot.pause()

    assert snap_compare(demo.make_app("board", data=data), run_before=connected)


def test_board_with_nothing_watched(
    empty: Harness, tmp_path: Path, snap_compare: SnapCompare
) -> None:
    async def recorded(pilot: Pilot[Any]) -> None:
        await at_rest(pilot)
        board = board_of(pilot.app)  # type: ignore[arg-type]
        while board.recording is None or board.recording.span is None:  # before the first reading
            board.query_history()
            await at_rest(pilot)

    assert snap_compare(empty.make_app("board", data=tmp_path / "data"), run_before=recorded)


def test_board_stale(demo: Harness, data: Path, snap_compare: SnapCompare) -> None:
    async def breaking(pilot: Pilot[Any]) -> None:
        await at_rest(pilot)
        demo.fault = "403"
        demo.passed = timedelta(minutes=6)
        await pilot.press("r")
        await settled(pilot)
        app: Any = pilot.app
        app.navigation.screen.draw_panels()
        await pilot.pause()

    assert snap_compare(demo.make_app("board", data=data), run_before=breaking)
