"""A client with a management key on a gateway, and what tests of operations do first."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import httpx
from pydantic import SecretStr

from gwtui.client.connection import Connection
from gwtui.client.gateway import GatewayClient
from gwtui.client.transport import Transport
from gwtui.contract.dialects import GENERIC, Dialect
from gwtui.contract.keys import ApiKey, CreateKeyRequest
from gwtui.contract.workspaces import CreateWorkspaceRequest, Workspace
from gwtui.crud.plan import Plan
from gwtui.domain.clock import Clock
from gwtui.embedded.gateway import EmbeddedGateway

NOBODY = "0b9f6f0e-3a0a-4a57-9f0e-5f1c2f6a7d10"
SECRET = "sk-SENTINEL-provider-key"
CLOCK = Clock(now=lambda: datetime(2026, 11, 21, 7, 0, tzinfo=UTC))
"""The gateway's."""


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
