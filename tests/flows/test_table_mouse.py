"""Clicks select, open and sort; the wheel and the scrollbar scroll, none of it animated."""

from __future__ import annotations

from dataclasses import replace

from textual import events
from textual.pilot import Pilot

from gwtui.ui.widgets.table import Highlighted, Opened, ResourceTable, SortChanged
from table_kit import COLUMNS, TableApp, things

SIZE = (80, 24)


async def test_a_click_selects_and_a_click_on_the_selected_row_opens() -> None:
    app = TableApp(things(50))
    async with app.run_test(size=SIZE) as pilot:
        await pilot.click(ResourceTable, offset=(10, 4))
        assert app.table.selected_identity == "id-003"
        assert app.heard.of(Opened) == []
        await pilot.click(ResourceTable, offset=(40, 4))
        assert [message.identity for message in app.heard.of(Opened)] == ["id-003"]


async def test_a_double_click_opens_the_row_once() -> None:
    app = TableApp(things(50))
    async with app.run_test(size=SIZE) as pilot:
        await pilot.double_click(ResourceTable, offset=(10, 6))
        assert [message.identity for message in app.heard.of(Opened)] == ["id-005"]


async def test_a_click_below_the_last_row_does_nothing() -> None:
    app = TableApp(things(3))
    async with app.run_test(size=SIZE) as pilot:
        await pilot.click(ResourceTable, offset=(10, 10))
        assert app.table.selected_identity == "id-000"
        assert len(app.heard.of(Highlighted)) == 1


async def test_a_click_on_a_title_sorts_and_another_turns_around() -> None:
    app = TableApp(things(50))
    async with app.run_test(size=SIZE) as pilot:
        at = app.lines()[0].index("Used")
        await pilot.click(ResourceTable, offset=(at, 0))
        assert app.table.sorting == ("used", True)
        assert "▼Used" in app.lines()[0]
        await pilot.click(ResourceTable, offset=(at, 0))
        assert app.table.sorting == ("used", False)
        assert "▲Used" in app.lines()[0]
        await pilot.click(ResourceTable, offset=(3, 0))
        assert app.table.sorting == ("name", False)
        assert len(app.heard.of(SortChanged)) == 3


async def test_the_wheel_scrolls_three_rows_and_leaves_the_cursor() -> None:
    app = TableApp(things(50))
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


async def test_the_wheel_with_shift_turns_to_other_columns() -> None:
    app = TableApp(things(30))
    async with app.run_test(size=(40, 10)) as pilot:
        before = app.table.hidden_columns
        await wheel(pilot, events.MouseScrollDown, shift=True)
        assert app.table.hidden_columns != before
        await wheel(pilot, events.MouseScrollUp, shift=True)
        assert app.table.hidden_columns == before


async def test_a_click_on_the_count_of_hidden_columns_shows_them_in_turn() -> None:
    app = TableApp(things(30))
    async with app.run_test(size=(40, 10)) as pilot:
        first = app.table.hidden_columns
        seen = {first}
        for _ in range(app.table.shape.pages - 1):
            await click_marker(pilot, app)
            seen.add(app.table.hidden_columns)
        assert len(seen) == app.table.shape.pages > 1
        await click_marker(pilot, app)
        assert app.table.hidden_columns == first
        assert app.heard.of(SortChanged) == []


async def click_marker(pilot: Pilot[None], app: TableApp) -> None:
    marker = app.table.shape.marker
    await pilot.click(ResourceTable, offset=(app.lines()[0].index(marker) + 1, 0))


async def test_the_scrollbar_is_one_column_and_jumps_by_a_screenful() -> None:
    app = TableApp(things(300))
    async with app.run_test(size=SIZE) as pilot:
        bar = app.table.vertical_scrollbar
        assert bar.region.width == 1
        await pilot.click(bar, offset=(0, 20))
        assert app.table.top == 23
        await pilot.click(bar, offset=(0, 0))
        assert app.table.top == 0


async def test_the_scrollbar_covers_no_figures() -> None:
    columns = (*COLUMNS[:2], replace(COLUMNS[2], grow=True))
    app = TableApp([replace(thing, used=98765) for thing in things(300)], columns)
    async with app.run_test(size=SIZE) as pilot:
        await pilot.pause()
        assert app.table.vertical_scrollbar.display
        for line in app.lines()[1:]:
            assert line[:-1].endswith("98,765")


async def test_columns_keep_their_place_when_the_scrollbar_comes_and_goes() -> None:
    app = TableApp(things(300))
    async with app.run_test(size=SIZE) as pilot:
        header = app.lines()[0]
        app.table.filter_by("row-001")
        await pilot.pause()
        assert app.lines()[0][:-1] == header[:-1]
        assert app.lines()[0].endswith(" ")


async def wheel(
    pilot: Pilot[None],
    kind: type[events.MouseScrollDown] | type[events.MouseScrollUp],
    *,
    shift: bool = False,
) -> None:
    table = pilot.app.query_one(ResourceTable)
    table.post_message(kind(table, 5, 5, 0, 0, 0, shift, False, False))
    await pilot.pause()
