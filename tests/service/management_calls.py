"""Every management operation: the call, and the expected request."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from decimal import Decimal
from typing import Any

import httpx
import pytest
from pydantic import SecretStr

from gwtui.client.gateway import GatewayClient
from gwtui.contract.byok import CreateByokRequest, UpdateByokRequest
from gwtui.contract.content_filters import BuiltinFilterRequest, CustomFilterRequest
from gwtui.contract.guardrails import (
    AssignKeysRequest,
    AssignMembersRequest,
    CreateGuardrailRequest,
    UpdateGuardrailRequest,
)
from gwtui.contract.keys import CreateKeyRequest, UpdateKeyRequest
from gwtui.contract.organization import ChangeMembersRequest, UpdateOrganizationSettingsRequest
from gwtui.contract.usage import FeedbackRequest
from gwtui.contract.workspaces import (
    CreateWorkspaceRequest,
    PutBudgetRequest,
    UpdateWorkspaceRequest,
)

ID = "0b9f6f0e-3a0a-4a57-9f0e-5f1c2f6a7d10"
HASH = "ab" * 32
SECRET = "sk-SENTINEL-provider-key"
USERS = ChangeMembersRequest(user_ids=["user_1", "user_2"])
KEYS = AssignKeysRequest(key_hashes=[HASH])
PEOPLE = AssignMembersRequest(member_user_ids=["user_1"])
Act = Callable[[GatewayClient], Awaitable[Any]]

READS: list[tuple[str, Act, str]] = [
    ("credits", lambda g: g.credits.get(), "/credits"),
    ("own key", lambda g: g.keys.current(), "/key"),
    ("key", lambda g: g.keys.get(HASH), f"/keys/{HASH}"),
    ("odd key", lambda g: g.keys.get("../a?x#y z%"), "/keys/..%2Fa%3Fx%23y%20z%25"),
    ("workspace", lambda g: g.workspaces.get("team-a"), "/workspaces/team-a"),
    ("endpoints", lambda g: g.catalog.endpoints("a/m-1:free"), "/models/a/m-1:free/endpoints"),
    ("endpoints of a/b/c", lambda g: g.catalog.endpoints("a/b/c"), "/models/a/b%2Fc/endpoints"),
    (
        "budget",
        lambda g: g.workspaces.budget("team-a", "daily"),
        "/workspaces/team-a/budgets/daily",
    ),
    ("settings", lambda g: g.organization.settings(), "/organization/settings"),
    ("guardrail", lambda g: g.guardrails.get(ID), f"/guardrails/{ID}"),
    ("credential", lambda g: g.byok.get(ID), f"/byok/{ID}"),
    ("generation", lambda g: g.generations.get("gen-1 &"), "/generation?id=gen-1%20%26"),
    (
        "what it said",
        lambda g: g.generations.content("gen-1 &"),
        "/generation/content?id=gen-1%20%26",
    ),
    ("model", lambda g: g.catalog.model("a/b:free"), "/model/a/b:free"),
    ("count", lambda g: g.catalog.count(), "/models/count?output_modalities=all"),
]
LISTS: list[tuple[str, Act, str]] = [
    (
        "gateway keys",
        lambda g: g.keys.list(workspace_id=ID, include_expired=False),
        f"/keys?include_disabled=true&include_expired=false&workspace_id={ID}&offset=0",
    ),
    (
        "keys of every workspace",
        lambda g: g.keys.list(),
        "/keys?include_disabled=true&include_expired=true&offset=0",
    ),
    ("workspaces", lambda g: g.workspaces.list(), "/workspaces?PAGE"),
    (
        "models",
        lambda g: g.catalog.models(query="llama 3"),
        "/models?output_modalities=all&q=llama%203&offset=0&limit=500",
    ),
    ("providers", lambda g: g.providers.list(), "/providers"),
    ("members", lambda g: g.workspaces.members("a b"), "/workspaces/a%20b/members?PAGE"),
    ("budgets", lambda g: g.workspaces.budgets(ID), f"/workspaces/{ID}/budgets"),
    ("organization", lambda g: g.organization.members(), "/organization/members?PAGE"),
    ("guardrails", lambda g: g.guardrails.list(), "/guardrails?PAGE"),
    (
        "of one workspace",
        lambda g: g.guardrails.list(workspace_id=ID),
        f"/guardrails?workspace_id={ID}&PAGE",
    ),
    ("keys", lambda g: g.guardrails.key_assignments(ID), f"/guardrails/{ID}/assignments/keys?PAGE"),
    ("all keys", lambda g: g.guardrails.key_assignments(None), "/guardrails/assignments/keys?PAGE"),
    (
        "users",
        lambda g: g.guardrails.member_assignments(ID),
        f"/guardrails/{ID}/assignments/members?PAGE",
    ),
    (
        "all users",
        lambda g: g.guardrails.member_assignments(None),
        "/guardrails/assignments/members?PAGE",
    ),
    ("credentials", lambda g: g.byok.list(), "/byok?PAGE"),
    (
        "one provider's",
        lambda g: g.byok.list(workspace_id=ID, provider="openai"),
        f"/byok?workspace_id={ID}&provider=openai&PAGE",
    ),
    ("activity", lambda g: g.activity.list(), "/activity"),
    (
        "activity of one",
        lambda g: g.activity.list(
            date="2026-11-20",
            api_key_hash=HASH,
            user_id="u",
            workspace_id=ID,
            by_workspace=True,
        ),
        f"/activity?date=2026-11-20&api_key_hash={HASH}&user_id=u&workspace_id={ID}"
        "&group_by=workspace",
    ),
    ("zdr", lambda g: g.catalog.zdr_endpoints(), "/endpoints/zdr"),
    (
        "own models",
        lambda g: g.catalog.user_models(),
        "/models/user?output_modalities=all&offset=0&limit=500",
    ),
]
WRITES: list[tuple[str, Act, str, str, Any, dict[str, Any]]] = [
    (
        "create key",
        lambda g: g.keys.create(
            CreateKeyRequest(name="ci", limit=Decimal("12.5"), limit_reset="monthly")
        ),
        "POST",
        "/keys",
        {"name": "ci", "limit": 12.5, "limit_reset": "monthly"},
        {"data": {"hash": HASH}, "key": SECRET},
    ),
    (
        "change key",
        lambda g: g.keys.update(HASH, UpdateKeyRequest(limit=None, limit_reset="daily")),
        "PATCH",
        f"/keys/{HASH}",
        {"limit": None, "limit_reset": "daily"},
        {"data": {"hash": HASH}},
    ),
    (
        "delete key",
        lambda g: g.keys.delete(HASH),
        "DELETE",
        f"/keys/{HASH}",
        None,
        {"deleted": True},
    ),
    (
        "create workspace",
        lambda g: g.workspaces.create(
            CreateWorkspaceRequest(
                name="Team A", slug="team-a", io_logging_sampling_rate=Decimal("0.0001")
            )
        ),
        "POST",
        "/workspaces",
        {"name": "Team A", "slug": "team-a", "io_logging_sampling_rate": 0.0001},
        {"data": {"id": ID}},
    ),
    (
        "change workspace",
        lambda g: g.workspaces.update("team-a", UpdateWorkspaceRequest(description=None)),
        "PATCH",
        "/workspaces/team-a",
        {"description": None},
        {"data": {"id": ID}},
    ),
    (
        "delete workspace",
        lambda g: g.workspaces.delete(ID),
        "DELETE",
        f"/workspaces/{ID}",
        None,
        {"deleted": True},
    ),
    (
        "delete default workspace",
        lambda g: g.workspaces.delete(ID, confirm_default=True),
        "DELETE",
        f"/workspaces/{ID}?confirm_default_workspace_deletion=true",
        None,
        {"deleted": True},
    ),
    (
        "add members",
        lambda g: g.workspaces.add_members(ID, USERS),
        "POST",
        f"/workspaces/{ID}/members/add",
        {"user_ids": ["user_1", "user_2"]},
        {"added_count": 2, "data": []},
    ),
    (
        "remove members",
        lambda g: g.workspaces.remove_members(ID, USERS),
        "POST",
        f"/workspaces/{ID}/members/remove",
        {"user_ids": ["user_1", "user_2"]},
        {"removed_count": 2},
    ),
    (
        "put budget",
        lambda g: g.workspaces.put_budget(
            ID, "lifetime", PutBudgetRequest(limit_usd=Decimal("99.5"))
        ),
        "PUT",
        f"/workspaces/{ID}/budgets/lifetime",
        {"limit_usd": 99.5},
        {"data": {"id": ID}, "include_byok_in_budgets": False},
    ),
    (
        "delete budget",
        lambda g: g.workspaces.delete_budget(ID, "weekly"),
        "DELETE",
        f"/workspaces/{ID}/budgets/weekly",
        None,
        {"deleted": True},
    ),
    (
        "change settings",
        lambda g: g.organization.update_settings(
            UpdateOrganizationSettingsRequest(is_filtered_model_catalog_enabled=True)
        ),
        "PATCH",
        "/organization/settings",
        {"is_filtered_model_catalog_enabled": True},
        {"data": {"id": "org_1", "is_filtered_model_catalog_enabled": True}},
    ),
    (
        "create guardrail",
        lambda g: g.guardrails.create(
            CreateGuardrailRequest(
                name="PII",
                workspace_id=ID,
                enforce_zdr_vendor_a=True,
                content_filter_builtins=[BuiltinFilterRequest(slug="email", action="redact")],
                content_filters=[CustomFilterRequest(pattern="gw-[0-9]+", action="redact")],
            )
        ),
        "POST",
        "/guardrails",
        {
            "name": "PII",
            "workspace_id": ID,
            "enforce_zdr_vendor_a": True,
            "content_filter_builtins": [{"slug": "email", "action": "redact"}],
            "content_filters": [{"pattern": "gw-[0-9]+", "action": "redact"}],
        },
        {"data": {"id": ID}},
    ),
    (
        "change guardrail",
        lambda g: g.guardrails.update(ID, UpdateGuardrailRequest(allowed_models=None, limit_usd=1)),
        "PATCH",
        f"/guardrails/{ID}",
        {"allowed_models": None, "limit_usd": 1.0},
        {"data": {"id": ID}},
    ),
    (
        "delete guardrail",
        lambda g: g.guardrails.delete(ID),
        "DELETE",
        f"/guardrails/{ID}",
        None,
        {"deleted": True},
    ),
    *(
        (
            f"{act} {kind}",
            lambda g, act=act, kind=kind, body=body: getattr(g.guardrails, f"{act}_{kind}")(
                ID, body
            ),
            "POST",
            f"/guardrails/{ID}/assignments/{kind}{end}",
            body.body(),
            {f"{act}ed_count": 1},
        )
        for act, end in (("assign", ""), ("unassign", "/remove"))
        for kind, body in (("keys", KEYS), ("members", PEOPLE))
    ),
    (
        "store credential",
        lambda g: g.byok.create(
            CreateByokRequest(provider="openai", key=SecretStr(SECRET), allowed_models=[])
        ),
        "POST",
        "/byok",
        {"provider": "openai", "key": SECRET, "allowed_models": []},
        {"data": {"id": ID}},
    ),
    (
        "rotate credential",
        lambda g: g.byok.update(ID, UpdateByokRequest(key=SecretStr(SECRET))),
        "PATCH",
        f"/byok/{ID}",
        {"key": SECRET},
        {"data": {"id": ID}},
    ),
    (
        "delete credential",
        lambda g: g.byok.delete(ID),
        "DELETE",
        f"/byok/{ID}",
        None,
        {"deleted": True},
    ),
    (
        "feedback",
        lambda g: g.generations.give_feedback(
            FeedbackRequest(generation_id="gen-1", category="latency", comment="slow")
        ),
        "POST",
        "/generation/feedback",
        {"generation_id": "gen-1", "category": "latency", "comment": "slow"},
        {"data": {"success": True}},
    ),
]


def with_ids(table: list[Any]) -> list[Any]:
    return [pytest.param(*row[1:], id=row[0]) for row in table]


def target_of(request: httpx.Request) -> str:
    target = request.url.raw_path.decode().removeprefix("/api/v1")
    return target.replace("offset=0&limit=100", "PAGE")
