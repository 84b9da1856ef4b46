"""The recorded week of the demo: its gateway reports it, and recorded data stays."""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, closing
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any, cast

import httpx
import pytest
from pydantic import SecretStr

from fake_clock import FakeClock
from gwtui.client.connection import Connection
from gwtui.client.gateway import GatewayClient
from gwtui.client.transport import Transport
from gwtui.contract.keys import CreateKeyRequest
from gwtui.embedded.faults import FaultInjector
from gwtui.embedded.gateway import EmbeddedGateway
from gwtui.embedded.store.ledger import SimulatedHistory
from gwtui.watch.feeds.recorded import credits_past_feed
from gwtui.watch.history.file import open_readable
from gwtui.watch.history.model import Point, SeriesKey
from gwtui.watch.history.past import fill_past
from gwtui.watch.history.reader import HistoryReader
from gwtui.watch.history.recorder import open_recording
from gwtui.watch.hub import FeedHub, Scope
from seeded_gateways import open_gateway

BORN = datetime(2026, 11, 19, 9, 20, tzinfo=UTC)
HOUR, DAY = timedelta(hours=1), timedelta(days=1)
BALANCE = SeriesKey("credits", "account", "balance")


@asynccontextmanager
async def client_of(gateway: EmbeddedGateway, time: FakeClock) -> AsyncIterator[GatewayClient]:
    token = SecretStr(gateway.issue_key(management=True))
    where = Connection("http://localhost/api/v1", token=token)
    http = httpx.ASGITransport(cast("Any", gateway.asgi))
    transport = Transport(where, clock=time.clock, http=http)
    async with GatewayClient(where, clock=time.clock, transport=transport) as client:
        yield client


def past_of(gateway: EmbeddedGateway) -> SimulatedHistory:
    past = gateway.past()
    assert past is not None
    return past


async def record(gateway: EmbeddedGateway, time: FakeClock, path: Path) -> datetime | None:
    """Run the dashboard until the past is filled in; return the time from which it was reported."""
    async with client_of(gateway, time) as client:
        hub = FeedHub(client, time.clock)
        async with open_recording(hub, path, gateway.past) as recording:
            # The first reading causes no notice.
            while not recording.status.written_at:  # noqa: ASYNC110
                await asyncio.sleep(0.01)
        await hub.close()
        return recording.filled_until


@pytest.fixture(scope="module")
def filled(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Path, datetime]]:
    """A history of a twelve-hour-old gateway, just filled in."""
    path = tmp_path_factory.mktemp("past") / "h" / "demo.sqlite3"
    time = FakeClock(BORN)
    gateway = EmbeddedGateway(None, clock=time.clock)
    time.elapsed = 12 * 3600
    asyncio.run(record(gateway, time, path))
    yield path, time.now()
    gateway.close()


@pytest.fixture
def reader(filled: tuple[Path, datetime]) -> Iterator[HistoryReader]:
    with closing(open_readable(filled[0])) as connection:
        yield HistoryReader(connection)


async def test_the_simulated_past_equals_past_answers() -> None:
    """Keys, credits and endpoints across midnight: the past equals what was returned then."""
    time = FakeClock(BORN)
    gateway = open_gateway(clock=time.clock)
    answered: list[tuple[datetime, Any, Any, Any]] = []
    async with client_of(gateway, time) as client:
        for _ in range(6):
            keys = [
                key
                for space in (await client.workspaces.list()).items
                for key in (await client.keys.list(workspace_id=space.id)).items
            ]
            model = (await client.catalog.models()).items[0].id or ""
            endpoints = (await client.catalog.endpoints(model)).endpoints or ()
            answered.append((time.now(), keys, await client.credits.get(), endpoints))
            time.elapsed += 5 * 3600 + 11
        await client.credits.get()
    past = past_of(gateway)
    moments = [moment for moment, *_ in answered]
    assert past.until > moments[-1]
    assert sum(key.usage or 0 for key in answered[-1][1]) > sum(
        key.usage or 0 for key in answered[0][1]
    )
    for place, (_, keys, credits, endpoints) in enumerate(answered):
        account = past.account(moments)[place]
        assert (account.total_credits, account.total_usage) == (
            credits.total_credits,
            credits.total_usage,
        )
        for key in keys:
            spent = past.spent(key.hash, moments)
            assert tuple(spent[place]) == (key.usage, key.byok_usage), key.name
        for endpoint in endpoints:
            figures = past.figures(model, endpoint.tag or "", moments)
            assert figures[place]["uptime_last_1d"] == (
                None if endpoint.uptime_last_1d is None else float(endpoint.uptime_last_1d)
            )
    gateway.close()


def test_an_account_that_began_empty_has_no_past() -> None:
    gateway = EmbeddedGateway(None, content="empty", clock=FakeClock(BORN).clock)
    assert gateway.past() is None
    gateway.close()


def points(reader: HistoryReader, key: SeriesKey, since: datetime, until: datetime) -> list[Point]:
    curve = reader.points(key, since, until)
    return list(curve.points)


