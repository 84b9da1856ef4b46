"""The plans of writes to guardrails and their assignments: what they say and what they send."""

from __future__ import annotations

import warnings
from datetime import UTC, datetime
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gwtui.contract.content_filters import BuiltinFilterRequest, CustomFilterRequest
from gwtui.contract.dialects import GENERIC, OPENROUTER, Dialect
from gwtui.contract.guardrails import (
    CreateGuardrailRequest,
    Guardrail,
    KeyAssignment,
    MemberAssignment,
    UpdateGuardrailRequest,
)
from gwtui.contract.keys import ApiKey
from gwtui.contract.workspaces import Workspace
from gwtui.domain.diffs import three_way
from gwtui.resources.guardrails.writes import BoundBy, fields_of
from plan_kit import assignment_plans, changes, guardrail_plans, sent

NOW = datetime(2026, 11, 21, 7, 0, tzinfo=UTC)
ID = "0b9f6f0e-3a0a-4a57-9f0e-5f1c2f6a7d10"
OTHER = "1b9f6f0e-3a0a-4a57-9f0e-5f1c2f6a7d10"
NAMES = {ID: "PII", OTHER: "Cheap"}
SPACE = Workspace.model_validate({"id": OTHER, "name": "Research", "default_guardrail_id": ID})
NOTHING = BoundBy([], [])


def guardrail(**more: Any) -> Guardrail:
    whole = {
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
        **more,
    }
    return Guardrail.model_validate({k: v for k, v in whole.items() if v is not ...})


def on_key(name: str, guardrail_id: str = ID) -> KeyAssignment:
    return KeyAssignment.model_validate(
        {"id": f"a-{name}", "guardrail_id": guardrail_id, "key_hash": f"h-{name}", "key_name": name}
    )


def on_member(user: str, guardrail_id: str = ID) -> MemberAssignment:
    return MemberAssignment.model_validate(
        {"id": f"a-{user}", "guardrail_id": guardrail_id, "user_id": user}
    )


def key(name: str) -> ApiKey:
    return ApiKey.model_validate({"hash": f"h-{name}", "name": name})


# Creation, change, deletion ---------------------------------------------------------------------


async def test_a_creation() -> None:
    request = CreateGuardrailRequest(
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
    )
    plan = guardrail_plans.plan_create(request, GENERIC, NOW, {OTHER: "Research"})
    assert changes(plan) == {
        "Name": (None, "New"),
        "Workspace": (None, "Research"),
        "Ignored providers": (None, "acme"),
        "Spending cap": (None, "$10.00"),
        "Cap resets": (None, "weekly, next Monday 2026-11-23 00:00 UTC, in 2 days"),
        "ZDR vendor B": (None, "off"),
        "Builtin filters": (
            None,
            "email: redact and regex-prompt-injection: flag (user messages only)",
        ),
        "Custom filters": (None, "redact /[a-z]+/ as [X]"),
    }
    assert plan.effects[0] == "It enforces nothing until it is assigned to keys or members."
    assert await sent(plan) == ("guardrails.create", request.body())


async def test_an_update_says_whom_it_binds_and_what_moves_on_the_lists() -> None:
    request = UpdateGuardrailRequest(
        allowed_models=["b/two", "c/three"], limit_usd=None, enforce_zdr_vendor_a=None
    )
    reach = BoundBy([on_key("ci"), on_key("web")], [on_member("u1")], None, {"u1": "Ann"})
    plan = guardrail_plans.plan_update(guardrail(), request, reach, OPENROUTER, NOW)
    assert changes(plan) == {
        "Allowed models": ("a/one and b/two", "b/two and c/three"),
        "Spending cap": ("$5.00", "no cap"),
        "ZDR Anthropic": ("on", "inherit"),
    }
    assert plan.effects == (
        "Allowed models, added: c/three.",
        "Allowed models, taken off: a/one.",
        "It binds at once 2 keys: “ci” and “web”.",
        "It binds at once 1 member: “Ann”.",
    )
    assert await sent(plan) == ("guardrails.update", ID, request.body())
    assert "enforce_zdr" not in request.body()


