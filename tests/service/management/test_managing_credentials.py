"""Credentials, activity and who may do what, against the embedded gateway."""

from __future__ import annotations

import json
from decimal import Decimal

import pytest
from management_kit import CLOCK, NOBODY, SECRET, connected, id_of
from pydantic import SecretStr

from gwtui.client import errors
from gwtui.client.gateway import GatewayClient
from gwtui.contract.budgets import PutBudgetRequest
from gwtui.contract.byok import CreateByokRequest, UpdateByokRequest
from gwtui.contract.guardrails import CreateGuardrailRequest
from gwtui.contract.organization import ChangeMembersRequest
from gwtui.contract.usage import FeedbackRequest
from gwtui.contract.workspaces import CreateWorkspaceRequest, UpdateWorkspaceRequest
from seeded_gateways import open_gateway

# Credentials --------------------------------------------------------------------------------------


async def test_the_life_of_a_credential(client: GatewayClient) -> None:
    made = await client.byok.create(
        CreateByokRequest(
            provider="northwind", key=SecretStr(SECRET), name="main", allowed_models=[]
        )
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
    listed = await client.byok.list(provider="northwind")
    assert made.id in {one.id for one in listed.items}
    assert {one.provider for one in listed.items} == {"northwind"}
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
        CreateByokRequest(provider="northwind", key=SecretStr(SECRET), is_fallback=True)
    )
    with pytest.raises(errors.BadRequestError):
        await client.byok.update(id_of(made), UpdateByokRequest(is_byok_only=True))
    with pytest.raises(errors.BadRequestError):
        await client.byok.create(
            CreateByokRequest(
                provider="northwind", key=SecretStr(SECRET), allowed_api_key_hashes=["ab" * 32]
            )
        )


# Reading ------------------------------------------------------------------------------------------


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


# Who may ------------------------------------------------------------------------------------------


async def test_only_a_management_key_may_do_any_of_it() -> None:
    gateway = open_gateway(clock=CLOCK)
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
                client.byok.create(CreateByokRequest(provider="northwind", key=SecretStr(SECRET))),
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