def test_the_week_is_there_at_once_and_without_a_gap(
    reader: HistoryReader, filled: tuple[Path, datetime]
) -> None:
    now = filled[1]
    keys = [BALANCE]
    for resource, figure in (
        ("endpoint", "uptime_last_30m"),
        ("endpoint", "price_prompt"),
        ("key", "usage_daily"),
        ("workspace", "usage_monthly"),
    ):
        keys.append(
            next(
                series
                for series in reader.series(resource, None, figure)
                if reader.value_at(series, now - 7 * DAY + HOUR).state == "value"
            )
        )
    for key in keys:
        for back in (7 * DAY - HOUR, DAY, 6 * HOUR, 30 * timedelta(minutes=1)):
            result = points(reader, key, now - back, now)
            assert not [point.at for point in result if point.state == "gap"], (key, back)
    watched = reader.watched_models()
    assert len(watched) == 5
    assert {series.identity.partition(" ")[0] for series in reader.series("endpoint")} == set(
        watched
    )


def test_only_known_changes_of_the_world_are_recorded(reader: HistoryReader) -> None:
    results = [
        (change.kind, change.name)
        for change in reversed(reader.changes(BORN - 7 * DAY, BORN + DAY, limit=99))
    ]
    assert results == [
        ("credits.purchased", "credits"),
        ("workspace.created", "Partner portal (pilot)"),
        ("key.created", "black-friday-surge"),
        ("key.disabled", "red-team"),
        ("guardrail.created", "Draft"),
        ("key.created", "terraform-smoke-test"),
    ]


def rows(path: Path) -> list[Any]:
    """The hours in the file, without values that depend on a clock."""
    with closing(open_readable(path)) as connection:
        return connection.execute(
            "SELECT resource, identity, figure, hour, low, high, last "
            "FROM hours JOIN series ON id = series ORDER BY 1, 2, 3, 4"
        ).fetchall()


def copied(path: Path, folder: Path) -> Path:
    """The same history, unchanged since."""
    folder.mkdir(mode=0o700)
    copy = folder / path.name
    with closing(open_readable(path)) as connection, closing(sqlite3.connect(copy)) as target:
        connection.backup(target)
    copy.chmod(0o600)
    return copy


async def test_a_later_run_fills_only_the_gap(
    tmp_path: Path, filled: tuple[Path, datetime]
) -> None:
    path = copied(filled[0], tmp_path / "again")
    time = FakeClock(BORN)
    gateway = open_gateway(clock=time.clock)
    first = rows(path)
    time.elapsed = 12 * 3600 + 600
    assert await record(gateway, time, path) is None, "a later gap is not a filled past"
    assert rows(path) == first, "a gap of ten minutes is not filled in"
    async with client_of(gateway, time) as client:
        await client.keys.create(CreateKeyRequest(name="by hand", limit=Decimal(5)))
    stopped_at, time.elapsed = time.now(), time.elapsed + 9 * 3600
    await record(gateway, time, path)
    with closing(open_readable(path)) as connection:
        reader = HistoryReader(connection)
        kinds = [change.kind for change in reader.changes(stopped_at - HOUR, time.now())]
        assert kinds == ["key.created"], "a key whose usage is not simulated stays"
        uptime = reader.series("endpoint", None, "uptime_last_1d")[0]
        for key in (BALANCE, uptime):
            spread = points(reader, key, stopped_at + HOUR, time.now())
            assert "gap" not in [point.state for point in spread]
            old = points(reader, key, BORN - 6 * DAY, stopped_at)
            assert "gap" not in [point.state for point in old]
    gateway.close()


async def test_readers_find_the_same_past(tmp_path: Path, filled: tuple[Path, datetime]) -> None:
    """For another gateway that was created at the same time."""
    path = tmp_path / "h" / "read.sqlite3"
    time = FakeClock(BORN)
    gateway = EmbeddedGateway(None, clock=time.clock)
    time.elapsed = 12 * 3600
    async with client_of(gateway, time) as client:
        hub = FeedHub(client, time.clock)
        hub.history_file = path
        hub.fill_past = lambda: fill_past(hub, path, past_of(gateway))
        outlook = (await credits_past_feed(hub, Scope()).refresh()).value
        first = rows(path)
        # A second run within the hour fills in nothing.
        time.elapsed += 60
        await hub.fill_past()
        assert rows(path) == first
        # If the file cannot be opened, only the past is missing.
        (tmp_path / "file").touch()
        await fill_past(hub, tmp_path / "file" / "read.sqlite3", past_of(gateway))
        await hub.close()
    assert outlook.curve is not None
    assert first == rows(filled[0])
    gateway.close()


async def test_a_gateway_that_fails_leaves_the_past_out_and_the_recording_goes_on(
    tmp_path: Path,
) -> None:
    time = FakeClock(BORN)
    faults = FaultInjector()
    gateway = EmbeddedGateway(None, clock=time.clock, faults=faults)
    faults.arm("403:GET /credits")
    path = tmp_path / "h" / "failing.sqlite3"
    await record(gateway, time, path)
    with closing(open_readable(path)) as connection:
        assert not HistoryReader(connection).series("credits")
    gateway.close()
