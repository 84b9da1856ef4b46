"""Working in a list: filter, sort, detail, raw JSON, the row that stays selected."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

import pytest
from textual.content import Content

from gwtui.ui.screens.detail_pane import DetailPane
from gwtui.ui.widgets.prompt import FilterPrompt
from harness import dashboard, harness, line, listing, until
from journeys import Terminal, at_rest
from screen_text import shown, whole


async def the_filter_narrows_while_typing_and_escape_takes_it_away(desk: Any) -> None:
    app, pilot = desk.app, desk.pilot
    await unfiltered(desk)
    table = listing(app).table
    total = table.total_count
    await pilot.press("slash", "b")
    await pilot.pause()
    some = table.visible_count
    assert 0 < some < total
    assert f"{some} of {total} keys" in line(listing(app), "status")
    await pilot.press("o", "t")
    await pilot.pause()
    assert table.visible_count < some
    await pilot.press("escape")
    await pilot.pause()
    assert table.visible_count == total
    assert app.focused is table


async def enter_keeps_the_filter_and_escape_in_the_list_drops_it(desk: Any) -> None:
    app, pilot = desk.app, desk.pilot
    await unfiltered(desk)
    screen = listing(app)
    await pilot.press("slash", "b", "o", "t", "enter")
    await pilot.pause()
    assert app.focused is screen.table
    kept = screen.table.visible_count
    assert kept < screen.table.total_count
    assert screen.query_one(FilterPrompt).display
    await pilot.press("escape")
    await pilot.pause()
    assert screen.table.visible_count == screen.table.total_count
    assert not screen.query_one(FilterPrompt).display


async def keys_typed_right_after_the_slash_go_into_the_filter(desk: Any) -> None:
    app, pilot = desk.app, desk.pilot
    await unfiltered(desk)
    await pilot.press("slash", *"qrtw")
    await pilot.pause()
    assert app.is_running
    assert listing(app).query_one(FilterPrompt).text == "qrtw"


async def the_footer_belongs_to_what_has_the_focus(desk: Any) -> None:
    app, pilot = desk.app, desk.pilot
    await unfiltered(desk)
    for key, keys in (
        ("slash", "Enter keeps the filter · Esc clears it · Tab completes"),
        ("colon", "Enter opens · Esc cancels · Tab completes"),
        ("x", "y confirms · Esc cancels"),
        ("s", "Enter selects · Esc cancels"),
        ("e", "Ctrl+S sends · Esc cancels"),
    ):
        assert "New key" in whole(app).splitlines()[-1]
        await pilot.press(key)
        await until(pilot, lambda keys=keys: keys in whole(app).splitlines()[-1], keys)
        assert "New key" not in whole(app).splitlines()[-1]
        await pilot.press("escape")
        await until(pilot, lambda: app.screen is listing(app), "the list")


async def a_wrong_filter_is_explained_in_the_status_line(desk: Any) -> None:
    app, pilot = desk.app, desk.pilot
    await unfiltered(desk)
    await pilot.press("slash", *"used>")
    await pilot.pause()
    assert "needs a value" in line(listing(app), "status")
    await pilot.press("escape")
    await pilot.pause()
    assert "needs a value" not in line(listing(app), "status")


async def a_question_mark_in_an_empty_filter_explains_the_language(desk: Any) -> None:
    app, pilot = desk.app, desk.pilot
    await unfiltered(desk)
    await pilot.press("slash", "question_mark")
    await pilot.pause()
    assert "column:text" in line(listing(app), "filter-help")
    assert listing(app).query_one(FilterPrompt).text == ""
    await pilot.press("a", "question_mark")
    await pilot.pause()
    assert listing(app).query_one(FilterPrompt).text == "a?"


async def the_bar_offers_what_can_be_typed_and_shows_what_was_found(desk: Any) -> None:
    app = desk.app
    await unfiltered(desk)
    screen = listing(app)
    terminal = Terminal(app)
    terminal.write("/")
    await at_rest(app)
    assert line(screen, "filter-help").startswith("Tab  name  ")
    terminal.write("all>=1 -sta\t\t")
    await at_rest(app)
    filled = screen.query_one(FilterPrompt).text
    assert re.fullmatch("all>=1 -state:[a-z]+", filled), filled
    assert 0 < screen.table.visible_count < screen.table.total_count
    terminal.write("\x1b[27u/(airflow or")
    await at_rest(app)
    assert screen.table.visible_count == 1
    assert "a group lacks its closing" in line(screen, "status")
    terminal.write(" bot) all >= 0\r")
    await at_rest(app)
    assert screen.table.visible_count > 1
    assert not screen.query_one("#filter-help").display
    drawn = [row for row in screen.table._drawn if row is not None]
    assert all(any(row.matches) for row in drawn)
    parts = list(screen.table.render_line(1))
    assert any(part.style and part.style.underline for part in parts)
    terminal.write("/ all>x ")
    await at_rest(app)
    assert "all>x: expected a number" in line(screen, "filter-help")


async def the_sort_chooser_sorts_and_turns_the_present_column_around(desk: Any) -> None:
    app, pilot = desk.app, desk.pilot
    await unfiltered(desk)
    screen = listing(app)
    screen.table.sort_by("name")
    await pilot.press("s")
    await until(pilot, lambda: app.screen is not screen, "the chooser")
    await pilot.press("enter")
    await until(pilot, lambda: app.screen is screen, "the list")
    assert screen.table.sorting == ("name", True)
    assert "by name" in line(screen, "status")


async def a_refresh_keeps_row_filter_and_order(desk: Any) -> None:
    app, pilot = desk.app, desk.pilot
    await unfiltered(desk)
    screen = listing(app)
    await pilot.press("slash", "a", "enter", "down", "down", "space")
    row, order, marks = (
        screen.table.selected_identity,
        screen.table.sorting,
        screen.table.marked,
    )
    before = screen.states[0].fetched_at
    await pilot.press("r")
    await until(pilot, lambda: screen.states[0].fetched_at != before, "the new answer")
    assert screen.table.selected_identity == row
    assert screen.table.sorting == order
    assert screen.table.marked == marks
    assert "1 marked" in line(screen, "status")


async def the_detail_pane_follows_the_row_where_there_is_room(desk: Any) -> None:
    app, pilot = desk.app, desk.pilot
    await unfiltered(desk)
    pane = listing(app).query_one(DetailPane)
    for _ in range(3):
        await pilot.press("down")
        name = listing(app).declared.name(listing(app).target())
        await until(pilot, lambda name=name: name in pane.text, "the row")  # type: ignore[misc]
        assert pane.display


async def test_a_held_key_moves_the_rows_and_the_detail_follows_once_it_rests(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    rest = "gwtui.ui.screens.detail_pane._REST"
    monkeypatch.setattr(rest, 600.0)
    async with harness() as place, dashboard(place) as (app, pilot):
        pane = listing(app).query_one(DetailPane)
        shown: list[str] = []
        show = pane.show

        def noted(lines: Sequence[Content]) -> None:
            shown.append(lines[0].plain)
            show(lines)

        monkeypatch.setattr(pane, "show", noted)
        await pilot.press(*["down"] * 8)
        await pilot.pause()
        assert listing(app).declared.name(listing(app).target()) not in pane.text
        monkeypatch.setattr(rest, 0.01)
        await pilot.press("down")
        name = listing(app).declared.name(listing(app).target())
        await until(pilot, lambda: name in pane.text, "the last row")
        assert len(set(shown)) <= 2, "at most the first one at once, and the last one at rest"


async def test_what_completes_the_first_row_is_in_its_detail_once_it_is_read() -> None:
    async with harness() as place, dashboard(place) as (app, pilot):
        pane = listing(app).query_one(DetailPane)
        await until(pilot, lambda: re.search(r"assigned +none", pane.text), "no guardrail")
        assert "reading…" not in pane.text


async def test_the_detail_pane_takes_the_whole_width_where_there_is_none() -> None:
    async with (
        harness() as place,
        dashboard(place, size=(80, 24)) as (app, pilot),
    ):
        pane = listing(app).query_one(DetailPane)
        assert not pane.display
        for key in ("enter", "d"):
            await pilot.press(key)
            await pilot.pause()
            assert pane.display
            assert pane.size.width >= 76
            assert not listing(app).table.display
            await pilot.press("escape")
            await pilot.pause()
            assert not pane.display
            assert app.focused is listing(app).table


async def what_a_list_says_of_itself_stays_when_the_terminal_changes_under_a_dialog(
    desk: Any,
) -> None:
    app, pilot = desk.app, desk.pilot
    before = line(listing(app), "status")
    assert "by name" in before
    await pilot.press("question_mark")
    await until(pilot, lambda: app.screen is not listing(app), "the help")
    await pilot.resize_terminal(100, 30)
    await until(pilot, lambda: listing(app).size.width == 100, "the new size")
    assert line(listing(app), "status").startswith(before.rstrip())
    await pilot.resize_terminal(120, 40)


async def the_workspace_narrows_the_keys(desk: Any) -> None:
    app, pilot = desk.app, desk.pilot
    await unfiltered(desk)
    screen = listing(app)
    everything = screen.table.total_count
    await pilot.press("w")
    await until(pilot, lambda: app.screen is not screen, "the workspaces")
    await pilot.press("down", "enter")
    await until(pilot, lambda: app.screen is screen, "the list")
    await until(pilot, lambda: 0 < screen.table.total_count < everything, "the narrower list")
    assert app.scope_name is not None
    assert app.scope_name[:8] in shown(app).splitlines()[0]
    assert f"only {app.scope_name}" in line(screen, "status")
    await pilot.press("w")
    await until(pilot, lambda: app.screen is not screen, "the workspaces")
    await pilot.press("home", "enter")
    await until(pilot, lambda: screen.table.total_count == everything, "every key")


async def test_a_filter_that_hides_everything_says_so_and_escape_brings_all_back() -> None:
    async with harness() as place, dashboard(place, size=(80, 24)) as (app, pilot):
        screen = listing(app)
        await pilot.press("slash", *"zzzz", "enter")
        await pilot.pause()
        assert "No key matches the filter" in shown(app)
        await pilot.press("escape")
        await pilot.pause()
        assert "No key matches" not in shown(app)
        assert screen.table.visible_count == screen.table.total_count
        assert app.focused is screen.table


async def unfiltered(desk: Any) -> None:
    """Take back the filter of the step before."""
    while any(prompt.display for prompt in listing(desk.app).query(FilterPrompt)):
        await desk.pilot.press("escape")
        await desk.pilot.pause()


async def test_filtering_a_list() -> None:
    async with harness() as place, dashboard(place):
        await place.walk(
            the_filter_narrows_while_typing_and_escape_takes_it_away,
            enter_keeps_the_filter_and_escape_in_the_list_drops_it,
            keys_typed_right_after_the_slash_go_into_the_filter,
            the_footer_belongs_to_what_has_the_focus,
            a_wrong_filter_is_explained_in_the_status_line,
            a_question_mark_in_an_empty_filter_explains_the_language,
            the_bar_offers_what_can_be_typed_and_shows_what_was_found,
        )


async def test_sorting_reading_and_narrowing_a_list() -> None:
    async with harness() as place, dashboard(place):
        await place.walk(
            what_a_list_says_of_itself_stays_when_the_terminal_changes_under_a_dialog,
            the_sort_chooser_sorts_and_turns_the_present_column_around,
            a_refresh_keeps_row_filter_and_order,
            the_detail_pane_follows_the_row_where_there_is_room,
            the_workspace_narrows_the_keys,
        )
