"""The client and the embedded gateway together, over a real unix socket."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_asyncio
from pydantic import SecretStr

from gwtui.client import errors
from gwtui.client.connection import Connection
from gwtui.client.gateway import GatewayClient
from gwtui.contract.dialects import OPENROUTER
from gwtui.contract.keys import CreateKeyRequest
from gwtui.embedded.gateway import EmbeddedGateway
from gwtui.embedded.hosting import host_on_socket


@pytest_asyncio.fixture
async def site(tmp_path: Path) -> AsyncIterator[tuple[EmbeddedGateway, Path]]:
    gateway = EmbeddedGateway.open(None)
    path = tmp_path / "gateway.sock"
    try:
        async with host_on_socket(gateway, path):
            yield gateway, path
    finally:
        gateway.close()


def client_with(token: str | None, path: Path) -> GatewayClient:
    secret = SecretStr(token) if token else None
    return GatewayClient(Connection("http://embedded", token=secret, socket_path=path))


async def test_every_read_keeps_the_contract(site: tuple[EmbeddedGateway, Path]) -> None:
    gateway, path = site
    async with client_with(gateway.issue_key(management=True), path) as client:
        credits = await client.credits.get()
        workspaces = await client.workspaces.list()
        models = await client.catalog.models()
        providers = await client.providers.list()
        assert workspaces.items[0].slug
        workspace = await client.workspaces.get(workspaces.items[0].slug)
        current = await client.keys.current()
        listings = [await client.keys.list(workspace_id=w.id) for w in workspaces.items]
        endpoints = await client.catalog.endpoints(models.items[0].id or "")
    keys = [key for listing in listings for key in listing.items]
    assert len(keys) >= 40
    assert all(listing.complete for listing in (workspaces, models, providers, *listings))
    read = [credits, workspace, current, endpoints, *workspaces.items, *models.items, *keys]
    assert [thing.gaps for thing in read if thing.gaps] == []
    assert endpoints.endpoints
    assert [endpoint.gaps for endpoint in endpoints.endpoints if endpoint.gaps] == []


async def test_a_gateway_that_goes_away_and_comes_back(tmp_path: Path) -> None:
    path = tmp_path / "gateway.sock"
    gateway = EmbeddedGateway.open(None)
    try:
        async with client_with(gateway.issue_key(management=True), path) as client:
            async with host_on_socket(gateway, path):
                before = await client.credits.get()
            with pytest.raises(errors.ConnectFailedError):
                await client.keys.create(CreateKeyRequest(name="n"))
            async with host_on_socket(gateway, path):
                after = await client.credits.get()
        assert before.total_credits == after.total_credits
    finally:
        gateway.close()


async def test_the_other_dialect_reads_the_same(tmp_path: Path) -> None:
    path = tmp_path / "gateway.sock"
    gateway = EmbeddedGateway.open(None, dialect=OPENROUTER)
    try:
        async with host_on_socket(gateway, path):
            token = SecretStr(gateway.issue_key(management=True))
            where = Connection("http://embedded", token, OPENROUTER, socket_path=path)
            async with GatewayClient(where) as client:
                models = await client.catalog.models()
                found = [await client.catalog.endpoints(model.id or "") for model in models.items]
        endpoints = [endpoint for model in found for endpoint in model.endpoints or []]
        tools = {name for endpoint in endpoints for name in endpoint.native_tools or {}}
        assert tools
        assert all(name.startswith("service:") for name in tools)
        assert token.get_secret_value().startswith("sk-or-v1-")
    finally:
        gateway.close()
