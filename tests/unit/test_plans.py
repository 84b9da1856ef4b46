"""The displayed plan of each kind of write, and the request that it sends.

The texts are in ``__snapshots__/test_plans.ambr``: read the difference before you accept it.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime, timedelta
from decimal import Decimal
from typing import Any

import pytest
from pydantic import SecretStr
from syrupy.assertion import SnapshotAssertion

from form_kit import api_key
from gwtui.contract.byok import ByokCredential, CreateByokRequest, UpdateByokRequest
from gwtui.contract.content_filters import BuiltinFilterRequest, CustomFilterRequest
from gwtui.contract.dialects import GENERIC, OPENROUTER
from gwtui.contract.guardrails import (
    CreateGuardrailRequest,
    Guardrail,
    KeyAssignment,
    MemberAssignment,
    UpdateGuardrailRequest,
)
from gwtui.contract.keys import ApiKey, CreatedKey, CreateKeyRequest, UpdateKeyRequest
from gwtui.contract.organization import (
    OrganizationMember,
    OrganizationSettings,
    UpdateOrganizationSettingsRequest,
    WorkspaceMember,
)
from gwtui.contract.workspaces import (
    Budget,
    CreateWorkspaceRequest,
    PutBudgetRequest,
    UpdateWorkspaceRequest,
    Workspace,
)
from gwtui.crud.fields import PlanContext
from gwtui.crud.plan import Change, Plan
from gwtui.crud.plan_text import displayed
from gwtui.domain.diffs import three_way
from gwtui.resources import assignments
from gwtui.resources.budgets import WorkspaceBudgets, plan_delete, plan_put
from gwtui.resources.byok import CREDENTIALS
from gwtui.resources.guardrails.fields import fields_of
from gwtui.resources.guardrails.writes import WRITES as GUARDRAIL_WRITES
from gwtui.resources.guardrails.writes import BoundBy
from gwtui.resources.keys.writes import WRITES as KEY_WRITES
from gwtui.resources.members import plan_add, plan_remove
from gwtui.resources.organization import SETTINGS_WRITES
from gwtui.resources.uses import WorkspaceContents
from gwtui.resources.workspaces import WRITES as WORKSPACE_WRITES
from gwtui.resources.workspaces import WorkspaceRelatedData
from gwtui.watch.feeds.guardrails import GuardrailRow
from plan_kit import single_request
from writes_kit import AT, NOW

ID = "0b9f6f0e-3a0a-4a57-9f0e-5f1c2f6a7d10"
OTHER = "1b9f6f0e-3a0a-4a57-9f0e-5f1c2f6a7d10"
HASH = "ab" * 32
SECRET = "sk-SENTINEL-provider-key"
_LONGEST = 400
NAMES = {ID: "Research", OTHER: "Support", HASH: "ci"}


def plain(value: Any) -> str:
    return json.dumps(value, sort_keys=True, ensure_ascii=False, default=dict)


def values_of(change: Change) -> str:
    after = change.after if change.before is None else f"{change.before} -> {change.after}"
    return f"{change.field}: {after}" if change.field else str(after)


async def text_of(plan: Plan[Any]) -> str:
    """Everything that a plan displays, sends and stores in the ledger."""
    parts = plan.parts or (plan,)
    display = displayed(plan)
    lines = [
        f"{display.title} [{plan.action} of {plan.resource} {plan.identity}]",
        f"danger {plan.danger}, {'can' if plan.undo else 'cannot'} be undone",
        *(f"  x {line}" for line in display.obstacles),
        *(f"  {values_of(change)}" for change in display.changes),
        *(f"  + {line}" for line in display.effects),
        *(f"  ! {line}" for line in display.warnings),
        *[f"sends {plain(await single_request(part))}" for part in parts if not plan.obstacles],
        *(f"keeps {plain(part.summary)}, before {plain(part.before)}" for part in parts),
    ]
    return "\n".join(line[:_LONGEST] for line in lines)


# Keys -------------------------------------------------------------------------------------------


def key(**changes: Any) -> ApiKey:
    usage = {"usage_daily": 1.25, "usage_weekly": 9, "usage_monthly": 40}
    identity = {"hash": "abc123", "workspace_id": ID, "expires_at": None}
    return api_key(**{**identity, **usage, **changes})


def key_update(before: ApiKey, **fields: Any) -> Plan[Any]:
    return KEY_WRITES.plan_update(
        before, UpdateKeyRequest.model_validate(fields), PlanContext(NOW, NAMES)
    )


UNUSED = {"usage_daily": 0, "usage_weekly": 0, "usage_monthly": 0}
KEYS: Mapping[str, Plan[Any]] = {
    "create": KEY_WRITES.plan_create(
        CreateKeyRequest(
            name="ci",
            limit=Decimal("1000.5"),
            limit_reset="monthly",
            expires_at=NOW + timedelta(days=30),
            workspace_id=ID,
        ),
        PlanContext(NOW, NAMES),
    ),
    "create with a name alone": KEY_WRITES.plan_create(CreateKeyRequest(name="ci"), AT),
    "create without a mistake": KEY_WRITES.plan_create(
        CreateKeyRequest(name="ci", limit=Decimal("9999.99"), expires_at=NOW + timedelta(1)),
        AT,
    ),
    "create with mistakes": KEY_WRITES.plan_create(
        CreateKeyRequest(
            name="ci", limit=Decimal(99_999_999_999), expires_at=NOW - timedelta(days=3)
        ),
        AT,
    ),
    "move and raise": key_update(key(), limit=200, workspace_id=OTHER),
    "lower to what is used": key_update(key(), limit=40),
    "take the limit away": key_update(key(), limit=None),
    "another period": key_update(key(), limit=10, limit_reset="daily"),
    "no period": key_update(key(), limit_reset=None),
    "no period, with known usage": key_update(key(usage=70), limit_reset=None),
    "rename": key_update(key(), name="x"),
    "of unknown values": key_update(key(limit=..., limit_reset=3), limit=None, limit_reset="daily"),
    "of an unknown rest": key_update(key(limit_remaining=None), limit=1),
    "of unknown usage": key_update(key(limit_remaining=None, usage_monthly=None), limit=1),
    "count BYOK": key_update(key(byok_usage_monthly=5), limit=50, include_byok_in_limit=True),
    "disable": KEY_WRITES.plan_switch(key(last_used_at="2026-11-21T06:57:00Z"), True, AT, ()),
    "disable an expired one": KEY_WRITES.plan_switch(
        key(expires_at="2026-11-18T07:00:00Z", usage_daily=0), True, AT, ()
    ),
    "enable over its limit": KEY_WRITES.plan_switch(
        key(disabled=True, limit_remaining=0), False, AT, ()
    ),
    "enable an expired one": KEY_WRITES.plan_switch(
        key(disabled=True, expires_at="2026-11-18T07:00:00Z"), False, AT, ()
    ),
    "delete": KEY_WRITES.plan_delete(key(**UNUSED), AT, ()),
    "delete a disabled one": KEY_WRITES.plan_delete(key(disabled=True), AT, ()),
    "delete of unknown use": KEY_WRITES.plan_delete(
        key(usage_daily=None, usage_weekly=None, usage_monthly=None, label=None),
        AT,
        (),
    ),
    "delete of partly unknown use": KEY_WRITES.plan_delete(
        key(usage_daily=0, usage_weekly=..., usage_monthly=...), AT, ()
    ),
}


@pytest.mark.parametrize(
    ("before", "after", "warned"),
    [
        (25, 2540, "Spending limit grows tenfold or more, from $25.00 to $2,540.00."),
        (25, 250, "Spending limit grows tenfold or more, from $25.00 to $250.00."),
        (0, 5, "Spending limit grows tenfold or more, from $0.00 to $5.00."),
        (25, None, "This removes the spending limit of $25.00."),
        (9000, 10000, "Spending limit is very high: $10,000.00."),
        (None, 20000, "Spending limit is very high: $20,000.00."),
        (..., 20000, "Spending limit is very high: $20,000.00."),
        (25, 249, ""),
        (20000, 30000, ""),
        (..., 300, ""),
        (None, 300, ""),
        (..., None, "The key can spend without a limit."),
    ],
)
def test_a_limit_that_grows_tenfold_is_warned_of(before: Any, after: Any, warned: str) -> None:
    assert key_update(key(limit=before), limit=after).warnings == ((warned,) if warned else ())


def test_a_new_key_is_identified_by_the_answer() -> None:
    created = CreatedKey.model_validate({"data": {"hash": "new"}, "key": "gw-v1-secret"})
    for answer, identity in ((created, "new"), (created.model_copy(update={"data": None}), None)):
        assert KEYS["create"].identify(answer) == identity


# Credentials ------------------------------------------------------------------------------------


def credential(**fields: Any) -> ByokCredential:
    body = {
        "id": ID,
        "name": "main",
        "label": "sk-...abc",
        "provider": "openai",
        "disabled": False,
        "is_fallback": False,
        "sort_order": 0,
        "allowed_models": None,
        "allowed_user_ids": [],
        "allowed_api_key_hashes": [HASH],
        "workspace_id": None,
        **fields,
    }
    return ByokCredential.model_validate(body)


def byok_update(**fields: Any) -> Plan[Any]:
    request = UpdateByokRequest.model_validate(fields)
    return CREDENTIALS.plan_update(credential(), request, PlanContext(NOW, NAMES))


SECOND = credential(id="other", name="second")
BYOK: Mapping[str, Plan[Any]] = {
    "create": CREDENTIALS.plan_create(
        CreateByokRequest(
            provider="openai",
            key=SecretStr(SECRET),
            name="new",
            is_fallback=True,
            allowed_models=[],
        ),
        AT,
    ),
    "restrict": byok_update(
        allowed_models=["a/one"], allowed_user_ids=None, allowed_api_key_hashes=[HASH]
    ),
    "tighten": byok_update(is_byok_only=True, is_required=True, allowed_models=[]),
    "loosen": byok_update(is_byok_only=False, is_required=False, allowed_models=None),
    "replace the key": byok_update(key=SECRET),
    "replace the key and rename": byok_update(key=SECRET, name="x"),
    "disable beside another": CREDENTIALS.plan_switch(
        credential(), True, AT, [credential(), SECOND]
    ),
    "disable the last": CREDENTIALS.plan_switch(
        credential(), True, AT, [credential(id="other", disabled=True)]
    ),
    "disable beside unknown ones": CREDENTIALS.plan_switch(credential(), True, AT),
    "enable": CREDENTIALS.plan_switch(credential(disabled=True, allowed_user_ids=None), False, AT),
    "enable a blocked one": CREDENTIALS.plan_switch(credential(disabled=True), False, AT),
    "delete": CREDENTIALS.plan_delete(credential(), AT, []),
    "delete a disabled one": CREDENTIALS.plan_delete(credential(disabled=True), AT, []),
}


# Guardrails and their assignments ---------------------------------------------------------------


def guardrail(**fields: Any) -> Guardrail:
    body = {
        "id": ID,
        "name": "PII",
        "workspace_id": OTHER,
        "allowed_models": ["a/one", "b/two"],
        "limit_usd": 5,
        "reset_interval": "daily",
        "enforce_zdr_vendor_a": True,
        "enforce_zdr": True,
        "content_filter_builtins": [{"slug": "email", "action": "redact", "label": "[EMAIL]"}],
        "content_filters": [{"pattern": "gw-[0-9]+", "action": "block", "label": "[KEY]"}],
        "created_at": "2026-11-01T00:00:00Z",
        **fields,
    }
    return Guardrail.model_validate(body)


def on_key(name: str, guardrail_id: str = ID) -> KeyAssignment:
    return KeyAssignment.model_validate(
        {"id": f"a-{name}", "guardrail_id": guardrail_id, "key_hash": f"h-{name}", "key_name": name}
    )


def on_member(user: str, guardrail_id: str = ID) -> MemberAssignment:
    return MemberAssignment.model_validate(
        {"id": f"a-{user}", "guardrail_id": guardrail_id, "user_id": user}
    )


def named_key(name: str) -> ApiKey:
    return ApiKey.model_validate({"hash": f"h-{name}", "name": name})


SPACE = Workspace.model_validate({"id": OTHER, "name": "Research", "default_guardrail_id": ID})
NO_BINDINGS = BoundBy([], [])
HOLDERS = BoundBy([on_key("ci"), on_key("web")], [on_member("u1"), on_member("u2")])
ANN = {"u1": "Ann"}
RAILS = {ID: "PII", OTHER: "Cheap"}


def rail_update(
    before: Guardrail, bound: BoundBy, dialect: Any = GENERIC, **fields: Any
) -> Plan[Any]:
    request = UpdateGuardrailRequest.model_validate(fields)
    return GUARDRAIL_WRITES.for_row(GuardrailRow(before, bound.workspace), dialect).plan_update(
        before, request, PlanContext(NOW, {}, dialect), bound.uses
    )


def first_update(**fields: Any) -> Plan[Any]:
    """The change that creates the default guardrail of a workspace."""
    unmade = Guardrail.model_validate({"id": SPACE.default_guardrail_id})
    writes = GUARDRAIL_WRITES.for_row(GuardrailRow(unmade, SPACE, exists=False), GENERIC)
    return writes.plan_update(unmade, UpdateGuardrailRequest.model_validate(fields), AT)


GUARDRAILS: Mapping[str, Plan[Any]] = {
    "create": GUARDRAIL_WRITES.plan_create(
        CreateGuardrailRequest(
            name="New",
            workspace_id=OTHER,
            limit_usd=Decimal(10),
            reset_interval="weekly",
            ignored_providers=["acme"],
            enforce_zdr_vendor_b=False,
            content_filter_builtins=[
                BuiltinFilterRequest(slug="email", action="redact"),
                BuiltinFilterRequest(
                    slug="regex-prompt-injection", action="flag", scan_scope="user_only"
                ),
            ],
            content_filters=[CustomFilterRequest(pattern="[a-z]+", action="redact", label="[X]")],
        ),
        PlanContext(NOW, NAMES, GENERIC),
    ),
    "update": rail_update(
        guardrail(),
        replace(HOLDERS, people=ANN),
        OPENROUTER,
        allowed_models=["b/two", "c/three"],
        limit_usd=None,
        enforce_zdr_vendor_a=None,
    ),
    "update of its lists": rail_update(
        guardrail(ignored_models=["b/two"], ignored_providers=["slow"]),
        NO_BINDINGS,
        ignored_models=None,
        ignored_providers=["slow", "late"],
    ),
    "update of unknown reach": rail_update(guardrail(), BoundBy(), description="x"),
    "update of a default one": rail_update(guardrail(), BoundBy([], [], SPACE), description="x"),
    "update of a default one's name": rail_update(guardrail(), BoundBy([], [], SPACE), name="Mine"),
    "update of the name": rail_update(guardrail(), NO_BINDINGS, name="Mine"),
    "first update": first_update(enforce_zdr_other=True),
    "first update of the name": first_update(name="Mine"),
    "delete": GUARDRAIL_WRITES.plan_delete(guardrail(), AT, replace(HOLDERS, people=ANN)),
    "delete an unused one": GUARDRAIL_WRITES.plan_delete(guardrail(), AT, NO_BINDINGS),
    "assign to keys": assignments.plan_assign(
        assignments.KEYS,
        guardrail(),
        assignments.key_names([named_key("ci"), named_key("web"), named_key("new")]),
        [on_key("ci", OTHER), on_key("web", ID), on_key("else", OTHER)],
        RAILS,
    ),
    "assign to members": assignments.plan_assign(
        assignments.MEMBERS,
        guardrail(),
        {"u1": "“Ann”", "u2": "u2"},
        [on_member("u1", OTHER)],
        RAILS,
    ),
    "assign beside unknown ones": assignments.plan_assign(
        assignments.KEYS, guardrail(), assignments.key_names([named_key("ci")]), None, RAILS
    ),
    "assign to many": assignments.plan_assign(
        assignments.KEYS,
        guardrail(),
        assignments.key_names([named_key(f"k{number}") for number in range(21)]),
        [],
        RAILS,
    ),
    "unassign keys": assignments.plan_unassign(
        assignments.KEYS, guardrail(), [on_key("ci"), on_key("web")], {}
    ),
    "unassign members": assignments.plan_unassign(
        assignments.MEMBERS, guardrail(), [on_member("u1")], ANN
    ),
}


def test_known_filters_compare_with_what_a_form_gives() -> None:
    current = fields_of(GENERIC).known(guardrail())
    mine = {
        "content_filter_builtins": [BuiltinFilterRequest(slug="email", action="redact")],
        "content_filters": [
            CustomFilterRequest(pattern="gw-[0-9]+", action="block", label="[KEY]"),
        ],
        "allowed_models": ["a/one", "b/two"],
        "description": None,
    }
    assert three_way(current, mine, current).fields == ()


@pytest.mark.parametrize(
    "garbled",
    [
        {"content_filters": [{"pattern": "x", "action": "block"}, {"action": "block"}]},
        {"content_filters": [{"pattern": "x", "action": "block"}, "no filter"]},
        {"content_filters": 7},
    ],
)
def test_a_list_that_could_not_be_read_whole_is_unknown(garbled: dict[str, Any]) -> None:
    assert "content_filters" not in fields_of(GENERIC).known(guardrail(**garbled))


# Workspaces, members, budgets, settings ---------------------------------------------------------


def workspace(**fields: Any) -> Workspace:
    body = {
        "id": ID,
        "name": "Research",
        "slug": "research",
        "description": None,
        "default_text_model": "acme/m-1",
        "default_image_model": None,
        "default_provider_sort": "price",
        "io_logging_api_key_ids": None,
        "io_logging_sampling_rate": 1,
        "is_data_discount_logging_enabled": False,
        "is_observability_broadcast_enabled": False,
        "is_observability_io_logging_enabled": False,
        "include_byok_in_budgets": False,
        **fields,
    }
    return Workspace.model_validate(body)


def held_key(name: str, user: str | None = None, **more: Any) -> ApiKey:
    return ApiKey.model_validate(
        {"hash": name * 8, "name": name, "disabled": False, "creator_user_id": user, **more}
    )


def budget(interval: str | None, limit: Any) -> Budget:
    return Budget.model_validate(
        {"id": f"b{interval}", "limit_usd": limit, "reset_interval": interval}
    )


def person(user: str, first: str | None = None) -> OrganizationMember:
    return OrganizationMember.model_validate(
        {
            "id": user,
            "email": f"{user}@example.org",
            "first_name": first,
            "last_name": None,
            "role": "org:member",
        }
    )


ROLES = {"u2": "admin", "u3": None}


def member(user: str) -> WorkspaceMember:
    return WorkspaceMember.model_validate({"id": f"m-{user}", "user_id": user})


def space_delete(*contents: Any, is_default: bool = False) -> Plan[Any]:
    workspace_contents = WorkspaceContents(*contents)
    return WORKSPACE_WRITES.plan_delete(
        workspace(), AT, WorkspaceRelatedData(workspace_contents, is_default)
    )


def budget_put(interval: Any, limit: Any, *present: Budget, moment: datetime = NOW) -> Plan[Any]:
    request = PutBudgetRequest.model_validate(
        {"limit_usd": limit, "include_byok_in_budgets": True}
        if moment is NOW
        else {"limit_usd": limit}
    )
    return plan_put(workspace(), interval, request, present, moment)


OFF = [held_key("off", disabled=True), held_key("odd", disabled=None)]
LATE = held_key("late", expires_at="2026-11-21T07:00:00Z")
ACTIVE = [held_key("ci", "u1"), held_key("ci2", expires_at="2026-11-21T07:00:01Z")]
DAILY, WEEKLY = budget("daily", 10), budget("weekly", 30)
CROWD = [member(f"u{number}") for number in range(101)]
WORKSPACES: Mapping[str, Plan[Any]] = {
    "create": WORKSPACE_WRITES.plan_create(
        CreateWorkspaceRequest(
            name="Team",
            slug="team",
            is_observability_io_logging_enabled=True,
            io_logging_sampling_rate=Decimal("0.0001"),
            io_logging_api_key_ids=[3, 4],
        ),
        AT,
    ),
    "update": WORKSPACE_WRITES.plan_update(
        workspace(),
        UpdateWorkspaceRequest(
            slug="lab", default_text_model=None, is_data_discount_logging_enabled=True
        ),
        AT,
    ),
    "update of garbled values": WORKSPACE_WRITES.plan_update(
        workspace(slug=7, io_logging_api_key_ids=[1, "x"]),
        UpdateWorkspaceRequest(slug="lab", io_logging_api_key_ids=[2]),
        AT,
    ),
    "delete with active keys": space_delete([*ACTIVE, OFF[0], LATE], [], []),
    "delete with one idle key": space_delete([LATE], [], []),
    "delete with idle keys": space_delete([*OFF, LATE], [], []),
    "delete the default one": space_delete(
        [],
        [budget("daily", 5), budget(None, 100)],
        [Guardrail.model_validate({"id": "g", "name": "PII"})],
        [member("u1")],
        [credential()],
        is_default=True,
    ),
    "delete with unknown contents": space_delete(),
    "add members": plan_add(workspace(), [person("u1", "Ann"), person("u2")], ROLES),
    "add members again": plan_add(workspace(), [person("u2"), person("u3")], ROLES),
    "add too many": plan_add(workspace(), [person(f"u{number}") for number in range(101)]),
    "remove members": plan_remove(
        workspace(),
        [member("u1"), member("u2")],
        [*ACTIVE, held_key("off", "u2", disabled=True)],
        {"u1": "Ann", "u2": "Bob"},
        NOW,
    ),
    "remove nobody": plan_remove(workspace(), [member("u1")], ACTIVE, ANN, NOW),
    "remove beside unknown keys": plan_remove(workspace(), [member("u1")], None, {}, NOW),
    "remove too many": plan_remove(workspace(), CROWD, [], {}, NOW),
    "remove as many as it takes": plan_remove(workspace(), CROWD[1:], [], {}, NOW),
    "set a budget": budget_put("weekly", 40, DAILY, WEEKLY),
    "set the lifetime budget": budget_put("lifetime", 40),
    "set a budget late": budget_put("monthly", 1, moment=NOW + timedelta(days=30)),
    "remove a budget": plan_delete(workspace(), "daily", [DAILY, budget(None, 30)]),
    "remove the last budget": plan_delete(workspace(), "daily", [DAILY]),
    "change the settings": SETTINGS_WRITES.plan_update(
        OrganizationSettings.model_validate({"is_filtered_model_catalog_enabled": False}),
        UpdateOrganizationSettingsRequest(is_filtered_model_catalog_enabled=True),
        AT,
    ),
}


@pytest.mark.parametrize(
    ("interval", "limit", "conflict"),
    [
        ("daily", 30, "daily budget (30 USD) must be less than the weekly budget (30 USD)"),
        ("monthly", 20, "weekly budget (30 USD) must be less than the monthly budget (20 USD)"),
        ("lifetime", 30, "weekly budget (30 USD) must be less than the lifetime budget (30 USD)"),
        ("weekly", 5, "daily budget (10 USD) must be less than the weekly budget (5 USD)"),
        ("monthly", Decimal("30.01"), None),
        ("daily", Decimal("29.99"), None),
    ],
)
def test_a_budget_that_conflicts_with_others_is_an_obstacle(
    interval: Any, limit: Any, conflict: str | None
) -> None:
    plan = budget_put(interval, limit, DAILY, WEEKLY)
    assert plan.obstacles == (() if conflict is None else (f"The {conflict}.",))


@pytest.mark.parametrize(
    ("limit", "warned"),
    [
        (99, ()),
        (100, ("Daily budget grows tenfold or more, from $10.00 to $100.00.",)),
        (None, ("This removes the daily budget of $10.00.",)),
    ],
)
def test_a_budget_that_grows_tenfold_is_warned_of(limit: int | None, warned: Any) -> None:
    budgets = WorkspaceBudgets(workspace(), [DAILY, budget("monthly", 500)])
    changed = {"daily": None if limit is None else Decimal(limit)}
    assert budgets.plan(changed, NOW).warnings == warned


PLANS = {
    f"{resource}: {name}": plan
    for resource, plans in (
        ("keys", KEYS),
        ("byok", BYOK),
        ("guardrails", GUARDRAILS),
        ("workspaces", WORKSPACES),
    )
    for name, plan in plans.items()
}


@pytest.mark.parametrize("name", PLANS)
async def test_plans(name: str, snapshot: SnapshotAssertion) -> None:
    plan = PLANS[name]
    assert SECRET not in repr(plan)
    assert await text_of(plan) == snapshot
