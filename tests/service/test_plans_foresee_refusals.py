"""A plan has an obstacle exactly if the gateway refuses the write."""

from __future__ import annotations

from collections.abc import AsyncIterator

import httpx
import pytest
import pytest_asyncio
from pydantic import SecretStr

from gwtui.client import errors
from gwtui.client.connection import Connection
from gwtui.client.gateway import GatewayClient
from gwtui.client.transport import Transport
from gwtui.contract.organization import ChangeMembersRequest
from gwtui.domain.clock import Clock
from gwtui.resources import members as member_plans
from gwtui.resources.uses import WorkspaceContents
from gwtui.resources.workspaces import WRITES as WORKSPACE_WRITES
from gwtui.resources.workspaces import WorkspaceSurroundings
from seeded_gateways import open_gateway
from writes_kit import AT, NOW


@pytest_asyncio.fixture
async def client() -> AsyncIterator[GatewayClient]:
    gateway = open_gateway(clock=Clock(now=lambda: NOW))
    try:
        token = SecretStr(gateway.issue_key(management=True))
        where = Connection("http://localhost", token=token)
        transport = Transport(where, http=httpx.ASGITransport(gateway.asgi))
        async with GatewayClient(where, transport=transport) as client:
            yield client
    finally:
        gateway.close()


async def test_a_workspace_with_active_keys_stays(client: GatewayClient) -> None:
    space = (await client.workspaces.list()).items[1]
    keys = (await client.keys.list(workspace_id=space.id)).items
    plan = WORKSPACE_WRITES.plan_delete(
        space, AT, WorkspaceSurroundings(WorkspaceContents(keys, [], []))
    )
    assert plan.obstacles
    with pytest.raises(errors.BadRequestError, match="key"):
        await plan.send(client)
    for key in keys:
        await client.keys.delete(key.hash or "")
    plan = WORKSPACE_WRITES.plan_delete(
        space, AT, WorkspaceSurroundings(WorkspaceContents([], [], []))
    )
    assert not plan.obstacles
    await plan.send(client)


async def test_a_member_with_an_active_key_stays(client: GatewayClient) -> None:
    outcomes = set()
    for space in (await client.workspaces.list()).items[1:]:
        members = (await client.workspaces.members(space.id or "")).items
        keys = (await client.keys.list(workspace_id=space.id)).items
        plans = [member_plans.plan_remove(space, [member], keys, {}, NOW) for member in members]
        for member, plan in zip(members, plans, strict=True):
            request = ChangeMembersRequest(user_ids=[member.user_id or ""])
            outcomes.add(bool(plan.obstacles))
            if plan.obstacles:
                with pytest.raises((errors.BadRequestError, errors.ForbiddenError), match="key"):
                    await client.workspaces.remove_members(space.id or "", request)
            else:
                assert (await plan.send(client)).removed_count == 1
    assert outcomes == {True, False}
