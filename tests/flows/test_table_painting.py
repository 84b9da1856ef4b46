"""What is painted for a change, in regions and in bytes; colours by theme."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from textual.geometry import Region

from gwtui.ui.themes import THEMES
from pty_terminal import pty_terminal
from table_kit import TableApp, things

SIZE = (80, 24)
SAMPLE = Path(__file__).resolve().parent.parent.parent / "benchmarks" / "table_sample.py"


@contextmanager
def painted(app: TableApp) -> Iterator[list[Region | None]]:
    """The regions that are repainted meanwhile; None is the whole widget."""
    regions: list[Region | None] = []
    original = app.table._set_dirty

    def record(*wanted: Region) -> None:
        regions.extend(wanted or [None])
        original(*wanted)

    app.table._set_dirty = record  # type: ignore[method-assign]
    try:
        yield regions
    finally:
        app.table._set_dirty = original  # type: ignore[method-assign]


async def test_a_change_out_of_view_and_equal_data_repaint_nothing() -> None:
    app = TableApp(things(50))
    async with app.run_test(size=SIZE) as pilot:
        await pilot.pause()
        rows = things(50)
        rows[40] = replace(rows[40], used=9999)
        with painted(app) as regions:
            app.table.show(rows)
            app.table.show(things(50))
            app.table.tick()
            await pilot.pause()
        assert regions == []


async def test_a_new_row_below_the_view_repaints_nothing_but_the_scrollbar() -> None:
    app = TableApp(things(50))
    async with app.run_test(size=SIZE) as pilot:
        await pilot.pause()
        with painted(app) as regions:
            app.table.show(things(60))
            await pilot.pause()
        assert regions == []
        await pilot.press("end")
        assert "row-059" in app.cursor_line()


async def test_a_new_row_in_view_is_painted_after_the_layout() -> None:
    app = TableApp(things(3))
    async with app.run_test(size=SIZE) as pilot:
        app.table.show(things(5))
        await pilot.pause()
        assert "row-004" in app.lines()[5]
        app.table.show(things(2))
        await pilot.pause()
        assert app.lines()[3].strip() == ""


@pytest.mark.parametrize("theme", [theme.name for theme in THEMES])
async def test_cursor_and_tones_differ_in_every_theme(theme: str) -> None:
    rows = [
        replace(row, state=state)
        for row, state in zip(things(4), ("x", "active", "near limit", "expired"), strict=True)
    ]
    app = TableApp(rows, theme=theme)
    async with app.run_test(size=SIZE) as pilot:
        await pilot.pause()
        state = app.table.shape.slots[1].x
        colours = [colour_at(app, line, state)[0] for line in (2, 3, 4)]
        assert len(set(colours)) == 3
        assert colour_at(app, 1, state)[1] != colour_at(app, 2, state)[1]


async def test_another_theme_is_taken_at_once() -> None:
    app = TableApp(things(4))
    async with app.run_test(size=SIZE) as pilot:
        await pilot.pause()
        before = colour_at(app, 2, 4)
        app.theme = "gwtui-light"
        await pilot.pause()
        assert colour_at(app, 2, 4) != before


async def test_the_cursor_is_calmer_without_the_focus() -> None:
    app = TableApp(things(4))
    async with app.run_test(size=SIZE) as pilot:
        await pilot.pause()
        focused = colour_at(app, 1, 4)
        app.set_focus(None)
        await pilot.pause()
        assert colour_at(app, 1, 4) != focused
        assert app.cursor_line()


def colour_at(app: TableApp, y: int, x: int) -> tuple[Any, Any]:
    """Foreground and background of one cell of the screen."""
    strip = app.screen._compositor.render_strips()[y].crop(x, x + 1)
    style = next(iter(strip)).style
    assert style is not None
    return style.color, style.bgcolor


def test_bytes_on_a_real_terminal() -> None:
    with pty_terminal([sys.executable, str(SAMPLE), "ours"], columns=120, rows=40) as terminal:
        terminal.wait_for("service-0")
        terminal.settle(0.3)
        costs = {}
        for key in ("u", "w", "\x1b[B", "\x1b[6~"):
            before = len(terminal.raw)
            terminal.send(key)
            terminal.settle(0.3)
            costs[key] = len(terminal.raw) - before
        idle = terminal.pump(1.5)
        terminal.send("q")
        assert terminal.wait_exit() == 0
    assert 0 < costs["u"] <= 150
    assert 0 < costs["w"] <= 150
    assert 0 < costs["\x1b[B"] <= 1000
    assert 0 < costs["\x1b[6~"] <= 20_000
    assert idle == b""
