"""Other processes that read or write the database: nobody waits for them but who must."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest
from gateway_kit import bench
from other_process import reading, writing
from test_byok_traces import NEW, OLD, made, sealed, traces

from gwtui.embedded import app
from gwtui.embedded.auth import issue_key
from gwtui.embedded.errors import DatabaseBusyError
from gwtui.embedded.gateway import EmbeddedGateway
from gwtui.embedded.store.database import BUSY_SECONDS

STALL = 1.0
"""Seconds: far above what a slow machine needs, far below what a stranger used to cost."""


@pytest.fixture
def database(tmp_path: Path) -> Path:
    return tmp_path / "data" / "gateway.sqlite3"


@dataclass
class Pulse:
    """The longest time for which the event loop did nothing else, in seconds."""

    longest: float = 0.0


@asynccontextmanager
async def pulse() -> AsyncIterator[Pulse]:
    """Feel the event loop's pulse."""
    felt = Pulse()

    async def beat() -> None:
        before = time.monotonic()
        while True:
            await asyncio.sleep(0.005)
            felt.longest = max(felt.longest, time.monotonic() - before)
            before = time.monotonic()

    beating = asyncio.create_task(beat())
    try:
        yield felt
    finally:
        beating.cancel()


@contextmanager
def within(seconds: float) -> Iterator[None]:
    began = time.monotonic()
    yield
    assert time.monotonic() - began < seconds


@pytest.mark.parametrize("how", ["delete", "rotate"])
async def test_an_open_reader_holds_nobody_up(database: Path, how: str):
    async with bench(database, content="empty") as gate, pulse() as felt:
        credential = await made(gate, OLD)
        old = sealed(database)[credential]
        path = f"/byok/{credential}"
        with reading(database):
            felt.longest = 0.0
            with within(STALL):
                if how == "delete":
                    erasing = gate.call("DELETE", path, expect=200)
                else:
                    erasing = gate.call("PATCH", path, json={"key": NEW}, expect=200)
                erased = asyncio.create_task(erasing)
                for _ in range(5):
                    with within(STALL / 2):
                        await gate.call("GET", "/keys", expect=200)
                await erased
            with within(STALL):
                await gate.create()
                await gate.call("GET", "/credits", expect=200)
            assert traces(database, old), "the reader needs the pages as they were"
            assert felt.longest < STALL
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
            began = time.monotonic()
        assert time.monotonic() - began < STALL
        assert traces(database, old)
        with within(STALL):
            gateway = EmbeddedGateway.open(database)
        assert traces(database, old), "opening did not wait"
    gateway.close()
    assert traces(database, old) == []


async def test_a_writer_holds_up_only_who_writes(database: Path):
    async with bench(database, content="empty") as gate, pulse() as felt:
        with writing(database):
            gate.clock.forward(hours=1)
            felt.longest = 0.0
            creating = asyncio.create_task(gate.create(name="patient"))
            for _ in range(5):
                with within(STALL / 2):
                    assert await gate.data("GET", "/keys") == []
            await asyncio.sleep(0.1)
            assert not creating.done()
            assert felt.longest < STALL
        with within(BUSY_SECONDS):
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
    with writing(database), pytest.raises(DatabaseBusyError, match="does not end"):
        issue_key(database, management=True)