def test_an_update_says_what_moves_on_each_list_and_nothing_of_the_others() -> None:
    before = guardrail(
        allowed_models=["a/one"],
        ignored_models=["b/two"],
        allowed_providers=["acme"],
        ignored_providers=["slow"],
    )
    request = UpdateGuardrailRequest(ignored_models=None, ignored_providers=["slow", "late"])
    plan = guardrail_plans.plan_update(before, request, NOTHING, GENERIC, NOW)
    assert plan.effects[:-1] == (
        "Ignored models: no restriction any more.",
        "Ignored providers, added: late.",
    )


@pytest.mark.parametrize(
    ("reach", "line"),
    [
        (NOTHING, "It is assigned to nothing: nothing changes for requests."),
        (BoundBy(), "What else it is assigned to could not be read."),
        (BoundBy([], [], SPACE), "It binds at once all traffic of workspace “Research”."),
    ],
)
def test_the_reach_of_an_update(reach: BoundBy, line: str) -> None:
    request = UpdateGuardrailRequest(description="x")
    assert guardrail_plans.plan_update(guardrail(), request, reach, GENERIC, NOW).effects == (line,)


async def test_a_default_guardrail_is_made_by_its_first_update_and_keeps_its_name() -> None:
    request = UpdateGuardrailRequest(enforce_zdr_other=True)
    plan = guardrail_plans.plan_first_update(SPACE, request, GENERIC, NOW)
    assert plan.effects == ("It binds at once all traffic of workspace “Research”.",)
    assert plan.obstacles == ()
    assert await sent(plan) == ("guardrails.update", ID, {"enforce_zdr_other": True})
    renaming = UpdateGuardrailRequest(name="Mine")
    assert guardrail_plans.plan_first_update(SPACE, renaming, GENERIC, NOW).obstacles
    default = BoundBy([], [], SPACE)
    assert guardrail_plans.plan_update(guardrail(), renaming, default, GENERIC, NOW).obstacles
    assert not guardrail_plans.plan_update(guardrail(), renaming, NOTHING, GENERIC, NOW).obstacles


async def test_a_deletion_says_who_loses_protection() -> None:
    reach = BoundBy([on_key("ci")], [on_member("u1"), on_member("u2")], None, {"u1": "Ann"})
    plan = guardrail_plans.plan_delete(guardrail(), reach)
    assert plan.effects == (
        "Its protection ends at once for 1 key: “ci”.",
        "Its protection ends at once for 2 members: “Ann” and u2.",
        "This cannot be undone.",
    )
    assert plan.danger == "high"
    assert await sent(plan) == ("guardrails.delete", ID)
    unused = guardrail_plans.plan_delete(guardrail(), NOTHING)
    assert unused.effects[0] == "It is assigned to nothing."


# Values -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("dialect", [GENERIC, OPENROUTER])
def test_the_form_edits_what_the_dialect_has_and_never_the_deprecated_switch(
    dialect: Dialect,
) -> None:
    fields = fields_of(dialect).editable
    assert set(fields) <= set(UpdateGuardrailRequest.model_fields)
    assert "enforce_zdr" not in fields
    absent = dialect.absent_fields.get("UpdateGuardrailRequest", frozenset())
    assert set(UpdateGuardrailRequest.model_fields) - set(fields) == {"enforce_zdr", *absent}


def test_known_filters_compare_with_what_a_form_gives() -> None:
    known = guardrail_plans.known_values(guardrail(), GENERIC)
    mine = {
        "content_filter_builtins": [BuiltinFilterRequest(slug="email", action="redact")],
        "content_filters": [
            CustomFilterRequest(pattern="gw-[0-9]+", action="block", label="[KEY]"),
        ],
        "allowed_models": ["a/one", "b/two"],
        "description": None,
    }
    assert three_way(known, mine, known).fields == ()


async def test_filters_of_an_unknown_kind_survive_an_edit() -> None:
    fresh = guardrail(
        content_filter_builtins=[
            {"slug": "iban", "action": "encrypt", "scan_scope": "replies"},
            {"slug": "email", "action": "block"},
        ],
        content_filters=[{"pattern": "(?=x)", "action": "mask", "label": None}],
    )
    known = guardrail_plans.known_values(fresh, GENERIC)
    request = UpdateGuardrailRequest(
        content_filter_builtins=known["content_filter_builtins"],
        content_filters=known["content_filters"],
    )
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        plan = guardrail_plans.plan_update(fresh, request, NOTHING, GENERIC, NOW)
        assert await sent(plan) == (
            "guardrails.update",
            ID,
            {
                "content_filter_builtins": [
                    {"slug": "iban", "action": "encrypt", "scan_scope": "replies"},
                    {"slug": "email", "action": "block"},
                ],
                "content_filters": [{"pattern": "(?=x)", "action": "mask"}],
            },
        )


