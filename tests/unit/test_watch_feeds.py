"""How lists are read: scopes, bounded concurrency, names of workspaces, failures."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field
from typing import Any, cast

import pytest

from gwtui.client.errors import GatewayError, NotFoundError, ServerError
from gwtui.client.gateway import GatewayClient
from gwtui.client.paging import Listing
from gwtui.client.request_log import ListGaps, ReadingLog, reading_log
from gwtui.contract.keys import ApiKey
from gwtui.contract.workspaces import Workspace
from gwtui.watch.feeds.keys import fetch_keys
from gwtui.watch.reads import CONCURRENCY, fetch_each
from resource_samples import OTHER_WORKSPACE_ID, WORKSPACE_ID, key, workspace


def listing(*items: Any) -> Listing[Any]:
    return Listing(tuple(items), None, True)


@dataclass
class StubWorkspaces:
    spaces: list[Workspace]

    async def list(self) -> Listing[Workspace]:
        return listing(*self.spaces)


@dataclass
class StubKeys:
    by_workspace: dict[str | None, list[ApiKey] | GatewayError]
    workspaces: list[str | None] = field(default_factory=list)

    async def list(self, *, workspace_id: str | None = None) -> Listing[ApiKey]:
        self.workspaces.append(workspace_id)
        result = self.by_workspace[workspace_id]
        if isinstance(result, GatewayError):
            raise result
        return listing(*result)


@dataclass
class StubGateway:
    workspaces: StubWorkspaces
    keys: StubKeys


def gateway(
    by_workspace: dict[str | None, list[ApiKey] | GatewayError], *spaces: Workspace
) -> tuple[GatewayClient, StubKeys]:
    keys = StubKeys(by_workspace)
    return cast("GatewayClient", StubGateway(StubWorkspaces(list(spaces)), keys)), keys


BOTH = (workspace(), workspace(id=OTHER_WORKSPACE_ID, name="Staging", slug="staging"))


async def test_no_scope_reads_every_workspace_and_names_each() -> None:
    client, _ = gateway(
        {
            WORKSPACE_ID: [key(hash="a")],
            OTHER_WORKSPACE_ID: [key(hash="b", workspace_id=OTHER_WORKSPACE_ID)],
        },
        *BOTH,
    )
    rows = await fetch_keys(client, None)
    assert [(row.identity, row.workspace_name) for row in rows] == [
        ("a", "Production"),
        ("b", "Staging"),
    ]


async def test_a_scope_reads_that_workspace_alone() -> None:
    client, keys = gateway({OTHER_WORKSPACE_ID: [key(workspace_id=OTHER_WORKSPACE_ID)]}, *BOTH)
    [row] = await fetch_keys(client, OTHER_WORKSPACE_ID)
    assert keys.workspaces == [OTHER_WORKSPACE_ID]
    assert row.workspace_name == "Staging"


async def test_a_key_that_moved_meanwhile_is_listed_once() -> None:
    moved = key(hash="a", workspace_id=OTHER_WORKSPACE_ID)
    client, _ = gateway({WORKSPACE_ID: [moved], OTHER_WORKSPACE_ID: [moved]}, *BOTH)
    [row] = await fetch_keys(client, None)
    assert row.workspace_name == "Staging"


async def test_without_workspaces_the_default_one_is_read() -> None:
    client, keys = gateway({None: [key()]})
    [row] = await fetch_keys(client, None)
    assert keys.workspaces == [None]
    assert row.workspace_name == WORKSPACE_ID


@pytest.mark.parametrize("others", [(), BOTH[1:]])
async def test_keys_of_a_workspace_without_an_id_count_as_missing(
    others: tuple[Workspace, ...],
) -> None:
    keys: dict[str | None, list[ApiKey] | GatewayError] = {
        None: [key(hash="a")],
        OTHER_WORKSPACE_ID: [key(hash="b", workspace_id=OTHER_WORKSPACE_ID)],
    }
    client, _ = gateway(keys, workspace(id=7), workspace(id=""), *others)
    with reading_log(ReadingLog()) as log:
        assert len(await fetch_keys(client, None)) == 1
    assert log.list_gaps == ListGaps(incomplete_lists=1)
    with reading_log(ReadingLog()) as log:
        await fetch_keys(client, OTHER_WORKSPACE_ID)
    assert not log.list_gaps, "the requested workspace is read"


async def test_a_workspace_that_is_deleted_meanwhile_is_left_out() -> None:
    not_found = NotFoundError("Resource not found", status=404)
    client, _ = gateway({WORKSPACE_ID: [key()], OTHER_WORKSPACE_ID: not_found}, *BOTH)
    assert len(await fetch_keys(client, None)) == 1


async def test_a_scope_that_is_gone_is_an_error_and_not_an_empty_list() -> None:
    not_found = NotFoundError("Resource not found", status=404)
    client, _ = gateway({OTHER_WORKSPACE_ID: not_found}, workspace())
    with pytest.raises(NotFoundError):
        await fetch_keys(client, OTHER_WORKSPACE_ID)


async def test_a_partial_account_is_never_returned_as_complete() -> None:
    broken = ServerError("Internal Server Error", status=500)
    client, _ = gateway({WORKSPACE_ID: [key()], OTHER_WORKSPACE_ID: broken}, *BOTH)
    with pytest.raises(ServerError):
        await fetch_keys(client, None)


async def test_parts_are_read_a_few_at_a_time_and_come_in_order() -> None:
    running = peak = 0

    async def fetch(part: int) -> int:
        nonlocal running, peak
        running += 1
        peak = max(peak, running)
        await asyncio.sleep(0.001 * (20 - part))
        running -= 1
        return part * 10

    assert await fetch_each(range(20), fetch) == [part * 10 for part in range(20)]
    assert peak == CONCURRENCY


async def test_the_first_failure_stops_the_rest_and_is_raised() -> None:
    finished: list[int] = []

    async def fetch(part: int) -> int:
        if part == 0:
            raise ServerError("Internal Server Error", status=500)
        await asyncio.sleep(1)
        finished.append(part)
        return part

    with pytest.raises(ServerError):
        await asyncio.wait_for(fetch_each(range(8), fetch), 0.5)
    assert finished == []
