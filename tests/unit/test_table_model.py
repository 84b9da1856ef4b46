"""Cursor, marks and order follow identities through all changes of the rows."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gwtui.crud.resource import Cell, Column
from gwtui.domain.cell_values import ordered
from gwtui.ui.widgets.table.model import FEW, TableModel, nearest
from table_kit import COLUMNS, MOMENT, ManualClock, SampleRow, sample_rows


def model(
    items: list[SampleRow] | None = None, clock: ManualClock | None = None
) -> TableModel[SampleRow]:
    table_model: TableModel[SampleRow] = TableModel(
        COLUMNS, lambda t: t.id, clock or ManualClock(), {"digit": lambda t, _now: t.name[-1]}
    )
    if items is not None:
        table_model.show(items)
    return table_model


def test_the_first_row_is_selected_once_there_is_one() -> None:
    table = model([])
    assert table.selected is None
    assert table.cursor is None
    assert table.show(sample_rows(3)) is None
    assert table.selected_identity == "id-000"


def test_a_deleted_row_leaves_the_cursor_to_its_lower_neighbour_and_says_so() -> None:
    table = model(sample_rows(5))
    table.select("id-002")
    lost = table.show([t for t in sample_rows(5) if t.id != "id-002"])
    assert (lost.identity, lost.reason, lost.neighbour) == ("id-002", "deleted", "id-003")
    assert table.selected_identity == "id-003"


def test_a_filtered_row_is_told_from_a_deleted_one() -> None:
    table = model(sample_rows(30))
    table.select("id-005")
    lost = table.filter_by("row-01")
    assert (lost.reason, lost.neighbour) == ("filtered", "id-010")


def test_a_row_that_comes_back_to_an_empty_table_is_selected_again() -> None:
    table = model(sample_rows(30))
    table.select("id-025")
    lost = table.filter_by("nothing like this")
    assert lost.neighbour is None
    assert table.selected is None
    assert table.filter_by("") is None
    assert table.selected_identity == "id-025"


def test_repeated_identities_are_kept_apart() -> None:
    table = model(
        [
            SampleRow("a", "one"),
            SampleRow("a", "two"),
            SampleRow("a#2", "three"),
            SampleRow("a", "four"),
        ]
    )
    assert list(table.order) == ["a", "a#2", "a#2#2", "a#3"]
    table.select("a#2")
    assert table.selected == SampleRow("a", "two")


def test_ten_thousand_repeats_are_not_quadratic() -> None:
    table = model([SampleRow("same", str(n)) for n in range(10_000)])
    assert len(set(table.order)) == 10_000


def test_equal_items_keep_the_object_they_had() -> None:
    table = model(sample_rows(3))
    first = table.selected
    table.show(sample_rows(3))
    assert table.selected is first


def test_marks_outlive_the_filter_but_not_the_row() -> None:
    table = model(sample_rows(10))
    table.toggle_mark("id-003")
    table.toggle_mark("id-007")
    table.filter_by("row-003")
    assert table.marked == ("id-003", "id-007")
    table.show(sample_rows(5))
    assert table.marked == ("id-003",)
    table.toggle_mark("id-003")
    assert table.marked == ()


def test_an_error_keeps_the_rows_of_the_last_valid_filter() -> None:
    table = model(sample_rows(30))
    table.filter_by("used>ab")
    assert table.filter_error
    assert "used>ab: expected a number" in table.filter_error
    assert table.filter_error.endswith("· all rows are shown")
    assert len(table.order) == 30
    for typed in ("used>20", "used>20x"):
        table.filter_by(typed)
    assert table.filter_error
    assert table.filter_error.endswith("· rows match “used>20”")
    assert 0 < len(table.order) < 30


def test_the_filter_knows_columns_facets_and_hidden_text() -> None:
    table = model([*sample_rows(10), SampleRow("x", "Other", None, "expired")])
    for text, count in (
        ("used>50", 4),
        ("state:expired", 1),
        ("used:none", 1),
        ("digit:3", 1),
        ("OTHER", 1),
        ("id-00 -row-001", 9),
    ):
        table.filter_by(text)
        assert len(table.order) == count, text


def test_words_do_not_match_across_cells() -> None:
    table = model([SampleRow("id", "ends in act", 1, "ive")])
    table.filter_by("active")
    assert len(table.order) == 0


def test_a_changed_item_is_searched_anew() -> None:
    table = model(sample_rows(3))
    table.filter_by("renamed")
    assert len(table.order) == 0
    changed = sample_rows(3)
    changed[1] = replace(changed[1], name="renamed")
    table.show(changed)
    assert list(table.order) == ["id-001"]


def read_texts(table: TableModel[SampleRow]) -> int:
    """Read the pending texts, as the table does; return the number of parts."""
    return sum(1 for _ in table.read_texts())


def test_text_that_depends_on_the_time_is_read_anew_after_a_while() -> None:
    clock = ManualClock()
    table = model(sample_rows(3), clock)
    table.filter_by('"7 min"')
    assert len(table.order) == 0
    clock.pass_seconds(7 * 60)
    assert read_texts(table) == 1
    table.refilter()
    assert len(table.order) == 3
    assert read_texts(table) == 0, "all texts are read"


def test_texts_of_many_rows_are_read_in_parts() -> None:
    table = model(sample_rows(FEW + 1))
    table.filter_by("row-00")
    assert table.provisional
    assert len(table.order) == 0
    assert read_texts(table) > 1
    table.refilter()
    assert not table.provisional
    assert len(table.order) == 10


def test_nothing_is_missing_once_the_filter_is_cleared() -> None:
    table = model(sample_rows(FEW + 1))
    table.filter_by("row-00")
    table.filter_by("")
    assert (table.provisional, len(table.order)) == (False, FEW + 1)


def test_a_slow_pattern_is_said_once_the_texts_that_it_searches_are_read() -> None:
    rows = [replace(row, name="a" * 100 + "!") for row in sample_rows(FEW + 1)]
    table = model(rows)
    table.filter_by("~(a|aa)+$")
    assert table.provisional
    assert table.filter_error is None
    read_texts(table)
    table.refilter()
    assert table.filter_error == "(a|aa)+$: takes too long: simplify the pattern"


def test_the_previous_texts_count_until_new_ones_are_read() -> None:
    table = model(sample_rows(FEW + 1))
    read_texts(table)
    table.filter_by("row-00")
    table.select("id-005")
    assert table.show([replace(row, used=-1) for row in sample_rows(FEW + 1)]) is None
    assert table.provisional
    assert len(table.order) == 10
    assert table.selected_identity == "id-005"


def test_an_unknown_column_is_refused() -> None:
    with pytest.raises(KeyError):
        model().sort_by("no-such", False)


def test_the_longest_texts_are_known_where_columns_follow_them() -> None:
    def column(name: str, most: int) -> Column[str]:
        return Column(
            name, name, lambda item, _now: Cell(item), lambda item, _now: item, 5, most=most
        )

    table = TableModel(
        [column("name", 0), column("plain", 0), column("roomy", 30)], str, ManualClock(), {}
    )
    assert table.longest == {}
    table.show(["a", "東京のチーム", "b" * 9])
    assert table.longest == {0: 12, 2: 12}
    table.show(["c"])
    assert table.longest == {0: 12, 2: 12}, "columns keep their place"
    table.show(["d" * 99])
    assert table.longest == {0: 40, 2: 40}


MIXED: list[Any] = [
    None,
    "b",
    "A",
    3,
    Decimal("2.5"),
    True,
    float("nan"),
    Decimal("NaN"),
    Decimal("sNaN"),
    MOMENT,
    MOMENT.replace(tzinfo=None) - timedelta(days=1),
    datetime.now(UTC),
    "",
]


@given(st.lists(st.sampled_from(MIXED), max_size=20), st.booleans())
def test_any_values_can_be_ordered_and_unknown_comes_last(
    values: list[Any], descending: bool
) -> None:
    rows = {str(n): value for n, value in enumerate(values)}
    order = ordered(rows.items(), lambda value: value, descending=descending)
    assert sorted(order, key=int) == list(rows)
    unknown = [
        rows[i] is None or (not isinstance(rows[i], str | datetime) and _nan(rows[i]))
        for i in order
    ]
    assert unknown == sorted(unknown)


def _nan(value: Any) -> bool:
    return value.is_nan() if isinstance(value, Decimal) else value != value  # noqa: PLR0124


def test_text_is_ordered_without_regard_to_case_and_equals_keep_their_place() -> None:
    rows = {"1": "b", "2": "A", "3": "B", "4": "a"}
    assert ordered(rows.items(), lambda v: v, descending=False) == ["2", "4", "1", "3"]
    assert ordered(rows.items(), lambda v: v, descending=True) == ["1", "3", "2", "4"]


def test_the_nearest_neighbour_is_below_before_above() -> None:
    before = ["a", "b", "c", "d", "e"]
    assert nearest(before, 2, {"b": 0, "d": 1}) == "d"
    assert nearest(before, 2, {"b": 0, "e": 1}) == "b"
    assert nearest(before, 2, {}) is None


STEP = st.one_of(
    st.tuples(st.just("show"), st.lists(st.integers(0, 30), max_size=40)),
    st.tuples(st.just("sort"), st.tuples(st.sampled_from([c.id for c in COLUMNS]), st.booleans())),
    st.tuples(
        st.just("filter"), st.sampled_from(["", "row-01", "used>40", "-row-002", "zzz", '"'])
    ),
    st.tuples(st.just("move"), st.integers(0, 40)),
    st.tuples(st.just("mark"), st.integers(0, 30)),
)


@given(st.lists(STEP, max_size=30))
def test_the_cursor_never_leaves_a_visible_row_by_itself(steps: list[tuple[str, Any]]) -> None:
    table = model(sample_rows(20))
    for name, argument in steps:
        before = table.selected_identity
        lost = None
        if name == "show":
            lost = table.show([sample_rows(1, n)[0] for n in argument])
        elif name == "sort":
            table.sort_by(*argument)
        elif name == "filter":
            lost = table.filter_by(argument)
        elif name == "move":
            table.move_to(argument)
            before = None
        elif f"id-{argument:03}" in table.order:
            table.toggle_mark(f"id-{argument:03}")
        check(table)
        if before is None:
            continue
        if before in table.order:
            assert table.selected_identity == before
            assert lost is None
        else:
            assert lost.identity == before
            assert lost.neighbour == table.selected_identity


def check(table: TableModel[SampleRow]) -> None:
    """Check the invariants, which hold after every step."""
    assert len(set(table.order)) == len(table.order)
    assert (table.cursor is None) == (not table.order)
    if table.cursor is not None:
        assert table.order[table.cursor] == table.selected_identity
        assert table.selected is not None
    assert set(table.marked) == table.marks
