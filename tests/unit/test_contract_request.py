"""Requests are strict, and a validation error names the field in plain words."""

from __future__ import annotations

from datetime import UTC, datetime
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import JsonValue, ValidationError

from gwtui.contract.byok import CreateByokRequest, UpdateByokRequest
from gwtui.contract.dialects import GENERIC, OPENROUTER
from gwtui.contract.guardrails import CreateGuardrailRequest, guardrail_problems, legal_actions
from gwtui.contract.keys import CreateKeyRequest, UpdateKeyRequest
from gwtui.contract.organization import ChangeMembersRequest
from gwtui.contract.request import MASK, field_rules, problems
from gwtui.contract.workspaces import (
    CreateWorkspaceRequest,
    PutBudgetRequest,
    UpdateWorkspaceRequest,
    budget_conflict,
)


def refusals(model: Any, body: Any) -> list[str]:
    with pytest.raises(ValidationError) as caught:
        model.model_validate(body)
    return [str(problem) for problem in problems(caught.value)]


def test_all_problems_are_reported_together() -> None:
    lines = refusals(CreateKeyRequest, {"name": "", "limit": -1, "limit_reset": "x"})
    assert [line.split(":")[0] for line in lines] == ["name", "limit", "limit_reset"]


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
        found_problems = problems(error)
        assert found_problems
        assert all(problem.message for problem in found_problems)
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
    assert [value.get_secret_value() for value in request.secrets()] == [secret]
    assert secret not in f"{request!r} {request.body()} {request.external!r}"
    assert request.wire_body()["external"] == {"user": "customer-7", "api_key": secret}
    longest = {"name": "n", "external": {"user": "u" * 512}}
    assert CreateKeyRequest.model_validate(longest).body() == longest
    assert refusals(CreateKeyRequest, {"name": "n", "external": {"user": "u" * 513}}) == [
        "external.user: must have at most 512 characters"
    ]
    short = {"name": "n", "external": {"user": "customer-7", "api_key": secret[:-1]}}
    assert refusals(CreateKeyRequest, short) == [
        "external.api_key: must have at least 32 characters"
    ]


# Workspaces, budgets, guardrails and credentials --------------------------------------------------


WORKSPACE = {"name": "Research", "slug": "research"}
GUARDRAIL = {"name": "No PII"}
BYOK = {"provider": "openai", "key": "sk-sentinel"}


@pytest.mark.parametrize("slug", ["a", "a-b", "9", "team-1-eu", "a" * 50])
def test_slugs_that_are_right(slug: str) -> None:
    assert CreateWorkspaceRequest.model_validate({**WORKSPACE, "slug": slug}).slug == slug


WRONG_SLUG = "slug: must be lower-case letters and digits, in parts joined by single hyphens"


