"""A long list is printed while it is read, in little memory."""

from __future__ import annotations

import csv
import gc
import io
import json
from collections.abc import AsyncIterator, Sequence
from contextlib import aclosing
from typing import Any

import httpx
import pytest

from gwtui.cli import exits
from gwtui.cli.exits import CommandError
from gwtui.cli.lists.selection import CommandReadings, parse_query
from gwtui.cli.lists.show import BatchPrinter
from gwtui.cli.output import OutputLostError
from gwtui.client.connection import Connection
from gwtui.client.errors import GatewayError
from gwtui.client.gateway import GatewayClient
from gwtui.client.transport import Transport
from gwtui.contract.keys import ApiKey
from gwtui.domain.clock import SYSTEM_CLOCK
from gwtui.resources.registry import SPECS
from gwtui.watch.hub import FeedHub, Scope
from headless_kit import FaultyGateway, Gwtui

SPACES = ("0b9a4f6e-7c5d-4f1a-8a51-0d6f3a1c2b3d", "1b9a4f6e-7c5d-4f1a-8a51-0d6f3a1c2b3d")
COUNT = 1_500
"""Number of keys of each workspace."""


class Account:
    """Two workspaces of many keys, newest first."""

    def __init__(self) -> None:
        self.pages: list[tuple[str, int]] = []
        self.fails_at: tuple[str, int] | None = None
        self.one_list = False
        """Whether the list of every workspace contains the keys of all."""

    async def __call__(self, request: httpx.Request) -> httpx.Response:
        path, query = request.url.path, request.url.params
        if path.endswith("/workspaces"):
            workspaces = [{"id": row, "name": f"Space {row[0]}"} for row in SPACES]
            return httpx.Response(200, json={"data": workspaces, "total_count": 2})
        if not path.endswith("/keys") or "/guardrails/" in path:
            return httpx.Response(200, json={"data": [], "total_count": 0})
        space, offset = query["workspace_id"], int(query["offset"])
        self.pages.append((space, offset))
        if (space, offset) == self.fails_at:
            return httpx.Response(400, json={"error": {"code": 400, "message": "no more"}})
        spaces = SPACES if self.one_list else (space,)
        numbers = [(item, number) for item in spaces for number in range(COUNT)]
        keys = [key(*parts) for parts in numbers[offset : offset + 100]]
        return httpx.Response(200, json={"data": keys})


def key(space: str, number: int) -> dict[str, Any]:
    name = f"key {(number * 7919) % COUNT:04}"
    return {"hash": f"{space[0]}{number:063x}", "name": name, "workspace_id": space}


@pytest.fixture
def account() -> Account:
    return Account()


@pytest.fixture
async def readings(account: Account) -> AsyncIterator[CommandReadings]:
    where = Connection("https://gateway.test/api/v1")
    transport = Transport(where, http=httpx.MockTransport(account))
    hub = FeedHub(GatewayClient(where, transport=transport))
    yield CommandReadings(hub)
    await hub.close()


KEYS = SPECS["keys"]


def printer(form: str = "ndjson", *, rows: str | None = None) -> BatchPrinter:
    return BatchPrinter(parse_query(KEYS, rows, None, "name"), form, SYSTEM_CLOCK)


async def print_keys(readings: CommandReadings, to: BatchPrinter) -> None:
    await to.print_all(readings.batches(lambda hub: KEYS.feed(hub, Scope())), lambda rows: rows)


def alive() -> int:
    gc.collect()
    return sum(type(item) is ApiKey for item in gc.get_objects())


