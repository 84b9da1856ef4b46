"""The keys of the table, its messages, and the cursor that stays with its row."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import pytest

from gwtui.ui.screens.list_rows import ListRows
from gwtui.ui.widgets.table import (
    CountsChanged,
    Highlighted,
    Opened,
    SelectionLost,
)
from gwtui.ui.widgets.table.model import TableModel
from table_kit import TableApp, Thing, things

SIZE = (80, 24)
PAGE = SIZE[1] - 1


async def test_keys_move_the_cursor_by_row_page_and_to_the_ends() -> None:
    app = TableApp(things(100))
    async with app.run_test(size=SIZE) as pilot:
        at = 0
        for keys, to in (
            ("down j", 2),
            ("up", 1),
            ("k", 0),
            ("k", 0),
            ("pagedown", PAGE),
            ("pagedown", 2 * PAGE),
            ("pageup", PAGE),
            ("end", 99),
            ("down", 99),
            ("home", 0),
            ("G", 99),
            ("g", 0),
        ):
            await pilot.press(*keys.split())
            assert app.table.selected_identity == f"id-{to:03}", (keys, at)
            assert f"row-{to:03}" in app.cursor_line()
            at = to


async def test_a_screenful_down_moves_the_view_and_leaves_the_cursor_on_its_line() -> None:
    app = TableApp(things(200))
    async with app.run_test(size=SIZE) as pilot:
        await pilot.press(*["down"] * 5, "pagedown")
        assert app.table.selected_identity == f"id-{5 + PAGE:03}"
        assert app.lines()[6].startswith("▌")


async def test_moving_says_so_once_for_each_row() -> None:
    app = TableApp(things(10))
    async with app.run_test(size=SIZE) as pilot:
        await pilot.press("down", "down", "home", "home")
        heard = [message.identity for message in app.heard.of(Highlighted)]
        assert heard == ["id-000", "id-001", "id-002", "id-000"]


async def test_enter_opens_the_selected_row() -> None:
    app = TableApp(things(10))
    async with app.run_test(size=SIZE) as pilot:
        await pilot.press("down", "enter")
        assert [message.identity for message in app.heard.of(Opened)] == ["id-001"]
        assert app.heard.of(Opened)[0].control is app.table


async def test_space_marks_and_goes_on() -> None:
    app = TableApp(things(10))
    async with app.run_test(size=SIZE) as pilot:
        await pilot.press("space", "space", "down", "space")
        assert app.table.marked == ("id-000", "id-001", "id-003")
        assert app.lines()[1].startswith(" ●row-000")
        assert app.heard.of(CountsChanged)[-1].marked == 3
        await pilot.press("up", "space")
        assert app.table.marked == ("id-000", "id-001")
        app.table.filter_by("row-00")
        await pilot.press("home", "down", "down", *["space"] * 8)
        assert len(app.table.marked) == 10
        app.table.change_marks(TableModel.clear_marks)
        assert app.table.marked == ()


async def test_right_and_left_reach_every_column() -> None:
    app = TableApp(things(10))
    async with app.run_test(size=(40, 10)) as pilot:
        seen: set[str] = set()
        all_columns = {"name", "state", "used", "age", "id"}
        for _ in range(6):
            await pilot.pause()
            seen |= all_columns - set(app.table.hidden_columns)
            assert app.lines()[1].startswith("▌ row-000")
            assert f"+{len(app.table.hidden_columns)}" in app.lines()[0]
            await pilot.press("right")
        assert seen == all_columns
        assert "Identity" in app.lines()[0]
        await pilot.press(*["left"] * 6)
        assert "State" in app.lines()[0]


async def test_new_data_keeps_row_mark_and_place_on_the_screen() -> None:
    app = TableApp(things(100, start=100))
    async with app.run_test(size=SIZE) as pilot:
        await pilot.press(*["down"] * 40, "space")
        line = app.lines().index(app.cursor_line())
        app.table.show(things(200))
        await pilot.pause()
        assert app.table.selected_identity == "id-141"
        assert app.lines().index(app.cursor_line()) == line
        assert app.lines()[line - 1].startswith(" ●row-140")
        assert app.heard.of(SelectionLost) == []


async def test_a_view_scrolled_away_from_the_cursor_stays_where_it_is() -> None:
    app = TableApp(things(100, start=100))
    async with app.run_test(size=SIZE) as pilot:
        app.table.scroll_rows(50)
        await pilot.pause()
        assert "row-150" in app.lines()[1]
        app.table.show(things(200))
        await pilot.pause()
        assert "row-150" in app.lines()[1]
        assert app.table.selected_identity == "id-100"


async def test_the_end_of_a_list_that_grows_is_followed_until_the_cursor_goes_elsewhere() -> None:
    app = TableApp(things(30))
    async with app.run_test(size=SIZE) as pilot:
        spec: Any = SimpleNamespace(completion=None)
        loader: ListRows[Thing] = ListRows(app.table, spec, list)
        await pilot.press("end")
        for count in (60, 90):
            loader.take(things(count), partial=True)
            await pilot.pause()
            assert f"row-{count - 1:03}" in app.cursor_line()
        await pilot.press("up")
        loader.take(things(120), partial=True)
        await pilot.press("down", "down")
        loader.take(things(150))
        assert app.table.selected_identity == "id-090"
        await pilot.press("end")
        loader.take(things(180))
        assert app.table.selected_identity == "id-149", "a list that is read again does not grow"
        await pilot.press("home")
        loader.take(things(180), partial=True)
        loader.take([Thing("a", "aaa"), *things(180)], partial=True)
        assert app.table.selected_identity == "a"


async def test_a_view_far_down_a_list_that_shrinks_shows_its_end() -> None:
    app = TableApp(things(100))
    async with app.run_test(size=SIZE) as pilot:
        app.table.scroll_rows(60)
        await pilot.pause()
        app.table.show(things(30))
        await pilot.pause()
        assert "row-029" in app.lines()[-1]
        assert app.table.selected_identity == "id-000"


async def test_a_deleted_row_is_told_and_its_neighbour_selected() -> None:
    app = TableApp(things(20))
    async with app.run_test(size=SIZE) as pilot:
        await pilot.press(*["down"] * 7)
        app.table.show([t for t in things(20) if t.id != "id-007"])
        await pilot.pause()
        lost = app.heard.of(SelectionLost)[0].lost
        assert (lost.identity, lost.reason, lost.neighbour) == ("id-007", "deleted", "id-008")
        assert "row-008" in app.cursor_line()
        assert app.lines().index(app.cursor_line()) == 8


async def test_select_scrolls_into_view_and_refuses_what_is_hidden() -> None:
    app = TableApp(things(100))
    async with app.run_test(size=SIZE) as pilot:
        assert app.table.select("id-090")
        await pilot.pause()
        assert "row-090" in app.cursor_line()
        assert not app.table.select("id-500")
        app.table.filter_by("row-01")
        assert not app.table.select("id-090")


async def test_select_before_the_first_paint_is_in_view_afterwards() -> None:
    app = TableApp(things(100))
    app.table.show(things(100))
    app.table.select("id-080")
    async with app.run_test(size=SIZE) as pilot:
        await pilot.pause()
        assert "row-080" in app.cursor_line()


async def test_time_dependent_cells_follow_the_clock() -> None:
    app = TableApp(things(3))
    async with app.run_test(size=SIZE) as pilot:
        assert "0 min" in app.lines()[1]
        app.wall.pass_seconds(130)
        app.table.tick()
        await pilot.pause()
        assert "2 min" in app.lines()[1]


async def test_counts_are_told_once_for_each_change() -> None:
    app = TableApp(things(30))
    async with app.run_test(size=SIZE) as pilot:
        app.table.filter_by("row-01")
        app.table.filter_by("row-01")
        await pilot.pause()
        last = app.heard.of(CountsChanged)[-1]
        assert (last.visible, last.total, last.marked, last.hidden_columns) == (10, 30, 0, 0)
        told = len(app.heard.of(CountsChanged))
        app.table.show(things(30))
        await pilot.pause()
        assert len(app.heard.of(CountsChanged)) == told


@pytest.mark.parametrize("size", [(80, 24), (40, 12), (20, 4), (5, 2), (1, 1), (200, 60)])
@pytest.mark.parametrize("rows", [0, 100])
async def test_every_size_can_be_drawn(rows: int, size: tuple[int, int]) -> None:
    app = TableApp(things(rows))
    async with app.run_test(size=size) as pilot:
        await pilot.press("end", "right", "space", "enter", "pageup")
        app.table.tick()
        assert len(app.lines()) == size[1]
        assert {len(line) for line in app.lines()} == {size[0]}
        assert (app.table.selected is None) == (rows == 0)


async def test_resizing_keeps_the_cursor_in_view() -> None:
    app = TableApp(things(100))
    async with app.run_test(size=(80, 40)) as pilot:
        await pilot.press(*["down"] * 35)
        for size in ((80, 10), (30, 24), (120, 5), (80, 40)):
            await pilot.resize_terminal(*size)
            await pilot.pause()
            assert "row-035" in app.cursor_line(), size


async def test_lines_that_stay_are_what_they_would_be_if_all_was_drawn_anew() -> None:
    app = TableApp(things(60))

    def painted() -> list[tuple[str, str | None]]:
        strips = [*app.table.render_lines(app.table.size.region)]
        return [(part.text, str(part.style)) for strip in strips for part in strip]

    async with app.run_test(size=(80, 24)) as pilot:
        await pilot.press(*["down"] * 30)
        for height in (20, 12, 40, 90, 23):
            await pilot.resize_terminal(80, height)
            await pilot.pause()
            before = painted()
            app.table.refresh()
            assert painted() == before, height
        for focused in (None, app.table):
            there = painted()
            app.screen.set_focus(focused)
            await pilot.pause()
            before = painted()
            assert before != there, "the cursor shows whether the list has the keys"
            app.table.notify_style_update()
            app.table.refresh()
            assert painted() == before


HOSTILE = "[red]\x1b[31m[/foo]\x07\u202eevil\u200b[@click=app.quit]x[/]"


async def test_hostile_and_wide_text_is_shown_as_text_in_its_own_cells() -> None:
    rows = [
        Thing("1", HOSTILE, 1),
        Thing("2", "日本語のとても長い名前" * 9, 2),
        Thing("3", "é" * 90, 3),
    ]
    app = TableApp([*rows, replace(rows[0], id=HOSTILE, state=HOSTILE)])
    async with app.run_test(size=(120, 10)) as pilot:
        await pilot.press("down", "space")
        lines = app.lines()
        assert "[red]" in lines[1]
        assert "[@click=app.quit]x" in lines[1]
        assert not set("".join(lines)) & set("\x1b\x07\u202e\u200b")
        state = lines[0].index("State")
        for line, used in zip(lines[1:4], "123", strict=True):
            strip = app.screen._compositor.render_strips()[lines.index(line)]
            assert strip.crop(state, state + 6).text == "active"
            assert used in strip.crop(state + 10, state + 20).text
        assert "…" in lines[2]
