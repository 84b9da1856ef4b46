"""The plans of writes to workspaces, members, budgets and settings: what they say and send."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fake_clock import FakeClock
from gwtui.client.connection import Connection
from gwtui.client.gateway import GatewayClient
from gwtui.contract.budgets import Budget, PutBudgetRequest
from gwtui.contract.guardrails import Guardrail
from gwtui.contract.keys import ApiKey, is_active
from gwtui.contract.organization import (
    OrganizationMember,
    WorkspaceMember,
)
from gwtui.contract.workspaces import CreateWorkspaceRequest, UpdateWorkspaceRequest, Workspace
from gwtui.crud import plan_text as wording
from gwtui.crud.executor import WriteExecutor
from gwtui.crud.plan import Confirmation, Refused
from gwtui.local.ledger import Ledger
from gwtui.resources import budgets as budget_plans
from gwtui.resources import members as member_plans
from gwtui.resources.budgets import WorkspaceBudgets
from gwtui.resources.uses import WorkspaceContents
from plan_kit import changes, sent, workspace_plans

NOW = datetime(2026, 11, 21, 7, 0, tzinfo=UTC)
ID = "0b9f6f0e-3a0a-4a57-9f0e-5f1c2f6a7d10"


def workspace(**more: Any) -> Workspace:
    whole = {
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
        **more,
    }
    return Workspace.model_validate({k: v for k, v in whole.items() if v is not ...})


def key(name: str, user: str | None = None, **more: Any) -> ApiKey:
    return ApiKey.model_validate(
        {"hash": name * 8, "name": name, "disabled": False, "creator_user_id": user, **more}
    )


def budget(interval: str | None, limit: Any) -> Budget:
    return Budget.model_validate(
        {"id": f"b{interval}", "limit_usd": limit, "reset_interval": interval}
    )


# Workspaces -------------------------------------------------------------------------------------


async def test_a_creation_shows_what_is_given_and_what_is_stored() -> None:
    request = CreateWorkspaceRequest(
        name="Team",
        slug="team",
        is_observability_io_logging_enabled=True,
        io_logging_sampling_rate=Decimal("0.0001"),
        io_logging_api_key_ids=[3, 4],
    )
    plan = workspace_plans.plan_create(request)
    assert changes(plan) == {
        "Name": (None, "Team"),
        "Slug": (None, "team"),
        "Private I/O logging": (None, "on"),
        "Share logged": (None, "0.01%"),
        "Keys logged": (None, "3 and 4"),
    }
    assert plan.effects == ("Inputs and outputs of requests are stored from now on.",)
    assert await sent(plan) == ("workspaces.create", request.body())
    assert plan.identify is not None
    assert plan.identify(workspace()) == ID


async def test_an_update_names_only_what_changes() -> None:
    request = UpdateWorkspaceRequest(
        slug="lab", default_text_model=None, is_data_discount_logging_enabled=True
    )
    plan = workspace_plans.plan_update(workspace(), request)
    assert changes(plan) == {
        "Slug": ("research", "lab"),
        "Default text model": ("acme/m-1", "none: requests must name one"),
        "Data discount logging": ("off", "on"),
    }
    assert any("research" in effect for effect in plan.effects)
    assert any("discount" in effect for effect in plan.effects)
    assert await sent(plan) == ("workspaces.update", ID, request.body())
    assert plan.identity == ID


def test_what_the_gateway_garbled_is_unknown_and_not_compared() -> None:
    fresh = workspace(slug=7, io_logging_api_key_ids=[1, "x"])
    known = workspace_plans.known_values(fresh)
    assert "slug" not in known
    assert "io_logging_api_key_ids" not in known
    plan = workspace_plans.plan_update(fresh, UpdateWorkspaceRequest(slug="lab"))
    assert changes(plan) == {"Slug": ("—", "lab")}


async def test_active_keys_stand_in_the_way_of_a_deletion() -> None:
    keys = [key("ci"), key("old", disabled=True), key("late", expires_at="2026-11-21T06:59:59Z")]
    plan = workspace_plans.plan_delete(workspace(), WorkspaceContents(keys, [], []), NOW)
    assert plan.obstacles == ("1 active key must be moved, disabled or deleted first: “ci”.",)
    free = workspace_plans.plan_delete(workspace(), WorkspaceContents(keys[1:], [], []), NOW)
    assert free.obstacles == ()
    assert free.danger == "high"
    assert await sent(free) == ("workspaces.delete", ID, {"confirm_default": False})


async def test_a_deletion_says_what_goes_with_it() -> None:
    contents = WorkspaceContents(
        [],
        [budget("daily", 5), budget(None, 100)],
        [Guardrail.model_validate({"id": "g", "name": "PII"})],
    )
    plan = workspace_plans.plan_delete(workspace(), contents, NOW, is_default=True)
    said = "\n".join(plan.effects)
    assert "$5.00 daily and $100.00 lifetime" in said
    assert "“PII”" in said
    assert "default workspace" in said
    assert await sent(plan) == ("workspaces.delete", ID, {"confirm_default": True})
    unread = "\n".join(workspace_plans.plan_delete(workspace(), WorkspaceContents(), NOW).effects)
    assert unread.count("could not be read") == 5


@pytest.mark.parametrize(
    ("idle", "line"),
    [
        (0, ""),
        (1, "1 disabled or expired key is still in it."),
        (2, "2 disabled or expired keys are still in it."),
    ],
)
def test_keys_that_stay_in_a_deleted_workspace_are_counted(idle: int, line: str) -> None:
    keys = [key("ci"), *(key(f"old{number}", disabled=True) for number in range(idle))]
    plan = workspace_plans.plan_delete(workspace(), WorkspaceContents(keys, [], []), NOW)
    assert "".join(one for one in plan.effects if "still in it" in one) == line


@pytest.mark.parametrize(
    ("facts", "active"),
    [
        ({"disabled": False}, True),
        ({"disabled": True}, False),
        ({}, False),
        ({"disabled": False, "expires_at": "2026-11-21T07:00:00Z"}, False),
        ({"disabled": False, "expires_at": "2026-11-21T07:00:01Z"}, True),
    ],
)
def test_which_keys_are_active(facts: dict[str, Any], active: bool) -> None:
    assert is_active(ApiKey.model_validate(facts), NOW) is active


async def test_a_plan_with_an_obstacle_is_never_sent(tmp_path: Path) -> None:
    plan = workspace_plans.plan_delete(workspace(), WorkspaceContents([key("ci")]), NOW)
    async with GatewayClient(Connection("https://gateway.test")) as client:
        ledger = Ledger(tmp_path / "audit.jsonl")
        outcome = await WriteExecutor(client, ledger, FakeClock().clock).execute(
            Confirmation(plan, "dialog")
        )
    assert isinstance(outcome, Refused)
    assert "1 active key" in outcome.error.message
    assert outcome.error.effect == "none"
    assert [one.outcome for one in ledger.entries()] == ["refused"], "nothing was to be sent"


# Members ----------------------------------------------------------------------------------------


def person(user: str, first: str | None = None) -> OrganizationMember:
    return OrganizationMember.model_validate(
        {"id": user, "email": f"{user}@example.org", "first_name": first, "last_name": None}
    )


def member(user: str) -> WorkspaceMember:
    return WorkspaceMember.model_validate({"id": f"m-{user}", "user_id": user})


async def test_members_are_added_in_bulk() -> None:
    plan = member_plans.plan_add(workspace(), [person("u1", "Ann"), person("u2")], {"u2", "u3"})
    assert plan.title == "Add 2 members to workspace “Research”"
    assert [change.after for change in plan.changes] == ["“Ann”", "“u2@example.org”"]
    assert any("There already" in line and "u2@" in line for line in plan.effects)
    assert await sent(plan) == ("workspaces.add_members", ID, {"user_ids": ["u1", "u2"]})


async def test_members_with_active_keys_stay_and_are_named() -> None:
    keys = [key("ci", "u1"), key("off", "u2", disabled=True), key("nobody's")]
    names = {"u1": "Ann", "u2": "Bob"}
    plan = member_plans.plan_remove(workspace(), [member("u1"), member("u2")], keys, names, NOW)
    assert plan.obstacles == ()
    assert plan.effects[0] == "“Ann” cannot be removed: 1 active key here, “ci”."
    assert [change.after for change in plan.changes] == ["“Bob”"]
    assert await sent(plan) == ("workspaces.remove_members", ID, {"user_ids": ["u2"]})
    nobody = member_plans.plan_remove(workspace(), [member("u1")], keys, names, NOW)
    assert nobody.obstacles == ("“Ann” cannot be removed: 1 active key here, “ci”.",)


async def test_without_the_keys_nobody_is_left_out_and_that_is_said() -> None:
    plan = member_plans.plan_remove(workspace(), [member("u1")], None, {}, NOW)
    assert plan.obstacles == ()
    assert any("could not be read" in line for line in plan.effects)
    assert await sent(plan) == ("workspaces.remove_members", ID, {"user_ids": ["u1"]})


def test_more_members_than_one_request_takes_are_an_obstacle() -> None:
    crowd = [member(f"u{n}") for n in range(101)]
    plan = member_plans.plan_remove(workspace(), crowd, [], {}, NOW)
    assert plan.obstacles == ("One request takes at most 100 members, these are 101.",)
    assert plan.changes[-1].after == "and 81 more"
    assert member_plans.plan_remove(workspace(), crowd[:100], [], {}, NOW).obstacles == ()
    people = [person(f"u{n}") for n in range(101)]
    assert member_plans.plan_add(workspace(), people).obstacles
    assert not member_plans.plan_add(workspace(), people[1:]).obstacles


# Budgets ----------------------------------------------------------------------------------------


async def test_a_budget_is_set() -> None:
    request = PutBudgetRequest(limit_usd=Decimal(40), include_byok_in_budgets=True)
    plan = budget_plans.plan_put(
        workspace(), "weekly", request, [budget("daily", 10), budget("weekly", 30)], NOW
    )
    assert changes(plan) == {"Weekly budget": ("$30.00", "$40.00"), "BYOK counts": ("no", "yes")}
    assert any("Monday 2026-11-23 00:00 UTC" in line for line in plan.effects)
    assert plan.obstacles == ()
    assert await sent(plan) == ("workspaces.put_budget", ID, "weekly", request.body())


@pytest.mark.parametrize(
    ("interval", "limit", "conflict"),
    [
        ("daily", 30, "The daily budget (30 USD) must be less than the weekly budget (30 USD)."),
        (
            "monthly",
            20,
            "The weekly budget (30 USD) must be less than the monthly budget (20 USD).",
        ),
        (
            "lifetime",
            30,
            "The weekly budget (30 USD) must be less than the lifetime budget (30 USD).",
        ),
        ("weekly", 5, "The daily budget (10 USD) must be less than the weekly budget (5 USD)."),
        ("monthly", "30.01", None),
        ("daily", "29.99", None),
    ],
)
def test_a_budget_that_cannot_stand_beside_the_others(
    interval: Any, limit: Any, conflict: str | None
) -> None:
    present = [budget("daily", 10), budget("weekly", 30)]
    request = PutBudgetRequest(limit_usd=Decimal(limit))
    plan = budget_plans.plan_put(workspace(), interval, request, present, NOW)
    assert plan.obstacles == (() if conflict is None else (conflict,))


async def test_a_budget_is_taken_away() -> None:
    present = [budget("daily", 10), budget(None, 30)]
    plan = budget_plans.plan_delete(workspace(), "daily", present)
    assert changes(plan) == {"Daily budget": ("$10.00", "none")}
    assert plan.effects == ("The workspace stays bound by $30.00 lifetime.",)
    assert await sent(plan) == ("workspaces.delete_budget", ID, "daily")
    last = budget_plans.plan_delete(workspace(), "daily", present[:1])
    assert "No budget is left" in last.effects[0]


@pytest.mark.parametrize(
    ("limit", "warned"),
    [
        (99, ()),
        (100, ("Daily budget grows tenfold or more, from $10.00 to $100.00.",)),
        (None, ("Daily budget is taken away; it was $10.00.",)),
    ],
)
def test_a_budget_that_grows_tenfold_is_warned_of(
    limit: int | None, warned: tuple[str, ...]
) -> None:
    budgets = WorkspaceBudgets(workspace(), [budget("daily", 10), budget("monthly", 500)])
    changed = {"daily": None if limit is None else Decimal(limit)}
    assert budgets.plan(changed, NOW).warnings == warned


# Settings, wording ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("number", "text"),
    [
        (0, ""),
        (1, "n0"),
        (2, "n0 and n1"),
        (5, "n0, n1, n2, n3 and n4"),
        (6, "n0, n1, n2, n3 and 2 more"),
    ],
)
def test_names_in_a_sentence(number: int, text: str) -> None:
    assert wording.several([f"n{n}" for n in range(number)]) == text


@given(st.text(max_size=300), st.text(max_size=300))
def test_hostile_names_stay_one_short_line(name: str, slug: str) -> None:
    space = workspace(name=name, slug=slug, description=name)
    plan = workspace_plans.plan_update(space, UpdateWorkspaceRequest(slug="x", description=None))
    lines = [plan.title, *plan.effects, *(change.before or "" for change in plan.changes)]
    for line in lines:
        assert len(line) < 300
        assert line.isprintable()


def test_a_reset_is_told_from_the_given_moment() -> None:
    later = NOW + timedelta(days=30)
    request = PutBudgetRequest(limit_usd=Decimal(1))
    plan = budget_plans.plan_put(workspace(), "monthly", request, [], later)
    assert any("2027-01-01" in line for line in plan.effects)
