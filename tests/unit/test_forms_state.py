"""What a form knows: every rule of the model right and wrong, counters and previews."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from decimal import Decimal

import pydantic
import pytest
from pydantic import SecretStr

from gwtui.contract.keys import CreateKeyRequest, ExternalUserRequest, UpdateKeyRequest
from gwtui.contract.request import RequestModel
from gwtui.contract.scalars import Usd
from gwtui.crud.fields import Facts, Field
from gwtui.crud.form import FormSpec
from gwtui.domain.diffs import ABSENT
from gwtui.resources.keys.writes import WRITES
from gwtui.ui.forms.form_state import FormState
from key_form_kit import FACTS, NOW, SPACE, TOKYO, api_key, body, creating, replace_none
from plan_kit import form_context, key_plans


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
        ("expires_at", "some day", "expected a moment", "2027-01-01"),
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

    name: str = pydantic.Field(min_length=2, max_length=10)
    note: str | None = pydantic.Field(None, max_length=20)
    amount: Usd | None = None


def test_counters_come_from_the_limits_of_the_model() -> None:
    fields = (
        Field("name", "Name", kind="text"),
        Field("note", "Note", kind="text"),
        Field("amount", "Amount", kind="usd"),
    )
    state = FormState(FormSpec("t", Short, fields, "s"), FACTS)
    counts = []
    for text in ("a", "abc", "abcdefghi", "abcdefghijk"):
        state.put("name", text)
        counter = state.counter("name")
        counts.append((counter.text, counter.tone))
    assert counts == [("1/10", "muted"), ("3/10", "muted"), ("9/10", "warn"), ("11/10", "bad")]
    assert state.counter("amount").text == ""


def test_previews() -> None:
    state = creating(name="ci", limit="50", limit_reset="monthly", expires_at="in 30 days")
    notes = {name: note.text for name in state.fields if (note := state.note(name))}
    assert notes["limit"] == "$50.00 each UTC month"
    assert notes["limit_reset"] == "next reset Tuesday 2026-12-01 00:00 UTC, in 10 days"
    assert notes["expires_at"].startswith("in 30 days · 2026-12-21 07:00 UTC · here Mon 2026-12-21")
    state.put("limit", "")
    assert "any amount" in (state.note("limit") or replace_none()).text
    assert (
        "only applies with a spending limit" in (state.note("limit_reset") or replace_none()).text
    )
    state.put("expires_at", "2020-01-01")
    past = state.note("expires_at")
    assert past is not None
    assert past.tone == "warn"
    assert "already past" in past.text


def test_a_preview_shows_the_local_clock() -> None:
    from zoneinfo import ZoneInfo  # noqa: PLC0415

    facts = replace(FACTS, zone=ZoneInfo(TOKYO))
    state = FormState(WRITES.create_form(form_context()), facts)
    state.put("expires_at", "2026-12-31 18:00")
    note = state.note("expires_at")
    assert note is not None
    assert "2026-12-31 18:00 UTC" in note.text
    assert "Fri 2027-01-01 03:00 JST" in note.text


def test_the_workspace_that_the_list_is_narrowed_to_is_sent() -> None:
    state = FormState(WRITES.create_form(form_context(workspace=SPACE)), FACTS)
    assert not state.changed
    state.put("name", "ci")
    assert body(state)["workspace_id"] == SPACE


def test_an_outside_user_is_given_by_an_identifier_and_perhaps_a_key() -> None:
    request = creating(name="ci", **{"external.user": " customer-7 "}).request()
    assert request is not None
    assert request.body()["external"] == {"user": "customer-7"}
    untouched = creating(name="ci").request()
    assert untouched is not None
    assert "external" not in untouched.body()
    emptied = creating(name="ci", **{"external.user": "x"})
    emptied.put("external.user", " ")
    assert emptied.attempt()
    assert emptied.problem("external.user") is None
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
    plan = key_plans.plan_create(request, NOW)
    told = {change.field: change.after for change in plan.changes}
    assert told["Outside user"] == "customer-7, with a key of their own (kept as a hash)"
    assert secret not in f"{plan!r} {plan.summary} {request!r} {state.values()}"
    state.forget_secrets()
    assert state.value("external.api_key") is ABSENT


def test_every_field_of_the_requests_can_be_filled_in() -> None:
    named = [field.name for field in WRITES.create_form(form_context()).every_field()]
    assert {name.partition(".")[0] for name in named} == set(CreateKeyRequest.model_fields)
    parts = {name for name in named if "." in name}
    assert parts == {f"external.{name}" for name in ExternalUserRequest.model_fields}
    editable = {
        field.name
        for field in WRITES.edit_form(api_key(), form_context(NOW)).every_field()
        if field.fixed is None
    }
    assert editable == set(UpdateKeyRequest.model_fields) - {"disabled"}


def test_a_relative_moment_follows_the_clock() -> None:
    moments = [NOW, NOW + timedelta(hours=1)]
    facts = Facts(now=lambda: moments[0])
    state = FormState(WRITES.create_form(form_context()), facts)
    state.put("name", "ci")
    state.put("expires_at", "in 30 days")
    moments.pop(0)
    assert body(state)["expires_at"] == "2026-12-21T08:00:00Z"


def test_amounts_stay_exact() -> None:
    state = creating(name="ci", limit="0.1")
    assert state.value("limit") == Decimal("0.1")
