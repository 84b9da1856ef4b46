"""Columns that a person chose: shown in their order, no other on any page."""

from __future__ import annotations

import pytest

from gwtui.resources.keys.resource import KEYS
from gwtui.ui.widgets.table.layout import arrange

IDS = [column.id for column in KEYS.columns]


def names(width: int, *chosen: str, page: int = 0) -> list[str]:
    choice = [IDS.index(one) for one in chosen]
    return [IDS[slot.index] for slot in arrange(KEYS.columns, width, page, choice).slots]


def test_chosen_columns_stand_in_their_order() -> None:
    layout = arrange(KEYS.columns, 100, 0, [IDS.index(one) for one in ("name", "limit", "state")])
    assert names(100, "name", "limit", "state") == ["name", "limit", "state"]
    assert (layout.pages, layout.hidden, layout.marker) == (1, (), "")


def test_what_finds_no_room_is_on_further_pages() -> None:
    chosen = ("used", "name", "limit", "state", "today")
    pages = arrange(KEYS.columns, 40, 0, [IDS.index(one) for one in chosen]).pages
    shown = [names(40, *chosen, page=page) for page in range(pages)]
    assert pages > 1
    assert {page[0] for page in shown} == {"used"}
    assert [one for page in shown for one in page[1:]] == ["name", "limit", "state", "today"]


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
