"""A refusal lands on the field that it names, and nothing typed is lost."""

from __future__ import annotations

import pytest

from gwtui.client import errors
from gwtui.contract.request import Problem
from gwtui.ui.forms.form_state import FormState
from key_form_kit import creating, editing, replace_none


def refused(message: str) -> FormState:
    state = creating(name="ci", limit="5", expires_at="2027-01-01")
    assert state.attempt()
    state.refuse(errors.BadRequestError(message, status=400, request_id="req-1"))
    return state


def test_a_refusal_lands_on_the_field_it_names_and_loses_nothing() -> None:
    state = refused("limit: must be at most 3; name: is taken; by you")
    assert (state.problem("limit") or replace_none()).text == "must be at most 3"
    assert (state.problem("name") or replace_none()).text == "is taken; by you"
    assert (state.problem("name") or replace_none()).tone == "bad"
    assert state.refusal == ""
    assert state.typed("limit") == "5"
    assert state.typed("expires_at") == "2027-01-01"
    assert state.first_problem == "name"


def test_a_refused_field_is_forgiven_once_it_changes() -> None:
    state = refused("limit: must be at most 3")
    state.put("limit", "2")
    assert state.problem("limit") is None
    assert state.attempt()


def test_the_same_text_may_be_sent_again() -> None:
    state = refused("limit: must be at most 3")
    assert state.attempt()
    assert state.request() is not None


@pytest.mark.parametrize(
    "message", ["Invalid request parameters", "https: //x", "colour: unknown", "a: b: c"]
)
def test_other_refusals_stand_on_the_form(message: str) -> None:
    state = refused(message)
    assert state.refusal == f"{message} (request req-1)"
    assert all(state.problem(name) is None for name in state.fields)


def test_a_field_that_the_form_does_not_show_stands_on_the_form() -> None:
    state = editing()
    state.put("name", "x")
    state.refuse(errors.BadRequestError("disabled: must be true", status=400))
    assert state.refusal == "disabled: must be true"


def test_local_refusals_land_on_their_fields_too() -> None:
    state = creating(name="ci")
    state.refuse(errors.InvalidRequestError([Problem("name", "is odd"), Problem("", "no")]))
    assert (state.problem("name") or replace_none()).text == "is odd"
    assert state.refusal == "no"


def test_other_errors_stand_on_the_form_even_if_they_look_like_a_field() -> None:
    state = creating(name="ci")
    state.refuse(errors.ForbiddenError("name: not for you", status=403))
    assert state.refusal == "name: not for you"
    assert state.problem("name") is None


def test_without_a_connection_it_is_said_that_nothing_was_sent() -> None:
    state = creating(name="ci")
    state.refuse(errors.ConnectFailedError("no connection to localhost: refused"))
    assert state.refusal == "no connection to localhost: refused. Nothing was sent."


def test_hostile_refusals_are_made_harmless() -> None:
    state = refused("limit: \x1b[31mred\x07")
    assert "\x1b" not in (state.problem("limit") or replace_none()).text