@pytest.mark.parametrize(
    ("model", "body", "message"),
    [
        (CreateKeyRequest, {}, "name: is required"),
        (CreateKeyRequest, {"name": ""}, "name: must not be empty"),
        (CreateKeyRequest, {"name": 3}, "name: must be text"),
        (CreateKeyRequest, {"name": None}, "name: must be text"),
        (CreateKeyRequest, {"name": "x", "limit": -1}, "limit: must not be negative"),
        (CreateKeyRequest, {"name": "x", "limit": "1"}, "limit: must be a number"),
        (CreateKeyRequest, {"name": "x", "limit": True}, "limit: must be a number"),
        (CreateKeyRequest, {"name": "x", "limit": float("nan")}, "limit: must be a finite number"),
        (
            CreateKeyRequest,
            {"name": "x", "limit": 10**400},
            "limit: must be at most 1000000000000 USD",
        ),
        (
            CreateKeyRequest,
            {"name": "x", "limit_reset": "hourly"},
            "limit_reset: must be one of daily, weekly or monthly",
        ),
        (
            CreateKeyRequest,
            {"name": "x", "expires_at": "2026-01-01T00:00:00+02:00"},
            "expires_at: must be in UTC: end it in Z, other time zones are rejected",
        ),
        (
            CreateKeyRequest,
            {"name": "x", "expires_at": "2026-01-01T10:00Z"},
            "expires_at: must be an ISO 8601 date and time in UTC, with seconds,"
            " such as 2026-12-31T00:00:00Z",
        ),
        (
            CreateKeyRequest,
            {"name": "x", "creator_user_id": ""},
            "creator_user_id: must not be empty",
        ),
        (
            CreateKeyRequest,
            {"name": "x", "include_byok_in_limit": "yes"},
            "include_byok_in_limit: must be true or false",
        ),
        (
            CreateKeyRequest,
            {"name": "x", "workspace_id": "default"},
            "workspace_id: must be a UUID such as 0b9f6f0e-3a0a-4a57-9f0e-5f1c2f6a7d10",
        ),
        (CreateKeyRequest, {"name": "x", "colour": 1}, "colour: is not a field of this request"),
        (CreateWorkspaceRequest, {**WORKSPACE, "name": "x" * 101}, "name: must have at most 100"),
        (CreateWorkspaceRequest, {**WORKSPACE, "slug": "x" * 51}, "slug: must have at most 50"),
        (
            CreateWorkspaceRequest,
            {**WORKSPACE, "description": "x" * 501},
            "description: must have at most 500",
        ),
        (
            CreateWorkspaceRequest,
            {**WORKSPACE, "io_logging_sampling_rate": 0.00009},
            "io_logging_sampling_rate: must be from 0.0001 to 1",
        ),
        (
            CreateWorkspaceRequest,
            {**WORKSPACE, "io_logging_api_key_ids": ["1"]},
            "io_logging_api_key_ids.0: must be a whole number",
        ),
        (UpdateWorkspaceRequest, {}, "No update fields provided"),
        (PutBudgetRequest, {"limit_usd": 0}, "limit_usd: must be more than 0 USD"),
        (PutBudgetRequest, {}, "limit_usd: is required"),
        (ChangeMembersRequest, {"user_ids": []}, "user_ids: must have at least 1 entry"),
        (
            ChangeMembersRequest,
            {"user_ids": ["u"] * 101},
            "user_ids: must have at most 100 entries",
        ),
        (CreateGuardrailRequest, {"name": "x" * 201}, "name: must have at most 200"),
        (
            CreateGuardrailRequest,
            {**GUARDRAIL, "description": "x" * 1001},
            "description: must have at most 1000",
        ),
        (
            CreateGuardrailRequest,
            {**GUARDRAIL, "allowed_models": []},
            "allowed_models: must have at least 1 entry",
        ),
        (
            CreateGuardrailRequest,
            {**GUARDRAIL, "content_filters": [{"pattern": "(a+)+", "action": "block"}]},
            "content_filters.0.pattern: must not repeat a repetition",
        ),
        (CreateByokRequest, {**BYOK, "key": ""}, "key: must not be empty"),
        (CreateByokRequest, {**BYOK, "name": "x" * 256}, "name: must have at most 255"),
        (
            CreateByokRequest,
            {**BYOK, "allowed_api_key_hashes": ["f" * 63]},
            "allowed_api_key_hashes.0: must be the hash of a key: 64 digits 0-9, a-f",
        ),
        (
            CreateByokRequest,
            {**BYOK, "is_byok_only": True, "is_fallback": True},
            "is_byok_only and is_fallback exclude each other",
        ),
        *(
            (CreateWorkspaceRequest, {**WORKSPACE, "slug": slug}, WRONG_SLUG)
            for slug in ["A", "a--b", "-a", "a-", "a_b", "a b", "ä", "a\n"]
        ),
    ],
)
def test_a_broken_rule_is_named(model: Any, body: dict[str, Any], message: str) -> None:
    (only,) = refusals(model, body)
    assert only.startswith(message)


def test_a_provider_key_is_in_clear_only_where_it_is_sent() -> None:
    request = CreateByokRequest.model_validate(BYOK)
    assert request.body() == {"provider": "openai", "key": MASK}
    assert request.wire_body() == BYOK
    assert "sentinel" not in repr(request)
    assert "sentinel" not in request.model_dump_json()
    assert "key" not in UpdateByokRequest(disabled=True).wire_body()


def test_budgets_grow_with_their_interval() -> None:
    assert budget_conflict({"daily": Decimal(1), "lifetime": Decimal(100)}) is None
    assert budget_conflict({"weekly": Decimal("5.50"), "monthly": Decimal("5.5")}) == (
        "the weekly budget (5.5 USD) must be less than the monthly budget (5.5 USD)"
    )


@pytest.mark.parametrize(
    ("slug", "generic"),
    [
        ("regex-prompt-injection", ("block", "redact", "flag")),
        ("email", ("block", "redact")),
        ("secrets", ("block", "redact")),
        (None, ("block", "redact")),
    ],
)
def test_which_filter_may_flag_is_the_dialects_rule(
    slug: str | None, generic: tuple[str, ...]
) -> None:
    assert legal_actions(slug, GENERIC) == generic
    assert legal_actions(slug, OPENROUTER) == ("block", "redact", "flag")


def test_dialect_rules_name_the_field() -> None:
    request = CreateGuardrailRequest.model_validate(
        {
            **GUARDRAIL,
            "limit_usd": 3,
            "content_filter_builtins": [{"slug": "email", "action": "flag"}],
            "content_filters": [{"pattern": "a", "action": action} for action in ("block", "flag")],
        }
    )
    assert [problem.field for problem in guardrail_problems(request, GENERIC)] == [
        "content_filter_builtins.0.action",
        "content_filters.1.action",
    ]
    assert [problem.field for problem in guardrail_problems(request, OPENROUTER)] == [
        "reset_interval"
    ]
