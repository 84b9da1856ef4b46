"""The text of the detail pane: nothing is wider than the pane, and no number is cut."""

from __future__ import annotations

from datetime import UTC, datetime
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len

from gwtui.contract.models import Pricing
from gwtui.crud.cells import hint
from gwtui.crud.resource import Cell, DetailRow, DetailTable, Section
from gwtui.resources.models.prices import price_table
from gwtui.ui.widgets.detail import section_lines

NOW = datetime(2026, 11, 21, tzinfo=UTC)


def lines_of(part: DetailRow | DetailTable, width: int, name: str = "it") -> list[str]:
    sections = (Section("Part", lambda _item, _now: [part]),)
    return [line.plain for line in section_lines(name, sections, None, NOW, width)]


DISCOUNTED = Pricing.model_validate(
    {
        "prompt": "0.00001234",
        "completion": "0.0000987654",
        "input_cache_read": "0.0000001",
        "input_cache_write": "0.0000123",
        "request": "0.0125",
        "web_search": "0.004",
        "image": "0.0038",
        "discount": Decimal("0.125"),
    }
)


@pytest.mark.parametrize("width", range(20, 90))
def test_every_price_with_its_discount_can_be_read_in_any_width(width: int) -> None:
    (table,) = price_table(DISCOUNTED)
    assert isinstance(table, DetailTable)
    lines = lines_of(table, width)
    assert max(map(cell_len, lines)) <= width
    words = " ".join(lines).split()
    for row in table.rows:
        for cell in row:
            assert all(word in words for word in cell.text.split()), (cell.text, lines)
    assert "…" not in "".join(lines)


def test_a_table_with_room_is_one_line_for_each_row() -> None:
    (table,) = price_table(DISCOUNTED)
    lines = lines_of(table, 80)
    assert len(lines) == 3 + 1 + 7
    assert lines[3].split() == ["price", "list", "after", "12.5%", "off", "per"]


def test_hints_at_actions_that_are_held_back_are_left_out() -> None:
    texts = ["{keys.create} creates one, {list.sort} sorts", "{keys.create} creates one", ""]
    sections = (Section("Part", lambda _item, _now: [*map(hint, texts)]),)
    lines = section_lines("it", sections, None, NOW, 60, lambda action: action.mutates)
    assert [line.plain.strip() for line in lines][3:] == ["s sorts", ""]


def test_long_names_wrap() -> None:
    name = "Credits low: a workspace with rather a long name, and " + "x" * 50
    lines = lines_of(DetailRow("state", Cell("firing")), 42, name)
    assert all(cell_len(line) <= 42 for line in lines)
    assert "".join("".join(lines).split()).startswith("".join(name.split()))


MODELS = "northwind/atlas-large-20260819, northwind/atlas-mini-20260819"


def test_long_identifiers_move_below_their_label() -> None:
    lines = lines_of(DetailRow("never providers", Cell(MODELS)), 38)
    assert lines[-2:] == [
        "  northwind/atlas-large-20260819,",
        "  northwind/atlas-mini-20260819",
    ]
    assert lines_of(DetailRow("models", Cell(MODELS)), 60)[-2].startswith("models  northwind/")


def test_an_identifier_longer_than_a_line_is_broken_behind_a_separator() -> None:
    lines = lines_of(DetailRow("models", Cell(MODELS)), 22)
    assert [line.strip() for line in lines[-4:]] == [
        "northwind/atlas-",
        "large-20260819,",
        "northwind/atlas-",
        "mini-20260819",
    ]


WORD = st.text(st.characters(categories=["L", "N"]), max_size=30)
CELL = st.lists(WORD, max_size=4).map(lambda words: Cell(" ".join(words)))


@given(
    st.lists(st.lists(CELL, min_size=3, max_size=3).map(tuple), min_size=1, max_size=3),
    st.integers(20, 80),
)
def test_no_line_is_wider_than_the_pane_and_no_letter_is_lost(
    rows: list[tuple[Cell, ...]], width: int
) -> None:
    lines = lines_of(DetailTable(("what", "some figures", "others"), tuple(rows)), width)
    assert all(cell_len(line) <= width for line in lines)
    letters, drawn_letters = (
        sorted("".join(cell.text for row in rows for cell in row).replace(" ", "")),
        sorted("".join(lines[3:]).replace(" ", "")),
    )
    assert not [sign for sign in set(letters) if letters.count(sign) > drawn_letters.count(sign)]
