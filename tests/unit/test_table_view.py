"""Text keeps to its cells whatever it contains."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len
from rich.style import Style
from textual.strip import Strip

from gwtui.crud.resource import Cell
from gwtui.ui.text import fit
from gwtui.ui.widgets.table.layout import Layout, arrange, header_strip, row_strip
from table_kit import COLUMNS

WIDTH = 80
LAYOUT = arrange(COLUMNS, WIDTH)
STYLES = {
    "header": Style(dim=True),
    "header-sorted": Style(bold=True),
    "mark": Style(color="blue"),
    "match": Style(underline=True),
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
        assert f"+{hidden}>" in text
