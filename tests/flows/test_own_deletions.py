"""What is deleted here is told once; what somebody else deletes is told by the list."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest

from gwtui.client.gateway import GatewayClient
from gwtui.contract.keys import CreateKeyRequest
from gwtui.ui.forms.confirm import ConfirmScreen
from harness import Harness, dashboard, harness, listing, notices, until

GONE = "no longer in the list"


@asynccontextmanager
async def colleague(place: Harness) -> AsyncIterator[GatewayClient]:
    """Somebody else at the same gateway."""
    async with place.connect() as connection, GatewayClient(connection) as client:
        yield client


@pytest.mark.parametrize("resource", ["keys", "guardrails", "byok", "members", "assignments"])
async def test_an_own_deletion_is_told_once(resource: str) -> None:
    start = "workspaces" if resource == "members" else resource
    async with harness() as place, dashboard(place, start=start) as (app, pilot):
        if resource == "members":
            await app.open_route("members/data-pipelines")
            await until(pilot, lambda: listing(app).resource == "members", "the members")
        screen = listing(app)
        table = screen.table
        await until(pilot, lambda: table.total_count > 1, "rows")
        before = table.total_count
        tried = 0
        while table.total_count == before:
            assert tried < before, "nothing here can be deleted"
            table.select(table.identities[tried])
            tried += 1
            await pilot.press("D")
            await until(pilot, lambda: isinstance(app.screen, ConfirmScreen), "the question")
            deliberate = app.screen.query("#deliberate")
            if not deliberate or app.screen._plan.obstacles:
                await pilot.press("escape")
                await until(pilot, lambda: app.screen is screen, "the list")
                continue
            deliberate.first().focus()
            await pilot.press("enter")
            await until(pilot, lambda: app.screen is screen, "the list")
            await until(pilot, lambda: table.total_count < before, "the list without it")
        await pilot.pause(0.1)
        assert notices(app), "it is told"
        assert GONE not in notices(app)


async def test_what_somebody_else_deletes_is_told_even_after_an_own_deletion() -> None:
    async with harness() as place, dashboard(place, loaded=False) as (app, pilot):
        async with colleague(place) as client:
            made = [
                (await client.keys.create(CreateKeyRequest(name=f"zz {n}"))).data.hash or ""
                for n in range(2)
            ]
        screen = listing(app)
        await app.hub.refresh("keys")
        await until(pilot, lambda: set(made) <= set(screen.table.identities), "the new keys")
        screen.table.select(made[0])
        await pilot.press("D")
        await until(pilot, lambda: isinstance(app.screen, ConfirmScreen), "the question")
        app.screen.query_one("#deliberate").focus()
        await pilot.press("enter")
        await until(pilot, lambda: made[0] not in screen.table.identities, "the deletion")
        await pilot.pause(0.1)
        assert GONE not in notices(app)
        screen.table.select(made[1])
        async with colleague(place) as client:
            await client.keys.delete(made[1])
        await app.hub.refresh("keys")
        await until(pilot, lambda: f"The selected key is {GONE}" in notices(app), "the word")
