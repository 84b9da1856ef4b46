"""Every management operation against the embedded gateway, in both dialects: done and refused."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

import httpx
import pytest
import pytest_asyncio
from pydantic import SecretStr

from gwtui.actions import assignment_plans, budget_plans, member_plans, workspace_plans
from gwtui.actions.plan import Plan
from gwtui.actions.workspace_plans import WorkspaceContents
from gwtui.client import errors
from gwtui.client.call import Answer, Call, Caller
from gwtui.client.connection import Connection
from gwtui.client.gateway import GatewayClient
from gwtui.client.guardrails import GuardrailsService
from gwtui.client.transport import Transport
from gwtui.contract.activity import FeedbackRequest
from gwtui.contract.budgets import PutBudgetRequest
from gwtui.contract.byok import CreateByokRequest, UpdateByokRequest
from gwtui.contract.content_filters import BuiltinFilterRequest, CustomFilterRequest
from gwtui.contract.dialects import DIALECTS, GENERIC, Dialect
from gwtui.contract.guardrails import (
    AssignKeysRequest,
    AssignMembersRequest,
    CreateGuardrailRequest,
    UpdateGuardrailRequest,
)
from gwtui.contract.keys import ApiKey, CreateKeyRequest
from gwtui.contract.members import ChangeMembersRequest
from gwtui.contract.organization import UpdateOrganizationSettingsRequest
from gwtui.contract.workspaces import CreateWorkspaceRequest, UpdateWorkspaceRequest, Workspace
from gwtui.domain.clock import SYSTEM_CLOCK
from gwtui.embedded.gateway import EmbeddedGateway

NOBODY = "0b9f6f0e-3a0a-4a57-9f0e-5f1c2f6a7d10"
SECRET = "sk-SENTINEL-provider-key"


@pytest_asyncio.fixture(params=list(DIALECTS.values()), ids=list(DIALECTS))
async def client(request: pytest.FixtureRequest) -> AsyncIterator[GatewayClient]:
    """A client with a management key on a fresh gateway that speaks its dialect."""
    gateway = EmbeddedGateway.open(None, dialect=request.param)
    try:
        async with connected(gateway, request.param) as one:
            yield one
    finally:
        gateway.close()


def connected(
    gateway: EmbeddedGateway, dialect: Dialect = GENERIC, *, management: bool = True
) -> GatewayClient:
    token = SecretStr(gateway.issue_key(management=management))
    where = Connection("http://localhost", token=token, dialect=dialect)
    return GatewayClient(where, transport=Transport(where, http=httpx.ASGITransport(gateway.asgi)))


async def team(client: GatewayClient, slug: str = "team-a") -> Workspace:
    return await client.workspaces.create(CreateWorkspaceRequest(name="Team A", slug=slug))


def id_of(thing: Any) -> str:
    assert thing.id
    return str(thing.id)


async def fresh_keys(
    client: GatewayClient, number: int, workspace: str | None = None
) -> list[ApiKey]:
    where = {"workspace_id": workspace} if workspace else {}
    created = [
        await client.keys.create(CreateKeyRequest(name=f"key {n}", **where)) for n in range(number)
    ]
    return [one.data for one in created if one.data is not None]


async def carried_out(client: GatewayClient, plan: Plan[Any]) -> Any:
    assert plan.obstacles == ()
    return await plan.send(client)


# Workspaces -------------------------------------------------------------------------------------


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
    now = SYSTEM_CLOCK.now()
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


# Members and organization -----------------------------------------------------------------------


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
    gone = await carried_out(
        client, member_plans.plan_remove(made, members, keys, {}, SYSTEM_CLOCK.now())
    )
    assert gone.removed_count == len(members)
    assert (await client.workspaces.members("team-a")).items == ()


async def test_strangers_are_not_added(client: GatewayClient) -> None:
    await team(client)
    with pytest.raises(errors.BadRequestError):
        await client.workspaces.add_members("team-a", ChangeMembersRequest(user_ids=["nobody"]))


async def test_a_member_with_an_active_key_stays(client: GatewayClient) -> None:
    """The plan leaves out exactly those whom the gateway would refuse to remove."""
    spaces = (await client.workspaces.list()).items
    now = SYSTEM_CLOCK.now()
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


# Budgets ----------------------------------------------------------------------------------------


async def test_the_life_of_budgets(client: GatewayClient) -> None:
    made = await team(client)
    now = SYSTEM_CLOCK.now()
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
    plan = budget_plans.plan_put(made, interval, request, present, SYSTEM_CLOCK.now())
    assert plan.obstacles
    with pytest.raises(errors.BadRequestError, match="less than"):
        await plan.send(client)


# Guardrails -------------------------------------------------------------------------------------


async def test_the_life_of_a_guardrail(client: GatewayClient) -> None:
    space = (await client.workspaces.list()).items[1]
    made = await client.guardrails.create(
        CreateGuardrailRequest(
            name="PII",
            workspace_id=id_of(space),
            limit_usd=Decimal("12.5"),
            reset_interval="weekly",
            ignored_providers=["nobody"],
            enforce_zdr_vendor_a=True,
            enforce_zdr_other=False,
            content_filter_builtins=[
                BuiltinFilterRequest(slug="email", action="redact"),
                BuiltinFilterRequest(slug="regex-prompt-injection", action="flag"),
            ],
            content_filters=[CustomFilterRequest(pattern="gw-[0-9]+", action="block")],
        )
    )
    assert made.gaps == {}
    assert (made.limit_usd, made.enforce_zdr_vendor_a, made.updated_at) == (
        Decimal("12.5"),
        True,
        None,
    )
    builtins = {one.slug: one.label for one in made.content_filter_builtins or ()}
    assert builtins["email"] == "[EMAIL]"
    changed = await client.guardrails.update(
        id_of(made), UpdateGuardrailRequest(ignored_providers=None, enforce_zdr_other=None)
    )
    assert (changed.ignored_providers, changed.enforce_zdr_other) == (None, None)
    assert (changed.enforce_zdr_vendor_a, changed.limit_usd) == (True, Decimal("12.5"))
    assert changed.updated_at is not None
    read = await client.guardrails.get(id_of(made))
    assert read.raw == changed.raw
    listed = await client.guardrails.list(workspace_id=id_of(space))
    assert made.id in {one.id for one in listed.items}
    await client.guardrails.delete(id_of(made))
    for again in (client.guardrails.get(id_of(made)), client.guardrails.delete(id_of(made))):
        with pytest.raises(errors.NotFoundError):
            await again


async def test_a_default_guardrail_appears_with_its_first_update(client: GatewayClient) -> None:
    space = await team(client)
    identity = space.default_guardrail_id or ""
    with pytest.raises(errors.NotFoundError):
        await client.guardrails.get(identity)
    made = await client.guardrails.update(identity, UpdateGuardrailRequest(enforce_zdr_other=True))
    assert made.id == identity
    assert id_of(space) in (made.name or "")
    assert (await client.guardrails.get(identity)).enforce_zdr_other is True
    with pytest.raises(errors.BadRequestError, match="name"):
        await client.guardrails.update(identity, UpdateGuardrailRequest(name="Mine"))


async def test_what_the_dialect_forbids_the_gateway_refuses_too(client: GatewayClient) -> None:
    flags = [BuiltinFilterRequest(slug="email", action="flag")]
    request = CreateGuardrailRequest(name="x", content_filter_builtins=flags)
    if client.connection.dialect is GENERIC:
        with pytest.raises(errors.InvalidRequestError):
            await client.guardrails.create(request)
    else:
        made = await client.guardrails.create(request)
        assert [one.action for one in made.content_filter_builtins or ()] == ["flag"]


async def test_assigning_replaces(client: GatewayClient) -> None:
    first = await client.guardrails.create(CreateGuardrailRequest(name="First"))
    second = await client.guardrails.create(CreateGuardrailRequest(name="Second"))
    keys = await fresh_keys(client, 2)
    names = {id_of(first): "First", id_of(second): "Second"}
    everywhere = await client.guardrails.key_assignments(None)
    plan = assignment_plans.plan_assign_keys(first, keys, everywhere.items, names)
    assert await carried_out(client, plan) == 2
    everywhere = await client.guardrails.key_assignments(None)
    assert [one.gaps for one in everywhere.items if one.gaps] == []
    plan = assignment_plans.plan_assign_keys(second, keys[:1], everywhere.items, names)
    assert plan.effects == ("It replaces guardrail “First” on key “key 0”.",)
    assert await carried_out(client, plan) == 1
    left = (await client.guardrails.key_assignments(id_of(first))).items
    assert [one.key_hash for one in left] == [keys[1].hash]
    assert await carried_out(client, assignment_plans.plan_unassign_keys(first, left)) == 1
    assert (await client.guardrails.key_assignments(id_of(first))).items == ()
    both = AssignKeysRequest(key_hashes=[key.hash or "" for key in keys])
    assert await client.guardrails.unassign_keys(id_of(second), both) == 1


async def test_members_hold_one_guardrail_each(client: GatewayClient) -> None:
    first = await client.guardrails.create(CreateGuardrailRequest(name="First"))
    second = await client.guardrails.create(CreateGuardrailRequest(name="Second"))
    users = [id_of(one) for one in (await client.organization.members()).items[:2]]
    request = AssignMembersRequest(member_user_ids=users)
    assert await client.guardrails.assign_members(id_of(first), request) == 2
    everywhere = (await client.guardrails.member_assignments(None)).items
    names = {id_of(first): "First", id_of(second): "Second"}
    plan = assignment_plans.plan_assign_members(second, users[:1], everywhere, names, {})
    assert "“First”" in plan.effects[0]
    assert await carried_out(client, plan) == 1
    left = (await client.guardrails.member_assignments(id_of(first))).items
    assert [one.user_id for one in left] == users[1:]
    assert await carried_out(client, assignment_plans.plan_unassign_members(first, left, {})) == 1


async def test_who_does_not_exist_gets_no_guardrail(client: GatewayClient) -> None:
    made = await client.guardrails.create(CreateGuardrailRequest(name="First"))
    keys = AssignKeysRequest(key_hashes=["ab" * 32])
    people = AssignMembersRequest(member_user_ids=["nobody"])
    for act in (
        client.guardrails.assign_keys(id_of(made), keys),
        client.guardrails.assign_members(id_of(made), people),
    ):
        with pytest.raises((errors.BadRequestError, errors.NotFoundError)):
            await act
    with pytest.raises(errors.NotFoundError):
        await client.guardrails.assign_keys(NOBODY, keys)
    assert (await client.guardrails.key_assignments(id_of(made))).items == ()


@dataclass
class Meddled:
    """A caller; somebody else acts after each of its calls."""

    caller: Caller
    meddle: Callable[[], Awaitable[None]]

    async def call(self, call: Call) -> Answer:
        answer = await self.caller.call(call)
        await self.meddle()
        return answer


async def test_a_long_list_is_whole_while_rows_come_and_go(client: GatewayClient) -> None:
    for number in range(260):
        await client.guardrails.create(CreateGuardrailRequest(name=f"{number}"))
    everyone = [id_of(one) for one in (await client.guardrails.list()).items]
    going = everyone[:90:2]
    staying = set(everyone) - set(going)

    async def meddle() -> None:
        """Delete rows of the pages that were read, add some: what follows shifts."""
        for _ in range(min(15, len(going))):
            await client.guardrails.delete(going.pop())
        for _ in range(4):
            await client.guardrails.create(CreateGuardrailRequest(name="late"))

    meddled = Meddled(client.guardrails._caller, meddle)
    listing = await GuardrailsService(meddled, client.connection.dialect).list()
    read = [id_of(one) for one in listing.items]
    assert len(read) == len(set(read))
    assert staying <= set(read)
    assert going == []


# Credentials ------------------------------------------------------------------------------------


async def test_the_life_of_a_credential(client: GatewayClient) -> None:
    made = await client.byok.create(
        CreateByokRequest(provider="openai", key=SecretStr(SECRET), name="main", allowed_models=[])
    )
    assert made.gaps == {}
    assert (made.disabled, made.is_fallback, made.allowed_models) == (False, False, [])
    rotated = await client.byok.update(
        id_of(made), UpdateByokRequest(key=SecretStr("sk-another-provider-KEY"))
    )
    assert rotated.label != made.label
    for one in (made, rotated):
        assert "SENTINEL" not in json.dumps(dict(one.raw), default=str)
    off = await client.byok.update(
        id_of(made), UpdateByokRequest(disabled=True, allowed_models=None, is_fallback=True)
    )
    assert (off.disabled, off.allowed_models, off.is_fallback, off.name) == (
        True,
        None,
        True,
        "main",
    )
    assert (await client.byok.get(id_of(made))).raw == off.raw
    listed = await client.byok.list(provider="openai")
    assert made.id in {one.id for one in listed.items}
    assert {one.provider for one in listed.items} == {"openai"}
    await client.byok.delete(id_of(made))
    for again in (
        client.byok.get(id_of(made)),
        client.byok.delete(id_of(made)),
        client.byok.update(id_of(made), UpdateByokRequest(disabled=False)),
    ):
        with pytest.raises(errors.NotFoundError):
            await again


async def test_a_credential_s_roles_agree_over_two_requests(client: GatewayClient) -> None:
    made = await client.byok.create(
        CreateByokRequest(provider="openai", key=SecretStr(SECRET), is_fallback=True)
    )
    with pytest.raises(errors.BadRequestError):
        await client.byok.update(id_of(made), UpdateByokRequest(is_byok_only=True))
    with pytest.raises(errors.BadRequestError):
        await client.byok.create(
            CreateByokRequest(
                provider="openai", key=SecretStr(SECRET), allowed_api_key_hashes=["ab" * 32]
            )
        )


# Reading ----------------------------------------------------------------------------------------


async def test_activity_is_grouped_and_narrowed(client: GatewayClient) -> None:
    listing = await client.activity.list()
    assert [one.gaps for one in listing.items if one.gaps] == []
    grouped = await client.activity.list(by_workspace=True)
    spaces = {one.workspace_id for one in grouped.items}
    assert len(spaces) > 1
    assert sum(one.requests or 0 for one in grouped.items) == sum(
        one.requests or 0 for one in listing.items
    )
    day = listing.items[0].date or ""
    assert {one.date for one in (await client.activity.list(date=day)).items} == {day}
    for wrong in ("2020-01-01", "yesterday"):
        with pytest.raises(errors.BadRequestError):
            await client.activity.list(date=wrong)


async def test_what_remains_in_the_catalog(client: GatewayClient) -> None:
    zdr = await client.catalog.zdr_endpoints()
    assert zdr.items
    assert [one.gaps for one in zdr.items if one.gaps] == []
    assert (await client.catalog.user_models()).items


async def test_one_model_and_how_many_there_are(client: GatewayClient) -> None:
    listed = (await client.catalog.models()).items
    assert await client.catalog.count() == len(listed)
    assert await client.catalog.count(output_modalities="text") < len(listed)
    variant = next(one for one in listed if one.id and one.id.endswith(":free"))
    assert await client.catalog.model(variant.id or "") == variant
    with pytest.raises(errors.NotFoundError):
        await client.catalog.model("northwind/nothing")


async def test_a_generation_that_does_not_exist(client: GatewayClient) -> None:
    unknown = FeedbackRequest(generation_id="gen-nobody", category="other")
    for act in (
        client.generations.get("gen-nobody"),
        client.generations.content("gen-nobody"),
        client.generations.give_feedback(unknown),
    ):
        with pytest.raises(errors.NotFoundError):
            await act


# Who may ----------------------------------------------------------------------------------------


async def test_only_a_management_key_may_do_any_of_it() -> None:
    gateway = EmbeddedGateway.open(None)
    try:
        async with connected(gateway, management=False) as client:
            for act in (
                client.workspaces.list(),
                client.workspaces.create(CreateWorkspaceRequest(name="x", slug="x")),
                client.workspaces.members("default"),
                client.workspaces.put_budget(
                    "default", "daily", PutBudgetRequest(limit_usd=Decimal(1))
                ),
                client.organization.members(),
                client.guardrails.list(),
                client.guardrails.create(CreateGuardrailRequest(name="x")),
                client.guardrails.key_assignments(None),
                client.byok.list(),
                client.byok.create(CreateByokRequest(provider="openai", key=SecretStr(SECRET))),
                client.activity.list(),
            ):
                with pytest.raises(errors.ForbiddenError, match="Only management keys"):
                    await act
    finally:
        gateway.close()


@pytest.mark.parametrize("where", [NOBODY, "no-such-workspace"])
async def test_nothing_is_found_in_a_workspace_that_does_not_exist(
    client: GatewayClient, where: str
) -> None:
    users = ChangeMembersRequest(user_ids=["user_1"])
    for act in (
        client.workspaces.get(where),
        client.workspaces.update(where, UpdateWorkspaceRequest(name="x")),
        client.workspaces.delete(where),
        client.workspaces.members(where),
        client.workspaces.add_members(where, users),
        client.workspaces.remove_members(where, users),
        client.workspaces.budgets(where),
        client.workspaces.put_budget(where, "daily", PutBudgetRequest(limit_usd=Decimal(1))),
        client.workspaces.delete_budget(where, "daily"),
    ):
        with pytest.raises(errors.NotFoundError):
            await act