@pytest.mark.usefixtures("own_objects_only")
async def test_rows_come_in_order_while_few_of_them_are_held(
    readings: CommandReadings, account: Account
) -> None:
    hashes: list[str] = []
    most, before, pages_read = 0, alive(), []
    async with aclosing(readings.batches(lambda hub: KEYS.feed(hub, Scope()))) as batches:
        async for batch in batches:
            pages_read.append(len(account.pages))
            hashes += [row.identity for row in batch.rows]
            most = max(most, alive() - before)
    assert hashes == [key(space, number)["hash"] for space in SPACES for number in range(COUNT)]
    # A page in use, one that waits, and the pages read ahead in each workspace.
    assert most <= 1_000
    assert pages_read[0] < 10
    assert pages_read[-1] > 30
    assert readings.exit_code == exits.OK
    # The shared feed of the list is not affected.
    assert len(await readings.value(KEYS.feed(readings.hub, Scope()))) == 2 * COUNT


async def test_a_row_is_printed_once_whatever_the_gateway_takes_a_workspace_for(
    readings: CommandReadings, account: Account, capsys: pytest.CaptureFixture[str]
) -> None:
    account.one_list = True
    result = printer("csv", rows='name:"key 07"')
    await print_keys(readings, result)
    names = [row["name"] for row in csv.DictReader(io.StringIO(capsys.readouterr().out))]
    assert len(names) == 200
    assert len(result.first) == 2_000


async def test_a_list_that_breaks_off_reports_its_row_count(
    readings: CommandReadings, account: Account, capsys: pytest.CaptureFixture[str]
) -> None:
    account.fails_at = (SPACES[1], 99 * 3)
    with pytest.raises(CommandError, match=r"no more; the list ended after [0-9]+ keys") as caught:
        await print_keys(readings, printer())
    assert caught.value.code == exits.INCOMPLETE
    lines = capsys.readouterr().out.splitlines()
    assert COUNT <= len(lines) < 2 * COUNT
    assert f"after {len(lines)} keys" in str(caught.value)
    assert len({json.loads(line)["hash"] for line in lines}) == len(lines)
    account.fails_at = (SPACES[0], 0)
    with pytest.raises(GatewayError):
        await print_keys(readings, printer())
    assert capsys.readouterr().out == ""


async def test_a_reader_that_leaves_ends_the_reading(
    readings: CommandReadings, account: Account, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken_pipe(*_: Any, **__: Any) -> None:
        raise OutputLostError("broken pipe", left=True)

    monkeypatch.setattr("gwtui.cli.lists.show.show_list", broken_pipe)
    with pytest.raises(OutputLostError):
        await print_keys(readings, printer())
    assert len(account.pages) < 10


def by_name(rows: Sequence[Any]) -> list[Any]:
    return sorted(rows, key=lambda row: row["name"].casefold())


def unused(rows: Sequence[Any]) -> list[Any]:
    """The keys without fields that change with usage between two calls."""
    grows = ("usage", "byok_usage", "limit_remaining", "last_used_at")
    return [
        {name: value for name, value in row.items() if not name.startswith(grows)} for row in rows
    ]


def test_the_order_is_the_gateways_until_one_is_asked_for(
    gwtui: Gwtui, place: FaultyGateway
) -> None:
    def printed(*words: str) -> list[Any]:
        out, _ = gwtui.expect(exits.OK, "keys", "list", *words, "--output", "ndjson")
        return unused([json.loads(line) for line in out.splitlines()])

    production = gwtui.json("workspaces", "get", "production")["id"]
    from_gateway = unused(
        place.get("/keys", workspace_id=production, include_disabled="true", offset="0")
    )
    assert printed("--workspace", "production") == from_gateway
    assert from_gateway != by_name(from_gateway)
    assert printed("--workspace", "production", "--sort", "name") == by_name(from_gateway)
    all_keys = unused(gwtui.json("keys", "list"))
    assert by_name(printed()) == by_name(all_keys)


def test_csv_has_its_titles_also_without_rows(gwtui: Gwtui) -> None:
    words = ("keys", "list", "--filter", "name:nobody", "--columns", "name,used")
    assert gwtui(*words, "--output", "csv")[:2] == (exits.OK, "name,used\n")
    assert gwtui(*words[:4], "--output", "ndjson")[:2] == (exits.OK, "")
