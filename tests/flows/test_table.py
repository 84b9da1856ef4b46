"""The table on a screen: its keys and clicks, its messages, and its repaints."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise
from types import SimpleNamespace
from typing import Any

import pytest
from textual import events
from textual.pilot import Pilot

from gwtui.ui.screens.list_parts import ListRows
from gwtui.ui.themes import THEMES
from gwtui.ui.widgets.table import (
    Highlighted,
    Opened,
    ResourceTable,
    SelectionLost,
    SortChanged,
)
from table_kit import COLUMNS, SampleRow, TableApp, sample_rows

SIZE = (80, 24)
NARROW = (40, 10)
PAGE = SIZE[1] - 1


# Keys ---------------------------------------------------------------------------------------------


async def test_keys_move_the_cursor_by_row_page_and_to_the_ends() -> None:
    app = TableApp(sample_rows(100))
    async with app.run_test(size=SIZE) as pilot:
        moves = (
            *(("down j", 2), ("up", 1), ("k", 0), ("k", 0), ("pagedown", PAGE)),
            *(("pagedown", 2 * PAGE), ("pageup", PAGE), ("end", 99), ("down", 99)),
            *(("home", 0), ("G", 99), ("g", 0)),
        )
        for keys, row in moves:
            await pilot.press(*keys.split())
            assert app.table.selected_identity == f"id-{row:03}", keys
            assert f"row-{row:03}" in app.cursor_line()
        identities = [message.identity for message in app.received.of(Highlighted)]
        assert all(previous != current for previous, current in pairwise(identities))
        await pilot.press("down", "enter")
        [opened] = app.received.of(Opened)
        assert (opened.identity, opened.control) == ("id-001", app.table)


async def test_every_column_is_reached_by_keys_wheel_and_click() -> None:
    app = TableApp(sample_rows(30))
    async with app.run_test(size=NARROW) as pilot:
        hidden_at_start = app.table.shape.hidden

        async def turn(*action: Any) -> set[str]:
            """The visible columns on each page of columns."""
            result: set[str] = set()
            for _ in range(app.table.shape.pages):
                await pilot.pause()
                hidden = app.table.shape.hidden
                result |= {COLUMNS[slot.index].id for slot in app.table.shape.slots}
                assert app.lines()[1].startswith("▌ row-000")
                assert f"+{len(hidden)} cols" in app.lines()[0]
                await action[0](*action[1:])
            return result

        all_columns = {column.id for column in COLUMNS}
        assert await turn(pilot.press, "right") == all_columns
        await pilot.press(*["left"] * 6)
        assert app.table.shape.hidden == hidden_at_start
        assert await turn(wheel, pilot, events.MouseScrollDown, True) == all_columns
        for _ in range(app.table.shape.pages):
            await wheel(pilot, events.MouseScrollUp, True)
        assert app.table.shape.hidden == hidden_at_start
        assert await turn(click_marker, pilot, app) == all_columns
        assert app.table.shape.hidden == hidden_at_start, "the last page is followed by the first"
        assert app.received.of(SortChanged) == []


async def click_marker(pilot: Pilot[None], app: TableApp) -> None:
    marker = app.table.shape.marker
    await pilot.click(ResourceTable, offset=(app.lines()[0].index(marker) + 1, 0))


async def wheel(pilot: Pilot[None], kind: type[Any], shift: bool = False) -> None:
    table = pilot.app.query_one(ResourceTable)
    table.post_message(kind(table, 5, 5, 0, 0, 0, shift, False, False))
    await pilot.pause()


# Rows that change ---------------------------------------------------------------------------------


async def test_new_data_keeps_selection_mark_and_scroll_position() -> None:
    app = TableApp(sample_rows(100, start=100))
    async with app.run_test(size=SIZE) as pilot:
        await pilot.press(*["down"] * 40, "space")
        line = app.lines().index(app.cursor_line())
        app.table.show(sample_rows(200))
        await pilot.pause()
        assert app.table.selected_identity == "id-141"
        assert app.lines().index(app.cursor_line()) == line
        assert app.lines()[line - 1].startswith(" ●row-140")
        assert app.received.of(SelectionLost) == []
        # A view scrolled away from the cursor stays as well; with too few rows it shows the end.
        app.table.scroll_rows(160)
        await pilot.pause()
        top = app.lines()[1]
        app.table.show(sample_rows(300))
        await pilot.pause()
        assert app.lines()[1] == top
        assert app.table.selected_identity == "id-141"
        app.table.show(sample_rows(145))
        await pilot.pause()
        assert "row-144" in app.lines()[-1]


async def test_the_cursor_follows_the_end_of_a_growing_list() -> None:
    app = TableApp(sample_rows(30))
    async with app.run_test(size=SIZE) as pilot:
        spec: Any = SimpleNamespace(completion=None)
        loader: ListRows[SampleRow] = ListRows(app.table, spec, list)
        await pilot.press("end")
        for count in (60, 90):
            loader.take(sample_rows(count), partial=True)
            await pilot.pause()
            assert f"row-{count - 1:03}" in app.cursor_line()
        await pilot.press("up")
        loader.take(sample_rows(120), partial=True)
        await pilot.press("down", "down")
        loader.take(sample_rows(150))
        assert app.table.selected_identity == "id-090"
        await pilot.press("end")
        loader.take(sample_rows(180))
        assert app.table.selected_identity == "id-149", "a refreshed list does not follow its end"
        await pilot.press("home")
        loader.take(sample_rows(180), partial=True)
        loader.take([SampleRow("a", "aaa"), *sample_rows(180)], partial=True)
        assert app.table.selected_identity == "a"


async def test_time_dependent_cells_follow_the_clock() -> None:
    app = TableApp(sample_rows(3))
    async with app.run_test(size=SIZE) as pilot:
        assert "0 min" in app.lines()[1]
        app.clock.pass_seconds(130)
        app.table.tick()
        await pilot.pause()
        assert "2 min" in app.lines()[1]


# The mouse ----------------------------------------------------------------------------------------


async def test_a_click_selects_and_a_click_on_the_selected_row_opens() -> None:
    app = TableApp(sample_rows(10))
    async with app.run_test(size=SIZE) as pilot:
        await pilot.click(ResourceTable, offset=(10, 15))
        assert app.table.selected_identity == "id-000", "there is no row"
        await pilot.click(ResourceTable, offset=(10, 4))
        assert (app.table.selected_identity, app.received.of(Opened)) == ("id-003", [])
        await pilot.click(ResourceTable, offset=(40, 4))
        await pilot.double_click(ResourceTable, offset=(10, 6))
        assert [message.identity for message in app.received.of(Opened)] == ["id-003", "id-005"]


async def test_a_click_on_a_title_sorts_and_a_second_one_reverses() -> None:
    app = TableApp(sample_rows(50))
    async with app.run_test(size=SIZE) as pilot:
        column = app.lines()[0].index("Used")
        for x, sorting, title in (
            (column, ("used", True), "▼Used"),
            (column, ("used", False), "▲Used"),
            (3, ("name", False), "Name▲"),
        ):
            await pilot.click(ResourceTable, offset=(x, 0))
            assert app.table.model.sorting == sorting
            assert title in app.lines()[0]
        assert len(app.received.of(SortChanged)) == 3


async def test_the_wheel_scrolls_three_rows_and_leaves_the_cursor() -> None:
    app = TableApp(sample_rows(50))
    async with app.run_test(size=SIZE) as pilot:
        await wheel(pilot, events.MouseScrollDown)
        assert app.table.top == 3
        assert "row-003" in app.lines()[1]
        await wheel(pilot, events.MouseScrollDown)
        await wheel(pilot, events.MouseScrollUp)
        assert app.table.top == 3
        assert app.table.selected_identity == "id-000"
        await pilot.press("down")
        assert "row-001" in app.cursor_line()


async def test_the_scrollbar_covers_no_cells_and_jumps_by_a_page() -> None:
    columns = (*COLUMNS[:2], replace(COLUMNS[2], grow=True))
    app = TableApp([replace(row, used=98765) for row in sample_rows(300)], columns)
    async with app.run_test(size=SIZE) as pilot:
        await pilot.pause()
        bar = app.table.vertical_scrollbar
        assert (bar.display, bar.region.width) == (True, 1)
        for line in app.lines()[1:]:
            assert line[:-1].endswith("98,765")
        await pilot.click(bar, offset=(0, 20))
        assert app.table.top == 23
        await pilot.click(bar, offset=(0, 0))
        assert app.table.top == 0
        header = app.lines()[0]
        app.table.filter_by("row-001")
        await pilot.pause()
        assert app.lines()[0] == f"{header[:-1]} ", "columns keep their place without a scrollbar"


# Painting -----------------------------------------------------------------------------------------


async def test_added_and_removed_rows_are_repainted() -> None:
    app = TableApp(sample_rows(3))
    async with app.run_test(size=SIZE) as pilot:
        app.table.show(sample_rows(5))
        await pilot.pause()
        assert "row-004" in app.lines()[5]
        app.table.show(sample_rows(2))
        await pilot.pause()
        assert app.lines()[3].strip() == ""


async def test_cursor_and_tones_differ_in_every_theme() -> None:
    states = ("x", "active", "near limit", "expired")
    app = TableApp(
        [replace(row, state=state) for row, state in zip(sample_rows(4), states, strict=True)]
    )
    async with app.run_test(size=SIZE) as pilot:
        result = set()
        for theme in THEMES:
            app.theme = theme.name
            await pilot.pause()
            state = app.table.shape.slots[1].x
            colours = [colour_at(app, line, state)[0] for line in (2, 3, 4)]
            assert len(set(colours)) == 3
            assert colour_at(app, 1, state)[1] != colour_at(app, 2, state)[1]
            result.add(str(colours))
        assert len(result) == len(THEMES), "every theme has its own colours"


def colour_at(app: TableApp, y: int, x: int) -> tuple[Any, Any]:
    """Foreground and background of one cell of the screen."""
    strip = app.screen._compositor.render_strips()[y].crop(x, x + 1)
    style = next(iter(strip)).style
    return style.color, style.bgcolor


@pytest.mark.parametrize("size", [(40, 12), (20, 4), (5, 2), (1, 1), (200, 60)])
@pytest.mark.parametrize("rows", [0, 100])
async def test_the_table_renders_at_every_size(rows: int, size: tuple[int, int]) -> None:
    app = TableApp(sample_rows(rows))
    async with app.run_test(size=size) as pilot:
        await pilot.press("end", "right", "space", "enter", "pageup")
        app.table.tick()
        assert len(app.lines()) == size[1]
        assert {len(line) for line in app.lines()} == {size[0]}
        assert (app.table.selected is None) == (rows == 0)


async def test_cached_lines_equal_a_full_repaint() -> None:
    app = TableApp(sample_rows(60))

    def segments() -> list[tuple[str, str | None]]:
        strips = [*app.table.render_lines(app.table.size.region)]
        return [(part.text, str(part.style)) for strip in strips for part in strip]

    async with app.run_test(size=(80, 24)) as pilot:
        await pilot.press(*["down"] * 30)
        for size in ((80, 20), (30, 12), (120, 5), (80, 90), (80, 23)):
            await pilot.resize_terminal(*size)
            await pilot.pause()
            cached = segments()
            app.table.refresh()
            assert segments() == cached, size
            assert "row-030" in app.cursor_line(), size
        for focused in (None, app.table):
            other_focus = segments()
            app.screen.set_focus(focused)
            await pilot.pause()
            cached = segments()
            assert cached != other_focus, "the cursor shows whether the table has the focus"
            app.table.notify_style_update()
            app.table.refresh()
            assert segments() == cached
