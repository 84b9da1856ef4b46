"""Only what looks different is painted, and text keeps to its cells whatever it contains."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len
from rich.style import Style

from gwtui.crud.resource import Cell
from gwtui.ui.text import fit
from gwtui.ui.widgets.table.layout import DrawnRow, Frame, arrange, changed
from gwtui.ui.widgets.table.model import TableModel
from gwtui.ui.widgets.table.view import Palette, header_strip, row_strip
from table_kit import COLUMNS, Thing, Wall, things

WIDTH = 80
LAYOUT = arrange(COLUMNS, WIDTH)
PALETTE = Palette(
    base=Style(color="white"),
    header=Style(dim=True),
    header_sorted=Style(bold=True),
    cursor=Style(reverse=True),
    mark=Style(color="blue"),
    match=Style(underline=True),
    tones={
        tone: Style(color=colour)
        for tone, colour in (
            ("plain", "white"),
            ("muted", "bright_black"),
            ("good", "green"),
            ("warn", "yellow"),
            ("bad", "red"),
            ("accent", "blue"),
        )
    },
)


def frame_of(table: TableModel[Thing], top: int = 0) -> Frame:
    return table.frame(top, 10, LAYOUT)


def filled() -> TableModel[Thing]:
    table: TableModel[Thing] = TableModel(COLUMNS, lambda t: t.id, Wall(), {})
    table.show(things(8))
    return table


def test_an_unchanged_table_needs_no_paint() -> None:
    table = filled()
    before = frame_of(table)
    table.show(things(8))
    assert changed(before, frame_of(table)) == []


def test_one_changed_figure_is_one_line() -> None:
    table = filled()
    before = frame_of(table)
    rows = things(8)
    rows[3] = replace(rows[3], used=999)
    table.show(rows)
    assert changed(before, frame_of(table)) == [3]


def test_a_cursor_move_is_two_lines_and_a_mark_is_one() -> None:
    table = filled()
    before = frame_of(table)
    table.move_to(1)
    moved = frame_of(table)
    assert changed(before, moved) == [0, 1]
    table.toggle_mark("id-004")
    assert changed(moved, frame_of(table)) == [4]


def test_rows_that_go_leave_lines_to_be_cleared() -> None:
    table = filled()
    before = frame_of(table)
    table.show(things(6))
    assert changed(before, frame_of(table)) == [6, 7]
    assert changed((), ()) == []


@pytest.mark.parametrize(
    ("text", "width", "shown"),
    [
        ("plain", 8, "plain   "),
        ("exactly8", 8, "exactly8"),
        ("too long by far", 8, "too lon…"),
        ("日本語", 6, "日本語"),
        ("日本語", 5, "日本…"),
        ("日本語", 4, "日 …"),
        ("e\u0301e\u0301e\u0301", 3, "e\u0301e\u0301e\u0301"),
        ("e\u0301e\u0301e\u0301", 2, "e\u0301…"),
        ("ab", 1, "…"),
        ("ab", 0, ""),
        ("", 3, "   "),
    ],
)
def test_text_is_cut_by_the_width_it_is_shown_in(text: str, width: int, shown: str) -> None:
    assert fit(text, width) == shown
    assert cell_len(fit(text, width)) == width


def test_figures_stand_at_the_right() -> None:
    assert fit("12", 5, right=True) == "   12"


@given(st.text(max_size=60), st.integers(1, 40), st.booleans())
def test_a_row_is_exactly_as_wide_as_the_table_whatever_it_says(
    text: str, width: int, right: bool
) -> None:
    layout = arrange(COLUMNS, width)
    row = DrawnRow(
        "id", None, tuple(Cell(text) for _ in layout.slots), cursor=right, marked=not right
    )
    strip = row_strip(row, layout, COLUMNS, PALETTE)
    assert strip.cell_length == cell_len(strip.text) == width
    assert strip.text.isprintable()


def test_cursor_and_mark_have_a_shape() -> None:
    cells = tuple(Cell("x") for _ in LAYOUT.slots)
    shapes = {
        (cursor, marked): row_strip(
            DrawnRow("i", None, cells, cursor, marked), LAYOUT, COLUMNS, PALETTE
        ).text[:2]
        for cursor in (False, True)
        for marked in (False, True)
    }
    assert shapes == {
        (False, False): "  ",
        (False, True): " ●",
        (True, False): "▌ ",
        (True, True): "▌●",
    }


def test_tones_colour_their_cell_and_neighbours_of_one_style_are_one_segment() -> None:
    state = LAYOUT.slots[1]
    cells = [Cell("x") for _ in LAYOUT.slots]
    cells[1] = Cell("expired", "bad")
    strip = row_strip(DrawnRow("i", None, tuple(cells), False, False), LAYOUT, COLUMNS, PALETTE)
    assert [segment.style for segment in strip] == [
        PALETTE.base,
        PALETTE.tones["bad"],
        PALETTE.base,
    ]
    assert strip.crop(state.x, state.x + state.width).text == "expired   "


def header(width: int, sorting: tuple[str, bool] | None = None, page: int = 0) -> str:
    return header_strip(arrange(COLUMNS, width, page), COLUMNS, sorting, PALETTE).text


def test_the_header_names_columns_over_their_cells() -> None:
    text = header(WIDTH)
    for slot in LAYOUT.slots:
        title = COLUMNS[slot.index].title
        cells = text[slot.x : slot.x + slot.width]
        assert cells.strip() == title
        assert cells.endswith(title) == COLUMNS[slot.index].right


def test_the_header_shows_the_order_beside_the_title() -> None:
    assert "Name▲" in header(WIDTH, ("name", False))
    assert "▼Used" in header(WIDTH, ("used", True))


def test_a_long_title_gives_way_to_the_arrow() -> None:
    column = replace(COLUMNS[2], title="A long title")
    layout = arrange((COLUMNS[0], column), 40)
    text = header_strip(layout, (COLUMNS[0], column), ("used", False), PALETTE).text
    assert text.endswith("▲A long…")


@pytest.mark.parametrize("width", [1, 2, 5, 10, 20, 33, 40, 80, 200])
def test_the_header_keeps_to_the_width_and_counts_hidden_columns(width: int) -> None:
    text = header(width, ("name", True))
    assert cell_len(text) == width
    hidden = len(arrange(COLUMNS, width).hidden)
    if hidden and width >= 12:
        assert f"+{hidden}>" in text
