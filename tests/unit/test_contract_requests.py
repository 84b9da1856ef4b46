"""Requests are strict, and a refusal names the field in plain words."""

from __future__ import annotations

from datetime import UTC, datetime
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import JsonValue, ValidationError

from gwtui.contract.keys import CreateKeyRequest, UpdateKeyRequest
from gwtui.contract.request import field_rules, problems


def refusal(model: Any, body: Any) -> list[str]:
    with pytest.raises(ValidationError) as caught:
        model.model_validate(body)
    return [str(problem) for problem in problems(caught.value)]


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ({}, "name: is required"),
        ({"name": ""}, "name: must have at least 1 character"),
        ({"name": 3}, "name: must be text"),
        ({"name": None}, "name: must be text"),
        ({"name": "x", "limit": -1}, "limit: must not be negative"),
        ({"name": "x", "limit": "1"}, "limit: must be a number"),
        ({"name": "x", "limit": True}, "limit: must be a number"),
        ({"name": "x", "limit": float("nan")}, "limit: must be a finite number"),
        ({"name": "x", "limit": 10**400}, "limit: must be at most 1000000000000 USD"),
        (
            {"name": "x", "limit_reset": "hourly"},
            "limit_reset: must be one of daily, weekly or monthly",
        ),
        (
            {"name": "x", "expires_at": "2026-01-01T00:00:00+02:00"},
            "expires_at: must be in UTC: end it in Z, other time zones are rejected",
        ),
        (
            {"name": "x", "expires_at": "2026-01-01T10:00Z"},
            "expires_at: must be an ISO 8601 date and time in UTC, with seconds,"
            " such as 2026-12-31T00:00:00Z",
        ),
        ({"name": "x", "creator_user_id": ""}, "creator_user_id: must have at least 1 character"),
        (
            {"name": "x", "include_byok_in_limit": "yes"},
            "include_byok_in_limit: must be true or false",
        ),
        (
            {"name": "x", "workspace_id": "default"},
            "workspace_id: must be a UUID such as 0b9f6f0e-3a0a-4a57-9f0e-5f1c2f6a7d10",
        ),
        ({"name": "x", "colour": 1}, "colour: is not a field of this request"),
    ],
)
def test_create_key_refusals_name_the_field(body: dict[str, Any], message: str) -> None:
    assert refusal(CreateKeyRequest, body) == [message]


def test_every_refusal_is_told_at_once() -> None:
    told = refusal(CreateKeyRequest, {"name": "", "limit": -1, "limit_reset": "x"})
    assert [line.split(":")[0] for line in told] == ["name", "limit", "limit_reset"]


def test_update_without_fields_is_refused() -> None:
    assert refusal(UpdateKeyRequest, {}) == ["No update fields provided"]


def test_body_holds_only_what_was_given_and_null_clears() -> None:
    request = UpdateKeyRequest(limit=None, name="ci")
    assert request.body() == {"limit": None, "name": "ci"}


def test_body_writes_numbers_and_utc_times() -> None:
    request = CreateKeyRequest(
        name="ci", limit=Decimal("12.34"), expires_at=datetime(2026, 12, 31, tzinfo=UTC)
    )
    assert request.body() == {
        "name": "ci",
        "limit": 12.34,
        "expires_at": "2026-12-31T00:00:00Z",
    }


def test_field_rules_come_from_the_model() -> None:
    rules = field_rules(CreateKeyRequest)
    assert rules["name"].required
    assert rules["name"].min_length == 1
    assert rules["limit"].unit == "USD"
    assert rules["limit"].nullable
    assert rules["limit_reset"].choices == ("daily", "weekly", "monthly")
    assert rules["creator_user_id"].min_length == 1


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)


@given(
    st.dictionaries(
        st.sampled_from([*CreateKeyRequest.model_fields, "other"]), json_values, max_size=5
    )
)
def test_any_json_is_accepted_or_refused_with_a_message(body: dict[str, JsonValue]) -> None:
    try:
        request = CreateKeyRequest.model_validate(body)
    except ValidationError as error:
        told = problems(error)
        assert told
        assert all(problem.message for problem in told)
    else:
        assert set(request.body()) == set(body)


def test_a_refusal_never_repeats_what_was_typed() -> None:
    with pytest.raises(ValidationError) as caught:
        CreateKeyRequest.model_validate({"name": ["sentinel-4711"], "limit": "sentinel-4711"})
    assert "sentinel-4711" not in str(caught.value)
    assert "sentinel-4711" not in str(problems(caught.value))


def test_the_key_of_an_external_user_is_a_secret_of_the_whole_request() -> None:
    secret = "SENTINEL-" + "x" * 23
    request = CreateKeyRequest.model_validate(
        {"name": "n", "external": {"user": "customer-7", "api_key": secret}}
    )
    assert [one.get_secret_value() for one in request.secrets()] == [secret]
    assert secret not in f"{request!r} {request.body()} {request.external!r}"
    assert request.wire_body()["external"] == {"user": "customer-7", "api_key": secret}
    longest = {"name": "n", "external": {"user": "u" * 512}}
    assert CreateKeyRequest.model_validate(longest).body() == longest
    assert refusal(CreateKeyRequest, {"name": "n", "external": {"user": "u" * 513}}) == [
        "external.user: must have at most 512 characters"
    ]
    short = {"name": "n", "external": {"user": "customer-7", "api_key": secret[:-1]}}
    assert refusal(CreateKeyRequest, short) == [
        "external.api_key: must have at least 32 characters"
    ]
