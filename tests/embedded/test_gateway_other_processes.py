"""Other processes that read or write the database: nobody waits for them but who must."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest
from gateway_kit import bench
from other_process import reading, writing
from test_byok_traces import NEW, OLD, made, sealed, traces

from gwtui.embedded import app
from gwtui.embedded.auth import issue_key
from gwtui.embedded.errors import DatabaseBusyError
from gwtui.embedded.gateway import EmbeddedGateway


@pytest.fixture
def database(tmp_path: Path) -> Path:
    return tmp_path / "data" / "gateway.sqlite3"


@pytest.mark.parametrize("method", ["DELETE", "PATCH"])
async def test_an_open_reader_holds_nobody_up(database: Path, method: str):
    async with bench(database, content="empty") as gate:
        credential = await made(gate, OLD)
        old = sealed(database)[credential]
        body = {"json": {"key": NEW}} if method == "PATCH" else {}
        with reading(database):
            await gate.call(method, f"/byok/{credential}", **body, expect=200)
            await gate.create()
            await gate.call("GET", "/credits", expect=200)
            assert traces(database, old), "the reader needs the pages as they were"
        await gate.call("GET", "/credits", expect=200)
        assert traces(database, old) == [], "gone with the next request"
        assert (database.parent / "gateway.sqlite3-wal").stat().st_size == 0


async def test_a_reader_that_outlives_the_gateway_leaves_the_rest_to_the_next_one(database: Path):
    async with bench(database, content="empty") as gate:
        credential = await made(gate, OLD)
        old = sealed(database)[credential]
    with reading(database):
        async with bench(database) as gate:
            await gate.call("DELETE", f"/byok/{credential}", expect=200)
        assert traces(database, old)
        gateway = EmbeddedGateway.open(database)
        assert traces(database, old), "opening did not wait"
    gateway.close()
    assert traces(database, old) == []


async def test_a_writer_holds_up_only_who_writes(database: Path):
    async with bench(database, content="empty") as gate:
        with writing(database):
            gate.clock.forward(hours=1)
            creating = asyncio.create_task(gate.create(name="patient"))
            for _ in range(5):
                assert await gate.data("GET", "/keys") == []
            assert not creating.done()
        await creating
        assert [one["name"] for one in await gate.data("GET", "/keys")] == ["patient"]


async def test_a_writer_that_goes_on_too_long_costs_the_request_and_nothing_else(
    database: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(app, "BUSY_SECONDS", 0.05)
    async with bench(database, content="empty") as gate:
        with writing(database):
            await gate.refused(500, "POST", "/keys", json={"name": "never"})
        assert await gate.data("GET", "/keys") == []
        await gate.create()


def test_a_key_cannot_be_issued_while_a_writer_does_not_end(database: Path):
    EmbeddedGateway.open(database, content="empty").close()
    with writing(database), pytest.raises(DatabaseBusyError, match="keeps writing"):
        issue_key(database, management=True)
