"""The columns of a table on each page, and the first sort order of a column."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len
from rich.style import Style
from textual.strip import Strip

from gwtui.crud.resource import Cell, Column
from gwtui.resources.keys.resource import KEYS
from gwtui.ui.text import fit
from gwtui.ui.widgets.table.layout import GAP, GUTTER, Layout, arrange, header_strip, row_strip
from table_kit import COLUMNS


def column(name: str, width: int, *, grow: bool = False) -> Column[str]:
    def cell(item: str, _now: datetime) -> Cell:
        return Cell(item)

    return Column(name, name, cell, lambda item, _now: item, width, grow=grow)


FOUR = (
    column("name", 10, grow=True),
    column("state", 8),
    column("limit", 8),
    column("used", 8),
)


def indexes(layout: Layout) -> list[int]:
    return [slot.index for slot in layout.slots]


def test_long_texts_take_what_is_left_before_the_growing_column_does() -> None:
    columns = (*FOUR, replace(column("workspace", 8), most=20))
    exact = GUTTER + 10 + 4 * (8 + GAP)

    def widths(width: int, longest: int) -> tuple[int, int]:
        slots = arrange(columns, width, longest={4: longest}).slots
        assert slots[-1].x + slots[-1].width == width
        return slots[0].width, slots[-1].width

    assert widths(exact, 17) == (10, 8), "no room is left"
    assert widths(exact + 5, 17) == (10, 13)
    assert widths(exact + 30, 17) == (31, 17), "no wider than its content"
    assert widths(exact + 30, 40) == (28, 20), "no wider than its maximum"
    assert widths(exact + 30, 3) == (40, 8)


@pytest.mark.parametrize(
    ("lacks", "columns"), [(0, [0, 1, 2, 3]), (1, [0, 1, 2]), (11, [0, 1]), (21, [0])]
)
def test_the_last_column_is_hidden_first(lacks: int, columns: list[int]) -> None:
    assert indexes(arrange(FOUR, GUTTER + 10 + 3 * (8 + GAP) - lacks)) == columns


def test_the_marker_counts_what_is_hidden_and_says_where_more_is() -> None:
    width = GUTTER + 10 + GAP + 8
    assert [arrange(FOUR, width, page).marker for page in range(3)] == [
        "+2 cols>",
        "<+2 cols>",
        "<+2 cols",
    ]
    assert [indexes(arrange(FOUR, width, page)) for page in range(3)] == [[0, 1], [0, 2], [0, 3]]


def test_growing_columns_share_the_rest_to_the_last_cell() -> None:
    columns = (column("a", 5, grow=True), column("b", 5, grow=True), column("c", 4))
    layout = arrange(columns, 41)
    assert layout.marker == ""
    widths = [slot.width for slot in layout.slots]
    assert sum(widths) + 2 * GAP + GUTTER == 41
    assert widths[0] - widths[1] in (0, 1)
    assert widths[2] == 4


def test_without_a_growing_column_the_rest_stays_empty() -> None:
    layout = arrange((column("a", 5), column("b", 5)), 60)
    assert [slot.width for slot in layout.slots] == [5, 5]


def test_the_only_column_left_shrinks() -> None:
    assert [slot.width for slot in arrange(FOUR, 8).slots] == [6]


def test_a_cell_belongs_to_the_column_drawn_there() -> None:
    layout = arrange(FOUR, 80)
    first, second = layout.slots[:2]
    for x, slot in ((0, first), (second.x - 1, first), (second.x, second)):
        assert layout.slot_at(x) is slot
    assert layout.slot_at(-1) is None
    assert layout.slot_at(500) is None


columns_of = st.lists(st.tuples(st.integers(1, 40), st.booleans()), min_size=1, max_size=15).map(
    lambda specs: [column(str(n), w, grow=g) for n, (w, g) in enumerate(specs)]
)


@given(columns_of, st.integers(1, 250))
def test_every_column_is_on_a_page_and_the_first_on_all(
    columns: list[Column[str]], width: int
) -> None:
    first = arrange(columns, width)
    pages = [arrange(columns, width, page) for page in range(first.pages)]
    assert {index for page in pages for index in indexes(page)} == set(range(len(columns)))
    for page in pages:
        assert indexes(page)[0] == 0
        assert indexes(page) == sorted(set(indexes(page)))
        assert len(page.hidden) + len(page.slots) == len(columns)


@given(columns_of, st.integers(1, 250), st.integers(-3, 40))
def test_columns_never_overlap_nor_leave_the_width_they_can_fit(
    columns: list[Column[str]], width: int, page: int
) -> None:
    layout = arrange(columns, width, page)
    end = GUTTER
    for slot in layout.slots:
        assert slot.width >= 1
        assert slot.x >= end
        end = slot.x + slot.width + GAP
    least = GUTTER + len(layout.slots) + GAP * (len(layout.slots) - 1)
    assert end - GAP <= max(width, least)
    assert 0 <= layout.page < layout.pages


@given(columns_of, st.integers(1, 249))
def test_a_wider_terminal_never_hides_more(columns: list[Column[str]], width: int) -> None:
    assert len(arrange(columns, width + 1).slots) >= len(arrange(columns, width).slots)


def test_long_names_take_up_to_a_quarter_of_the_room_before_other_columns() -> None:
    assert arrange(FOUR, 42).slots[0].width == 10
    assert arrange(FOUR, 42, longest={0: 9}) == arrange(FOUR, 42), "short names take no extra room"
    wide = arrange(FOUR, 62, longest={0: 14})
    assert indexes(wide) == [0, 1, 2, 3]
    assert arrange((FOUR[0], *FOUR[1:] * 3), 82, longest={0: 30}).slots[0].width >= 20
    assert arrange((FOUR[0], *FOUR[1:] * 3), 82, longest={0: 14}).slots[0].width >= 14
    fixed = (column("name", 10), *FOUR[1:])
    assert arrange(fixed, 62, longest={0: 14}).slots[0].width == 10, "fixed columns do not grow"


# Chosen columns -----------------------------------------------------------------------------------


IDS = [column.id for column in KEYS.columns]


def names(width: int, *chosen: str, page: int = 0) -> list[str]:
    choice = [IDS.index(item) for item in chosen]
    return [IDS[slot.index] for slot in arrange(KEYS.columns, width, page, choice).slots]


def test_chosen_columns_stand_in_their_order() -> None:
    layout = arrange(KEYS.columns, 100, 0, [IDS.index(item) for item in ("name", "limit", "state")])
    assert names(100, "name", "limit", "state") == ["name", "limit", "state"]
    assert (layout.pages, layout.hidden, layout.marker) == (1, (), "")


def test_columns_without_room_are_on_further_pages() -> None:
    chosen = ("used", "name", "limit", "state", "today")
    pages = arrange(KEYS.columns, 40, 0, [IDS.index(item) for item in chosen]).pages
    names_by_page = [names(40, *chosen, page=page) for page in range(pages)]
    assert pages > 1
    assert {page[0] for page in names_by_page} == {"used"}
    assert [item for page in names_by_page for item in page[1:]] == [
        "name",
        "limit",
        "state",
        "today",
    ]


@pytest.mark.parametrize(
    ("picked", "present", "order"),
    [
        ("all", ("name", False), ("all", True)),
        ("all", ("all", True), ("all", False)),
        ("all", ("all", False), ("all", True)),
        ("name", ("all", True), ("name", False)),
        ("name", ("", False), ("name", False)),
    ],
)
def test_a_picked_column_begins_with_the_largest_figures_and_the_first_names(
    picked: str, present: tuple[str, bool], order: tuple[str, bool]
) -> None:
    (column,) = [column for column in KEYS.columns if column.id == picked]
    assert column.order_after(present) == order


# Painted rows -------------------------------------------------------------------------------------


WIDTH = 80
LAYOUT = arrange(COLUMNS, WIDTH)
STYLES = {
    "header": Style(dim=True),
    "header-sorted": Style(bold=True),
    "mark": Style(color="blue"),
    "plain": Style(color="white"),
    "muted": Style(color="bright_black"),
    "good": Style(color="green"),
    "warn": Style(color="yellow"),
    "bad": Style(color="red"),
    "accent": Style(color="blue"),
}
CURSOR = Style(reverse=True)


def row(cells: Sequence[Cell], layout: Layout = LAYOUT, **options: Any) -> Strip:
    return row_strip(cells, layout, COLUMNS, STYLES.__getitem__, **options)


@pytest.mark.parametrize(
    ("text", "width", "expected"),
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
def test_text_is_cut_by_the_width_it_is_shown_in(text: str, width: int, expected: str) -> None:
    assert fit(text, width) == expected
    assert cell_len(fit(text, width)) == width


def test_figures_stand_at_the_right() -> None:
    assert fit("12", 5, right=True) == "   12"


@given(st.text(max_size=60), st.integers(1, 40), st.booleans())
def test_a_row_is_exactly_as_wide_as_the_table_whatever_it_says(
    text: str, width: int, right: bool
) -> None:
    layout = arrange(COLUMNS, width)
    cells = [Cell(text) for _ in layout.slots]
    strip = row(cells, layout, cursor=CURSOR if right else None, marked=not right)
    assert strip.cell_length == cell_len(strip.text) == width
    assert strip.text.isprintable()


def test_cursor_and_mark_have_a_shape() -> None:
    cells = tuple(Cell("x") for _ in LAYOUT.slots)
    shapes = {
        (cursor, marked): row(cells, cursor=CURSOR if cursor else None, marked=marked).text[:2]
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
    strip = row(cells)
    assert [segment.style for segment in strip] == [
        STYLES["plain"],
        STYLES["bad"],
        STYLES["plain"],
    ]
    assert strip.crop(state.x, state.x + state.width).text == "expired   "


def header(width: int, sorting: tuple[str, bool] = ("", False), page: int = 0) -> str:
    return header_strip(arrange(COLUMNS, width, page), COLUMNS, sorting, STYLES.__getitem__).text


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
    text = header_strip(layout, (COLUMNS[0], column), ("used", False), STYLES.__getitem__).text
    assert text.endswith("▲A long…")


@pytest.mark.parametrize("width", [1, 2, 5, 10, 20, 33, 40, 80, 200])
def test_the_header_keeps_to_the_width_and_counts_hidden_columns(width: int) -> None:
    text = header(width, ("name", True))
    assert cell_len(text) == width
    hidden = len(arrange(COLUMNS, width).hidden)
    if hidden and width >= 12:
        assert f"+{hidden} {'col' if hidden == 1 else 'cols'}>" in text