@pytest.mark.parametrize(
    "garbled",
    [
        {"content_filters": [{"pattern": "x", "action": "block"}, {"action": "block"}]},
        {"content_filters": [{"pattern": "x", "action": "block"}, "no filter"]},
        {"content_filters": 7},
    ],
)
def test_a_list_that_could_not_be_read_whole_is_unknown(garbled: dict[str, Any]) -> None:
    assert "content_filters" not in guardrail_plans.known_values(guardrail(**garbled), GENERIC)


@given(st.text(min_size=1, max_size=300))
def test_hostile_texts_stay_one_short_line(text: str) -> None:
    fresh = guardrail(
        name=text,
        allowed_models=[text],
        content_filters=[{"pattern": text, "action": text, "label": text}],
    )
    request = UpdateGuardrailRequest(name="x", allowed_models=["y/y"], content_filters=None)
    reach = BoundBy([on_key(text)], [on_member(text)], None, {})
    plan = guardrail_plans.plan_update(fresh, request, reach, GENERIC, NOW)
    for line in [plan.title, *plan.effects, *(change.before or "" for change in plan.changes)]:
        assert len(line) < 300
        assert line.isprintable()


# Assignments ------------------------------------------------------------------------------------


async def test_assigning_keys_says_what_it_replaces() -> None:
    current = [on_key("ci", OTHER), on_key("web", ID), on_key("else", OTHER)]
    plan = assignment_plans.plan_assign_keys(
        guardrail(), [key("ci"), key("web"), key("new")], current, NAMES
    )
    assert changes(plan) == {
        "“ci”": ("“Cheap”", "“PII”"),
        "“web”": ("“PII”", "“PII”"),
        "“new”": ("no guardrail", "“PII”"),
    }
    assert plan.effects == (
        "It replaces guardrail “Cheap” on key “ci”.",
        "It is assigned already to “web”.",
    )
    body = {"key_hashes": ["h-ci", "h-web", "h-new"]}
    assert await sent(plan) == ("guardrails.assign_keys", ID, body)


async def test_assigning_members_says_what_it_replaces() -> None:
    plan = assignment_plans.plan_assign_members(
        guardrail(), ["u1", "u2"], [on_member("u1", OTHER)], NAMES, {"u1": "Ann"}
    )
    assert plan.effects == ("It replaces guardrail “Cheap” on member “Ann”.",)
    body = {"member_user_ids": ["u1", "u2"]}
    assert await sent(plan) == ("guardrails.assign_members", ID, body)


def test_without_the_present_assignments_that_is_said() -> None:
    plan = assignment_plans.plan_assign_keys(guardrail(), [key("ci")], None, NAMES)
    assert changes(plan) == {"“ci”": ("—", "“PII”")}
    assert "could not be read" in plan.effects[0]


async def test_unassigning() -> None:
    keys = assignment_plans.plan_unassign_keys(guardrail(), [on_key("ci"), on_key("web")])
    assert keys.title == "Take guardrail “PII” from 2 keys"
    assert changes(keys)["“ci”"] == ("“PII”", "none")
    assert await sent(keys) == ("guardrails.unassign_keys", ID, {"key_hashes": ["h-ci", "h-web"]})
    members = assignment_plans.plan_unassign_members(guardrail(), [on_member("u1")], {"u1": "Ann"})
    assert changes(members) == {"“Ann”": ("“PII”", "none")}
    assert await sent(members) == ("guardrails.unassign_members", ID, {"member_user_ids": ["u1"]})


def test_a_crowd_is_counted() -> None:
    plan = assignment_plans.plan_assign_keys(
        guardrail(), [key(f"k{n}") for n in range(30)], [], NAMES
    )
    assert plan.title == "Assign guardrail “PII” to 30 keys"
    assert plan.changes[-1].after == "and 10 more"
