"""A form on what exists sends what changed, and no more."""

from __future__ import annotations

import pytest

from gwtui.contract.keys import UpdateKeyRequest
from gwtui.resources.keys.writes import WRITES
from gwtui.ui.forms.form_state import NOTHING_CHANGED
from key_form_kit import NOW, api_key, body, editing, replace_none
from plan_kit import form_context


def test_an_update_carries_only_what_changed() -> None:
    state = editing()
    state.put("name", "ci 2")
    assert body(state) == {"name": "ci 2"}


def test_clearing_sends_null() -> None:
    state = editing()
    state.put("limit", "")
    state.put("limit_reset", "")
    assert body(state) == {"limit": None, "limit_reset": None}


@pytest.mark.parametrize(
    ("field", "typed"), [("limit", "100.00"), ("limit", "$100"), ("name", " ci ")]
)
def test_another_way_of_writing_the_same_is_no_change(field: str, typed: str) -> None:
    state = editing()
    state.put(field, typed)
    assert not state.attempt()
    assert state.request() is None
    assert state.refusal == NOTHING_CHANGED


def test_typing_back_and_forth_is_no_change() -> None:
    state = editing()
    state.put("name", "other")
    assert state.changed
    state.put("name", "ci")
    assert not state.changed


def test_a_name_with_blanks_around_is_not_changed_by_opening_it() -> None:
    state = editing(api_key(name=" ci "))
    state.put("limit", "5")
    assert body(state) == {"limit": 5}


def test_an_unknown_field_stays_as_it_is_unless_typed() -> None:
    key = api_key(limit=..., limit_reset=5, name=None)
    state = editing(key)
    assert (state.note("limit") or replace_none()).text.startswith("unknown")
    state.put("include_byok_in_limit", True)
    assert body(state) == {"include_byok_in_limit": True}
    state.put("limit", "7")
    assert body(state) == {"include_byok_in_limit": True, "limit": 7}


def test_a_reset_schedule_that_this_program_does_not_know_is_kept() -> None:
    state = editing(api_key(limit_reset="hourly"))
    state.put("name", "x")
    assert body(state) == {"name": "x"}


def test_an_update_cannot_empty_the_name() -> None:
    state = editing()
    state.put("name", " ")
    assert not state.attempt()
    assert "at least 1 character" in (state.problem("name") or replace_none()).text


def test_expiry_is_shown_but_not_editable() -> None:
    spec = WRITES.edit_form(api_key(), form_context(NOW))
    (expiry,) = [field for field in spec.every_field() if field.name == "expires_at"]
    assert expiry.fixed is not None
    assert expiry.fixed[0] == "2026-12-31 00:00 UTC, in 40 days"
    assert "expires_at" not in editing().fields
    assert "expires_at" not in UpdateKeyRequest.model_fields
