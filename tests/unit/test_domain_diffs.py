from __future__ import annotations

from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gwtui.domain.diffs import ABSENT, FieldChange, changed_fields, same, three_way

RECORDS = st.dictionaries(
    st.sampled_from("abcde"), st.none() | st.booleans() | st.integers(0, 2) | st.text(max_size=1)
)


def test_only_differing_fields_are_listed() -> None:
    before = {"name": "a", "limit": Decimal("5.00"), "gone": 1, "note": None}
    after = {"name": "b", "limit": 5, "note": None, "new": True}
    assert changed_fields(before, after) == (
        FieldChange("name", "a", "b"),
        FieldChange("new", ABSENT, True),
        FieldChange("gone", 1, ABSENT),
    )


@pytest.mark.parametrize(
    ("left", "right", "equal"),
    [
        (1, 1.0, True),
        (Decimal("0.1"), 0.1, True),
        (Decimal("1.50"), "1.50", False),
        (True, 1, False),
        (False, 0, False),
        (None, ABSENT, False),
        (None, 0, False),
        ([1, True], (1.0, True), True),
        ([1, True], [1, 1], False),
        ({"a": 0.1}, {"a": Decimal("0.1")}, True),
        ({"a": 1}, {"b": 1}, False),
        ([1], [1, 2], False),
    ],
)
def test_values_that_mean_the_same_on_the_wire(left: Any, right: Any, equal: bool) -> None:
    assert same(left, right) is equal
    assert same(right, left) is equal


def test_different_changes_to_a_field_conflict() -> None:
    original = {"name": "a", "limit": 10, "reset": "daily", "disabled": False}
    mine = {"name": "b", "limit": 20, "reset": "weekly", "disabled": False}
    theirs = {"name": "c", "limit": 20, "reset": "daily", "disabled": True}
    result = three_way(original, mine, theirs)
    assert [field.field for field in result.fields] == ["name", "limit", "reset", "disabled"]
    assert [field.field for field in result.conflicts] == ["name"]
    assert [field.field for field in result.changed_elsewhere] == ["name", "limit", "disabled"]
    assert result.to_send == {"name": "b", "reset": "weekly"}


def test_a_form_that_lacks_a_field_did_not_edit_it() -> None:
    result = three_way({"a": 1, "b": 2}, {"a": 5}, {"a": 1, "b": 3})
    assert result.to_send == {"a": 5}
    assert [field.field for field in result.changed_elsewhere] == ["b"]
    assert result.conflicts == ()


@given(RECORDS)
def test_a_record_does_not_differ_from_itself(record: dict[str, Any]) -> None:
    assert changed_fields(record, dict(record)) == ()
    assert three_way(record, record, record).fields == ()


@given(RECORDS, RECORDS)
def test_changes_lead_from_before_to_after(before: dict[str, Any], after: dict[str, Any]) -> None:
    created = dict(before)
    for change in changed_fields(before, after):
        assert not same(change.before, change.after)
        if change.after is ABSENT:
            del created[change.field]
        else:
            created[change.field] = change.after
    assert changed_fields(created, after) == ()


@given(RECORDS, RECORDS, RECORDS)
def test_the_remaining_edits_apply_all_of_mine(
    original: dict[str, Any], mine: dict[str, Any], theirs: dict[str, Any]
) -> None:
    actual = three_way(original, mine, theirs)
    result = {**theirs, **actual.to_send}
    for field in actual.fields:
        if field.changed_here:
            assert same(result.get(field.field, ABSENT), field.mine)
        else:
            assert same(result.get(field.field, ABSENT), field.theirs)
    assert all(field in actual.changed_elsewhere for field in actual.conflicts)
