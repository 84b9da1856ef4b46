"""The rules of workspaces, budgets, guardrails and BYOK credentials, each right and wrong."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import pytest
from pydantic import ValidationError

from gwtui.contract.budgets import PutBudgetRequest, budget_conflict
from gwtui.contract.byok import CreateByokRequest, UpdateByokRequest
from gwtui.contract.dialects import GENERIC, OPENROUTER
from gwtui.contract.guardrails import CreateGuardrailRequest, guardrail_problems, legal_actions
from gwtui.contract.organization import ChangeMembersRequest
from gwtui.contract.request import MASK, problems
from gwtui.contract.workspaces import CreateWorkspaceRequest, UpdateWorkspaceRequest

WORKSPACE = {"name": "Research", "slug": "research"}
GUARDRAIL = {"name": "No PII"}
BYOK = {"provider": "openai", "key": "sk-sentinel"}


def told(model: Any, body: Any) -> list[str]:
    with pytest.raises(ValidationError) as caught:
        model.model_validate(body)
    return [str(problem) for problem in problems(caught.value)]


@pytest.mark.parametrize("slug", ["a", "a-b", "9", "team-1-eu", "a" * 50])
def test_slugs_that_are_right(slug: str) -> None:
    assert CreateWorkspaceRequest.model_validate({**WORKSPACE, "slug": slug}).slug == slug


@pytest.mark.parametrize("slug", ["A", "a--b", "-a", "a-", "a_b", "a b", "ä", "a\n"])
def test_slugs_that_are_wrong(slug: str) -> None:
    assert told(CreateWorkspaceRequest, {**WORKSPACE, "slug": slug}) == [
        "slug: must be lower-case letters and digits, in parts joined by single hyphens"
    ]


@pytest.mark.parametrize(
    ("model", "body", "message"),
    [
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
        (CreateByokRequest, {**BYOK, "key": ""}, "key: must have at least 1 character"),
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
    ],
)
def test_a_broken_rule_is_named(model: Any, body: dict[str, Any], message: str) -> None:
    (only,) = told(model, body)
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
