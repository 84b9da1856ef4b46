"""Picks, three-valued switches and secrets of forms: from what is chosen to the request."""

from __future__ import annotations

from typing import Any

import pytest
from pydantic import SecretStr

from form_values_kit import FACTS, body, guardrail, problem
from gwtui.contract.byok import CreateByokRequest, UpdateByokRequest
from gwtui.crud.fields import Field
from gwtui.crud.form import FormSpec
from gwtui.domain.diffs import ABSENT
from gwtui.ui.forms.form_state import UNSAID, FormState

SECRET = "sk-provider-0123456789"


# Picks and switches ----------------------------------------------------------------------------


def test_no_restriction_is_not_the_empty_list() -> None:
    state = guardrail({"name": "g", "allowed_models": ["a/b"]})
    state.put("allowed_models", None)
    assert body(state) == {"allowed_models": None}
    state.put("allowed_models", ())
    assert not state.attempt()
    assert problem(state, "allowed_models") == "must have at least 1 entry"
    state.put("allowed_models", ("a/b", "gone/model"))
    assert body(state) == {"allowed_models": ["a/b", "gone/model"]}


def test_picks_that_nobody_told_stay_as_they_are_until_something_is_picked() -> None:
    state = guardrail({"name": "g"})
    assert state.typed("allowed_models") == UNSAID
    assert state.value("allowed_models") is ABSENT
    state.put("name", "h")
    assert body(state) == {"name": "h"}
    state.put("allowed_models", None)
    assert body(state) == {"name": "h", "allowed_models": None}


def test_picks_are_counted_against_the_rule() -> None:
    fields = (
        Field("allowed_models", "Models", kind="pick", empty="no restriction"),
        Field("allowed_user_ids", "U", kind="pick", empty="no restriction"),
    )
    state = FormState(FormSpec("c", CreateByokRequest, fields, "Store"), FACTS)
    assert state.counter("allowed_models").text == ""
    state.put("allowed_models", tuple(f"m{number}" for number in range(3)))
    counter = state.counter("allowed_models")
    assert (counter.text, counter.tone) == ("3/100", "muted")
    state.put("allowed_models", tuple(f"m{number}" for number in range(101)))
    counter = state.counter("allowed_models")
    assert (counter.text, counter.tone) == ("101/100", "bad")
    assert problem(state, "allowed_models") == "must have at most 100 entries"


@pytest.mark.parametrize("choice", [None, True, False])
def test_a_switch_with_three_values(choice: bool | None) -> None:
    other = False if choice is None else None
    state = guardrail({"name": "g", "enforce_zdr_vendor_a": other})
    state.put("enforce_zdr_vendor_a", choice)
    assert body(state) == {"enforce_zdr_vendor_a": choice}


def test_an_untouched_switch_of_a_new_resource_is_not_sent() -> None:
    state = guardrail()
    state.put("name", "g")
    assert body(state) == {"name": "g"}
    state.put("enforce_zdr_vendor_a", False)
    assert body(state) == {"name": "g", "enforce_zdr_vendor_a": False}


# Secrets ---------------------------------------------------------------------------------------


def credential(model: Any, **more: Any) -> FormState:
    fields = (Field("provider", "Provider", kind="text"), Field("key", "Key", kind="secret"))
    if model is UpdateByokRequest:
        fields = (Field("name", "Name", kind="text"), Field("key", "Key", kind="secret"))  # type: ignore[assignment]
    return FormState(FormSpec("c", model, fields, "Store", **more), FACTS)


def test_a_secret_is_sent_in_clear_and_shown_nowhere() -> None:
    state = credential(CreateByokRequest)
    state.put("provider", "vendor")
    state.put("key", SecretStr(f" {SECRET}\n"))
    request = state.request()
    assert request is not None
    assert request.wire_body() == {"provider": "vendor", "key": SECRET}
    said = repr((request, request.body(), state.payload(), state.values(), vars(state)))
    assert SECRET not in said


def test_a_secret_is_required_where_the_model_says_so() -> None:
    state = credential(CreateByokRequest)
    state.put("provider", "vendor")
    state.put("key", SecretStr("x"))
    state.put("key", SecretStr("  "))
    assert not state.attempt()
    assert problem(state, "key") == "is required"


def test_no_new_secret_leaves_the_old_one() -> None:
    state = credential(UpdateByokRequest, initial={"name": "a"}, partial=True)
    state.put("name", "b")
    assert body(state) == {"name": "b"}
    assert not state.is_unknown("key")
    state.put("key", SecretStr(SECRET))
    request = state.request()
    assert request is not None
    assert request.wire_body() == {"name": "b", "key": SECRET}
    assert state.changed
