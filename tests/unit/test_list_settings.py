"""Columns that a person chose: shown in their order, as wide as was said, no other on any page."""

from __future__ import annotations

import pytest

from gwtui.resources.keys.resource import KEYS
from gwtui.ui.screens.list_settings import chosen_columns
from gwtui.ui.widgets.table.layout import AS_DECLARED, ColumnChoice, arrange

IDS = [column.id for column in KEYS.columns]


def names(width: int, choice: ColumnChoice, page: int = 0) -> list[str]:
    return [IDS[slot.index] for slot in arrange(KEYS.columns, width, page, choice).slots]


def test_chosen_columns_stand_in_their_order() -> None:
    choice = chosen_columns(KEYS, ("name", "limit", "state"), {"limit": 20})
    layout = arrange(KEYS.columns, 100, 0, choice)
    assert names(100, choice) == ["name", "limit", "state"]
    assert layout.slots[1].width == 20
    assert (layout.pages, layout.hidden, layout.marker) == (1, (), "")


def test_what_finds_no_room_is_on_further_pages() -> None:
    choice = chosen_columns(KEYS, ("used", "name", "limit", "state", "today"), {"name": 40})
    pages = arrange(KEYS.columns, 60, 0, choice).pages
    shown = [names(60, choice, page) for page in range(pages)]
    assert pages > 1
    assert {page[0] for page in shown} == {"used"}
    assert [one for page in shown for one in page[1:]] == ["name", "limit", "state", "today"]


def test_a_width_alone_changes_no_choice_of_columns() -> None:
    assert names(80, ColumnChoice(widths={0: 16})) == names(80, AS_DECLARED)
    wide = arrange(KEYS.columns, 200, 0, ColumnChoice(widths={0: 30}))
    assert wide.slots[0].width == 30


def test_a_single_column_wider_than_the_list_is_cut_to_it() -> None:
    layout = arrange(KEYS.columns, 40, 0, chosen_columns(KEYS, ("name",), {"name": 200}))
    assert (len(layout.slots), layout.slots[0].width <= 38) == (1, True)


def test_names_that_are_no_columns_are_left_out() -> None:
    assert chosen_columns(KEYS, ("gone",), {"gone": 9}) == AS_DECLARED


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
