"""What a form knows: every rule of the model right and wrong, and that a refusal loses nothing."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import Any

import pytest
from pydantic import Field, SecretStr

from gwtui.actions.key_plans import plan_create
from gwtui.client import errors
from gwtui.contract.keys import (
    ApiKey,
    CreateKeyRequest,
    ExternalUserRequest,
    UpdateKeyRequest,
)
from gwtui.contract.request import Problem, RequestModel
from gwtui.contract.scalars import Usd
from gwtui.domain.diffs import ABSENT
from gwtui.ui.forms.fields import Facts, FormField, FormSpec
from gwtui.ui.forms.key_form import create_form, edit_form
from gwtui.ui.forms.state import NOTHING_CHANGED, FormState

NOW = datetime(2026, 11, 21, 7, 0, tzinfo=UTC)
TOKYO = "Asia/Tokyo"
SPACE = "0b9f6f0e-3a0a-4a57-9f0e-5f1c2f6a7d10"
FACTS = Facts(now=lambda: NOW, zone=UTC, workspaces={SPACE: "Research"})


def creating(**typed: Any) -> FormState:
    state = FormState(create_form(None), FACTS)
    for name, text in typed.items():
        state.put(name, text)
    return state


def api_key(**changes: Any) -> ApiKey:
    given = {
        "hash": "h" * 64,
        "name": "ci",
        "label": "gw-v1-abc...123",
        "disabled": False,
        "limit": 100,
        "limit_remaining": 60,
        "limit_reset": "monthly",
        "include_byok_in_limit": False,
        "workspace_id": SPACE,
        "expires_at": "2026-12-31T00:00:00Z",
        **changes,
    }
    return ApiKey.model_validate({k: v for k, v in given.items() if v is not ...})


def editing(key: ApiKey | None = None) -> FormState:
    return FormState(edit_form(key or api_key(), NOW), FACTS)


def body(state: FormState) -> dict[str, Any]:
    assert state.attempt(), [state.problem(name) for name in state.fields]
    request = state.request()
    assert request is not None
    return request.body()


def test_only_what_was_given_is_sent() -> None:
    assert body(creating(name=" ci ")) == {"name": "ci", "include_byok_in_limit": False}


def test_everything_given_is_sent() -> None:
    state = creating(
        name="ci",
        limit="$1,000.50",
        limit_reset="monthly",
        include_byok_in_limit=True,
        expires_at="in 30 days",
        workspace_id=SPACE,
        creator_user_id="user_1",
    )
    assert body(state) == {
        "name": "ci",
        "limit": 1000.5,
        "limit_reset": "monthly",
        "include_byok_in_limit": True,
        "expires_at": "2026-12-21T07:00:00Z",
        "workspace_id": SPACE,
        "creator_user_id": "user_1",
    }


@pytest.mark.parametrize(
    ("field", "wrong", "message", "right"),
    [
        ("name", "", "at least 1 character", "x"),
        ("limit", "-1", "must not be negative", "0"),
        ("limit", "abc", "expected an amount", "5"),
        ("limit", "1,5", "commas only for thousands", "1.5"),
        ("limit", "1000000000001", "must be at most", "1000000000000"),
        ("expires_at", "next year", "expected a moment", "2027-01-01"),
        ("expires_at", "2026-13-01", "no such date", "2026-12-01"),
        ("workspace_id", "nowhere", "must be a UUID", SPACE),
    ],
)
def test_each_rule_wrong_and_right(field: str, wrong: str, message: str, right: str) -> None:
    state = creating(name="ci")
    state.put(field, "something else")
    state.put(field, wrong)
    assert not state.attempt()
    assert state.request() is None
    problem = state.problem(field)
    assert problem is not None
    assert message in problem.text
    assert state.first_problem == field
    state.put(field, right)
    assert state.problem(field) is None
    assert state.attempt()


def test_nothing_is_said_before_a_field_was_touched() -> None:
    state = creating()
    assert all(state.problem(name) is None for name in state.fields)
    state.put("name", "x")
    state.put("name", "")
    hint = state.problem("name")
    assert hint is not None
    assert hint.tone == "warn", "a hint while typing"
    state.leave("name")
    plain = state.problem("name")
    assert plain is not None
    assert plain.tone == "bad"


def test_an_attempt_says_everything_that_is_wrong() -> None:
    state = creating(limit="abc")
    assert not state.attempt()
    assert {name for name in state.fields if state.problem(name)} == {"name", "limit"}


class Short(RequestModel):
    """A body with an upper limit."""

    name: str = Field(min_length=2, max_length=10)
    note: str | None = Field(None, max_length=20)
    amount: Usd | None = None


def test_counters_come_from_the_limits_of_the_model() -> None:
    fields = (
        FormField("name", "Name", "text"),
        FormField("note", "Note", "text"),
        FormField("amount", "Amount", "usd"),
    )
    state = FormState(FormSpec("t", Short, fields, "s"), FACTS)
    counts = []
    for text in ("a", "abc", "abcdefghi", "abcdefghijk"):
        state.put("name", text)
        counter = state.counter("name")
        assert counter is not None
        counts.append((counter.text, counter.tone))
    assert counts == [("1/10", "muted"), ("3/10", "muted"), ("9/10", "warn"), ("11/10", "bad")]
    assert state.counter("amount") is None
    least = creating().counter("name")
    assert least is not None
    assert least.text == "0, min 1"


def test_previews() -> None:
    state = creating(name="ci", limit="50", limit_reset="monthly", expires_at="in 30 days")
    notes = {name: note.text for name in state.fields if (note := state.note(name))}
    assert notes["limit"] == "$50.00 each UTC month"
    assert notes["limit_reset"] == "next reset Tuesday 2026-12-01 00:00 UTC, in 10 days"
    assert notes["expires_at"].startswith("in 30 days · 2026-12-21 07:00 UTC · here Mon 2026-12-21")
    state.put("limit", "")
    assert "without a bound" in (state.note("limit") or replace_none()).text
    assert "only with a spending limit" in (state.note("limit_reset") or replace_none()).text
    state.put("expires_at", "2020-01-01")
    past = state.note("expires_at")
    assert past is not None
    assert past.tone == "warn"
    assert "already past" in past.text


def replace_none() -> Any:
    raise AssertionError("there is no note")


def test_a_preview_shows_the_local_clock() -> None:
    from zoneinfo import ZoneInfo  # noqa: PLC0415

    facts = replace(FACTS, zone=ZoneInfo(TOKYO))
    state = FormState(create_form(None), facts)
    state.put("expires_at", "2026-12-31 18:00")
    note = state.note("expires_at")
    assert note is not None
    assert "2026-12-31 18:00 UTC" in note.text
    assert "Fri 2027-01-01 03:00 JST" in note.text


def test_the_workspace_that_the_list_is_narrowed_to_is_sent() -> None:
    state = FormState(create_form(SPACE), FACTS)
    assert not state.changed
    state.put("name", "ci")
    assert body(state)["workspace_id"] == SPACE


# Updates ---------------------------------------------------------------------------------------


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
    spec = edit_form(api_key(), NOW)
    (expiry,) = [field for field in spec.fields if field.name == "expires_at"]
    assert expiry.fixed is not None
    assert expiry.fixed[0] == "2026-12-31 00:00 UTC, in 40 days"
    assert "expires_at" not in editing().fields
    assert "expires_at" not in UpdateKeyRequest.model_fields


def test_an_outside_user_is_given_by_an_identifier_and_perhaps_a_key() -> None:
    request = creating(name="ci", **{"external.user": " customer-7 "}).request()
    assert request is not None
    assert request.body()["external"] == {"user": "customer-7"}
    untouched = creating(name="ci").request()
    assert untouched is not None
    assert "external" not in untouched.body()
    emptied = creating(name="ci", **{"external.user": "x"})
    emptied.put("external.user", " ")
    assert (emptied.problem("external.user"), emptied.attempt()) == (None, True)
    assert "external" not in emptied.payload()


def test_the_key_of_an_outside_user_is_checked_while_typed_and_never_told() -> None:
    secret = "their-own-secret-in-that-system-0"
    state = creating(name="ci")
    state.put("external.api_key", SecretStr(secret[:12]))
    problem = state.problem("external.api_key")
    assert problem is not None
    assert (problem.text, problem.tone) == ("must have at least 32 characters", "warn")
    assert state.first_problem == "external.user"  # a key of nobody
    assert not state.attempt()
    assert (state.problem("external.user") or replace_none()).text == "is required"
    state.put("external.api_key", SecretStr(secret))
    state.put("external.user", "customer-7")
    request = state.request()
    assert isinstance(request, CreateKeyRequest)
    assert request.wire_body()["external"] == {"user": "customer-7", "api_key": secret}
    plan = plan_create(request, NOW)
    told = {change.field: change.after for change in plan.changes}
    assert told["Outside user"] == "customer-7, with a key of their own (kept as a hash)"
    assert secret not in f"{plan!r} {plan.summary} {request!r} {state.values()}"
    state.forget_secrets()
    assert state.value("external.api_key") is ABSENT


def test_every_field_of_the_requests_can_be_filled_in() -> None:
    assert {field.name.partition(".")[0] for field in create_form(None).fields} == set(
        CreateKeyRequest.model_fields
    )
    parts = {field.name for field in create_form(None).fields if "." in field.name}
    assert parts == {f"external.{name}" for name in ExternalUserRequest.model_fields}
    editable = {field.name for field in edit_form(api_key(), NOW).fields if field.fixed is None}
    assert editable == set(UpdateKeyRequest.model_fields) - {"disabled"}


# Refusals --------------------------------------------------------------------------------------


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


def test_a_relative_moment_follows_the_clock() -> None:
    moments = [NOW, NOW + timedelta(hours=1)]
    facts = Facts(now=lambda: moments[0])
    state = FormState(create_form(None), facts)
    state.put("name", "ci")
    state.put("expires_at", "in 30 days")
    moments.pop(0)
    assert body(state)["expires_at"] == "2026-12-21T08:00:00Z"


def test_amounts_stay_exact() -> None:
    state = creating(name="ci", limit="0.1")
    assert state.value("limit") == Decimal("0.1")
