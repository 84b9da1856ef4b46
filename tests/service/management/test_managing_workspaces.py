"""Workspaces, members, budgets and the organization at the embedded gateway: done and refused."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import pytest
from management_kit import CLOCK, carried_out, fresh_keys, id_of, team

from gwtui.client import errors
from gwtui.client.gateway import GatewayClient
from gwtui.contract.budgets import PutBudgetRequest
from gwtui.contract.organization import ChangeMembersRequest, UpdateOrganizationSettingsRequest
from gwtui.contract.workspaces import CreateWorkspaceRequest, UpdateWorkspaceRequest
from gwtui.resources import budgets as budget_plans
from gwtui.resources import members as member_plans
from gwtui.resources.uses import WorkspaceContents
from plan_kit import workspace_plans

# Workspaces ---------------------------------------------------------------------------------------


async def test_the_life_of_a_workspace(client: GatewayClient) -> None:
    made = await client.workspaces.create(
        CreateWorkspaceRequest(
            name="Team A",
            slug="team-a",
            description="all",
            default_provider_sort="exacto",
            io_logging_sampling_rate=Decimal("0.0001"),
            io_logging_api_key_ids=[1, 2],
            disabled_server_tools=["service:bash"],
        )
    )
    assert made.gaps == {}
    assert made.updated_at is None
    assert (made.io_logging_sampling_rate, made.disabled_server_tools) == (
        Decimal("0.0001"),
        ["service:bash"],
    )
    changed = await client.workspaces.update(
        "team-a", UpdateWorkspaceRequest(slug="team-b", description=None)
    )
    assert (changed.slug, changed.description, changed.name) == ("team-b", None, "Team A")
    assert changed.updated_at is not None
    assert (await client.workspaces.get("team-b")).id == made.id
    with pytest.raises(errors.NotFoundError):
        await client.workspaces.get("team-a")
    assert made.id in {one.id for one in (await client.workspaces.list()).items}
    await client.workspaces.delete("team-b")
    with pytest.raises(errors.NotFoundError):
        await client.workspaces.delete(id_of(made))


async def test_two_workspaces_never_share_a_slug(client: GatewayClient) -> None:
    await team(client)
    other = await team(client, "team-b")
    with pytest.raises(errors.BadRequestError, match="slug"):
        await team(client)
    with pytest.raises(errors.BadRequestError, match="slug"):
        await client.workspaces.update(id_of(other), UpdateWorkspaceRequest(slug="team-a"))
    same = await client.workspaces.update("team-b", UpdateWorkspaceRequest(slug="team-b"))
    assert same.slug == "team-b"


async def test_a_workspace_with_active_keys_stays(client: GatewayClient) -> None:
    made = await team(client)
    (key,) = await fresh_keys(client, 1, id_of(made))
    now = CLOCK.now()
    plan = workspace_plans.plan_delete(made, WorkspaceContents([key], [], []), now)
    assert plan.obstacles
    with pytest.raises(errors.BadRequestError, match="key"):
        await plan.send(client)
    await client.keys.delete(key.hash or "")
    rest = (await client.keys.list(workspace_id=id_of(made))).items
    await carried_out(
        client, workspace_plans.plan_delete(made, WorkspaceContents(rest, [], []), now)
    )


async def test_the_default_workspace_goes_only_when_that_is_meant(client: GatewayClient) -> None:
    for key in (await client.keys.list(workspace_id=None)).items:
        await client.keys.delete(key.hash or "")
    with pytest.raises(errors.BadRequestError):
        await client.workspaces.delete("default")
    await client.workspaces.delete("default", confirm_default=True)
    with pytest.raises(errors.BadRequestError):
        await client.guardrails.list()


# Members and organization -------------------------------------------------------------------------


async def test_members_come_and_go(client: GatewayClient) -> None:
    made = await team(client)
    people = (await client.organization.members()).items
    assert [one.gaps for one in people if one.gaps] == []
    before = {one.user_id for one in (await client.workspaces.members(id_of(made))).items}
    added = await carried_out(client, member_plans.plan_add(made, people[:3]))
    assert added.added_count == 3
    members = (await client.workspaces.members("team-a")).items
    assert {one.user_id for one in members} == before | {one.id for one in people[:3]}
    assert [one.gaps for one in members if one.gaps] == []
    roles = {one.user_id: one.role for one in members}
    assert all((roles[id_of(p)] == "admin") == (p.role == "org:admin") for p in people[:3])
    again = await client.workspaces.add_members(
        "team-a", ChangeMembersRequest(user_ids=[id_of(people[0])])
    )
    assert again.added_count == 1
    keys = (await client.keys.list(workspace_id=id_of(made))).items
    gone = await carried_out(client, member_plans.plan_remove(made, members, keys, {}, CLOCK.now()))
    assert gone.removed_count == len(members)
    assert (await client.workspaces.members("team-a")).items == ()


async def test_strangers_are_not_added(client: GatewayClient) -> None:
    await team(client)
    with pytest.raises(errors.BadRequestError):
        await client.workspaces.add_members("team-a", ChangeMembersRequest(user_ids=["nobody"]))


async def test_a_member_with_an_active_key_stays(client: GatewayClient) -> None:
    """The plan leaves out exactly those whom the gateway would refuse to remove."""
    spaces = (await client.workspaces.list()).items
    now = CLOCK.now()
    seen = set()
    for space in spaces[1:]:
        members = (await client.workspaces.members(id_of(space))).items
        keys = (await client.keys.list(workspace_id=id_of(space))).items
        plans = [member_plans.plan_remove(space, [one], keys, {}, now) for one in members]
        for one, plan in zip(members, plans, strict=True):
            request = ChangeMembersRequest(user_ids=[one.user_id or ""])
            seen.add(bool(plan.obstacles))
            if plan.obstacles:
                with pytest.raises((errors.BadRequestError, errors.ForbiddenError), match="key"):
                    await client.workspaces.remove_members(id_of(space), request)
            else:
                assert (await plan.send(client)).removed_count == 1
    assert seen == {True, False}


async def test_the_settings_of_the_organization(client: GatewayClient) -> None:
    before = await client.organization.settings()
    assert before.gaps == {}
    wish = not before.is_filtered_model_catalog_enabled
    request = UpdateOrganizationSettingsRequest(is_filtered_model_catalog_enabled=wish)
    await client.organization.update_settings(request)
    assert (await client.organization.settings()).is_filtered_model_catalog_enabled is wish


# Budgets ------------------------------------------------------------------------------------------


async def test_the_life_of_budgets(client: GatewayClient) -> None:
    made = await team(client)
    now = CLOCK.now()
    for interval, limit in (("monthly", "100.5"), ("lifetime", "1000"), ("daily", "5")):
        present = (await client.workspaces.budgets("team-a")).items
        request = PutBudgetRequest(limit_usd=Decimal(limit), include_byok_in_budgets=True)
        plan = budget_plans.plan_put(made, interval, request, present, now)  # type: ignore[arg-type]
        assert (await carried_out(client, plan)).limit_usd == Decimal(limit)
    budgets = (await client.workspaces.budgets(id_of(made))).items
    assert [one.gaps for one in budgets if one.gaps] == []
    assert {one.interval for one in budgets} == {"daily", "monthly", "lifetime"}
    assert (await client.workspaces.get("team-a")).include_byok_in_budgets is True
    assert (await client.workspaces.budget("team-a", "lifetime")).reset_interval is None
    await carried_out(client, budget_plans.plan_delete(made, "monthly", budgets))
    with pytest.raises(errors.NotFoundError):
        await client.workspaces.budget("team-a", "monthly")
    await client.workspaces.delete_budget("team-a", "monthly")


@pytest.mark.parametrize(
    ("interval", "limit"),
    [("daily", 20), ("weekly", 10), ("weekly", 50), ("monthly", 20), ("lifetime", 20)],
)
async def test_a_plan_foresees_what_the_gateway_refuses(
    client: GatewayClient, interval: Any, limit: int
) -> None:
    made = await team(client)
    for name, amount in (("daily", 10), ("weekly", 20), ("monthly", 50)):
        request = PutBudgetRequest(limit_usd=Decimal(amount))
        await client.workspaces.put_budget("team-a", name, request)
    present = (await client.workspaces.budgets("team-a")).items
    request = PutBudgetRequest(limit_usd=Decimal(limit))
    plan = budget_plans.plan_put(made, interval, request, present, CLOCK.now())
    assert plan.obstacles
    with pytest.raises(errors.BadRequestError, match="less than"):
        await plan.send(client)
