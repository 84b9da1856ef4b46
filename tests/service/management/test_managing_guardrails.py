"""Guardrails and their assignments against the embedded gateway: done and refused."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from decimal import Decimal

import pytest
from management_kit import NOBODY, carried_out, fresh_keys, id_of, team

from gwtui.client import errors
from gwtui.client.call import Answer, Call, Caller
from gwtui.client.gateway import GatewayClient
from gwtui.client.services import GuardrailsService
from gwtui.contract.content_filters import BuiltinFilterRequest, CustomFilterRequest
from gwtui.contract.dialects import GENERIC
from gwtui.contract.guardrails import (
    AssignKeysRequest,
    AssignMembersRequest,
    CreateGuardrailRequest,
    UpdateGuardrailRequest,
)
from plan_kit import assignment_plans


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


@dataclass(eq=False)
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

    meddled = Meddled(client.guardrails.caller, meddle)
    listing = await GuardrailsService(meddled, client.connection.dialect).list()
    read = [id_of(one) for one in listing.items]
    assert len(read) == len(set(read))
    assert staying <= set(read)
    assert going == []
