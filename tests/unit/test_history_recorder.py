"""The recorder: what it samples from feeds, while it holds the lease, whatever goes wrong."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import timedelta
from decimal import Decimal
from pathlib import Path

import pytest

from fake_clock import FakeClock
from gwtui.client.errors import ServerError
from gwtui.contract.models import ModelEndpoints
from gwtui.watch.history import archive as archive_module
from gwtui.watch.history import kinds
from gwtui.watch.history.archive import Archive
from gwtui.watch.history.lease import BEAT, TIME_LIMIT
from gwtui.watch.history.model import SeriesKey, Subject, endpoint_identity
from gwtui.watch.history.recorder import Recorded, Recorder
from gwtui.watch.history.standing import BALANCE
from gwtui.watch.hub import FeedHub
from recording_world import MODEL, Inline, World
from resource_samples import endpoint_body, key, model_endpoints

ENDPOINT = endpoint_identity(MODEL, "northwind/fp8||fp8")
UPTIME = SeriesKey("endpoint", ENDPOINT, "uptime_last_5m")


@pytest.fixture(autouse=True)
def no_threads(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(archive_module, "ThreadPoolExecutor", Inline)


@pytest.fixture
def world() -> World:
    return World()


@pytest.fixture
def time() -> FakeClock:
    return FakeClock()


@asynccontextmanager
async def instance(path: Path, world: World, time: FakeClock) -> AsyncIterator[Recorder]:
    """One running program with its own feeds and its own hands on the file."""
    hub = FeedHub(world.client(), time.clock)
    archive = await Archive.open(path, time.clock)
    recorder = Recorder(hub, archive, time.clock)
    await recorder.start()
    await time.settle()
    recorder.hub = hub  # type: ignore[attr-defined]
    try:
        yield recorder
    finally:
        await recorder.stop()
        await archive.close()
        await hub.close()


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "history" / "one.sqlite3"


@pytest.fixture
async def recorder(path: Path, world: World, time: FakeClock) -> AsyncIterator[Recorder]:
    async with instance(path, world, time) as running:
        yield running


def damage(path: Path) -> None:
    """Leave nothing but the header of a file."""
    content = path.read_bytes()
    with path.open("r+b") as file:
        file.write(content[:100] + b"\xff" * (len(content) - 100))


async def changed(recorder: Recorder, time: FakeClock) -> list[tuple[str, str]]:
    found = await recorder.archive.read(
        lambda history: history.changes(time.start, time.now(), limit=99)
    )
    return [(change.kind, change.field) for change in reversed(found)]


async def test_it_records_the_account_and_the_most_used_models(
    recorder: Recorder, world: World, time: FakeClock
) -> None:
    await time.advance(5)
    assert recorder.status.recording
    assert recorder.status.models == (MODEL,)
    assert recorder.status.error is None
    figures = {
        (series.key.resource, series.key.figure): series
        for series in await recorder.archive.read(lambda history: history.series())
    }
    assert figures["credits", "balance"].unit == "USD"
    assert figures["key", "limit_remaining"].key.identity == "a" * 64
    assert figures["workspace", "budget_weekly_remaining"].unit == "USD"
    assert figures["endpoint", "latency_p99"].unit == "ms"
    assert figures["endpoint", "price_prompt"].unit == "USD/token"
    now = time.now()
    read = recorder.archive.read
    assert (await read(lambda history: history.value_at(BALANCE, now))).value == 60
    price = SeriesKey("endpoint", ENDPOINT, "price_prompt")
    assert (await read(lambda history: history.latest(price))).value == Decimal("0.0000027")
    assert await changed(recorder, time) == []


async def test_no_secret_and_no_pattern_is_in_the_file(
    recorder: Recorder, path: Path, world: World, time: FakeClock
) -> None:
    world.keys = [key(label="gw-v1-SENTINEL")]
    await time.advance(200)
    world.guardrails = [
        world.guardrail(content_filters=[{"pattern": "Falcon 2", "action": "flag"}])
    ]
    await time.advance(400)
    assert (kinds.GUARDRAIL_CHANGED, "content_filters") in await changed(recorder, time)
    for file in path.parent.iterdir():
        assert b"Falcon" not in file.read_bytes()
        assert b"SENTINEL" not in file.read_bytes()


async def test_each_thing_is_read_at_its_pace_also_without_focus(
    recorder: Recorder, world: World, time: FakeClock
) -> None:
    recorder.hub.pause_all()  # type: ignore[attr-defined]
    await time.advance(5)
    world.reads.clear()
    await time.advance(600)
    assert world.reads.count("credits") == 10
    assert world.reads.count("endpoints") == 10
    assert world.reads.count("budgets") == 2
    assert "activity" not in world.reads
    series = await recorder.archive.read(
        lambda history: history.points(BALANCE, time.start, time.now(), resolution=60)
    )
    assert series is not None
    assert {point.state for point in series.points} == {"value"}


async def test_a_screen_that_reads_more_often_does_not_fill_the_history(
    recorder: Recorder, world: World, time: FakeClock
) -> None:
    hub: FeedHub = recorder.hub  # type: ignore[attr-defined]
    next(feed for feed in hub.feeds if feed.name == "credits").watch(lambda _state: None)
    world.reads.clear()
    await time.advance(600)
    assert world.reads.count("credits") == 60
    found = await recorder.archive.read(
        lambda history: history.points(BALANCE, time.start, time.now(), resolution=60)
    )
    assert found is not None
    assert 10 <= sum(point.samples for point in found.points) <= 13


async def test_what_changes_is_told_to_listeners_and_kept(
    recorder: Recorder, world: World, time: FakeClock
) -> None:
    told: list[Recorded] = []
    leave = recorder.listen(told.append)
    recorder.listen(lambda _recorded: 1 / 0)
    await time.advance(100)
    world.credits["total_credits"] += 50
    world.keys = [key(disabled=True), key(hash="b" * 64, name="new")]
    world.budgets = []
    world.endpoints = model_endpoints(
        endpoint_body(status=-2, pricing={"prompt": "0.000004", "completion": "0.000015"}),
        endpoint_body(tag="other/bf16", quantization="bf16"),
    )
    await time.advance(400)
    assert sorted(await changed(recorder, time)) == sorted(
        [
            (kinds.CREDITS_PURCHASED, "total_credits"),
            (kinds.KEY_CREATED, ""),
            (kinds.KEY_DISABLED, "disabled"),
            (kinds.WORKSPACE_BUDGET, "budget_weekly"),
            (kinds.ENDPOINT_APPEARED, ""),
            (kinds.ENDPOINT_PRICE, "discount"),
            (kinds.ENDPOINT_PRICE, "overrides"),
            (kinds.ENDPOINT_PRICE, "price_prompt"),
            (kinds.ENDPOINT_PRICE, "price_request"),
            (kinds.ENDPOINT_STATUS, "status"),
        ]
    )
    assert sum(len(each.changes) for each in told) == 10
    leave()
    before = len(told)
    await time.advance(120)
    assert len(told) == before


async def test_a_failed_read_is_a_gap_and_makes_nothing_go(
    recorder: Recorder, world: World, time: FakeClock
) -> None:
    await time.advance(61)
    for what in ("credits", "keys", "endpoints", "budgets"):
        world.faults[what] = ServerError("down", status=503)
    await time.advance(900)
    world.faults.clear()
    await time.advance(400)
    curve = await recorder.archive.read(
        lambda history: history.points(BALANCE, time.start, time.now(), resolution=60)
    )
    assert curve is not None
    states = "".join(point.state[0] for point in curve.points)
    assert "v" + "g" * 10 in states
    assert states.endswith("vvv")
    assert await changed(recorder, time) == []


async def test_a_part_that_could_not_be_read_is_a_gap_and_no_figure(
    recorder: Recorder, world: World, time: FakeClock
) -> None:
    await time.advance(1)
    space = (await recorder.archive.read(lambda history: history.series("workspace")))[0]
    left = SeriesKey("workspace", space.key.identity, "budget_weekly_remaining")
    assert (await recorder.archive.read(lambda history: history.latest(left))).state == "value"
    world.faults["keys"] = ServerError("down", status=503)
    await time.advance(1500)
    now = time.now()
    assert (await recorder.archive.read(lambda history: history.value_at(left, now))).state == "gap"
    limit = left._replace(figure="budget_weekly")
    assert (await recorder.archive.read(lambda history: history.value_at(limit, now))).value == 30


async def test_an_endpoint_list_that_cannot_be_read_makes_nothing_go(
    recorder: Recorder, world: World, time: FakeClock
) -> None:
    await time.advance(61)
    for broken in ({"endpoints": "?"}, {"endpoints": ["?"]}):
        world.endpoints = ModelEndpoints.model_validate({"id": MODEL, **broken})
        await time.advance(120)
    assert await changed(recorder, time) == []


async def test_a_model_that_is_not_found_again_has_no_endpoints(
    recorder: Recorder, world: World, time: FakeClock
) -> None:
    await time.advance(30)
    kept, world.endpoints = world.endpoints, None
    await time.advance(45)
    assert await changed(recorder, time) == []
    await time.advance(120)
    assert await changed(recorder, time) == [(kinds.ENDPOINT_GONE, "")]
    world.endpoints = kept
    await time.advance(120)
    assert (await changed(recorder, time))[1:] == [(kinds.ENDPOINT_APPEARED, "")]
    facts = await recorder.archive.read(lambda history: history.facts_at(time.now(), "endpoint"))
    assert list(facts) == [Subject("endpoint", ENDPOINT)]


async def test_models_are_chosen_by_a_person_once_one_did(
    recorder: Recorder, world: World, time: FakeClock
) -> None:
    await time.advance(1)
    await recorder.watch("lab/other")
    assert recorder.status.models == (MODEL, "lab/other")
    await recorder.unwatch(MODEL)
    await recorder.unwatch("lab/other")
    world.reads.clear()
    await time.advance(300)
    assert "endpoints" not in world.reads
    assert recorder.status.models == ()
    with pytest.raises(ValueError, match="author/slug"):
        await recorder.watch("no model")


async def test_without_readable_activity_what_was_looked_at_is_watched(
    path: Path, world: World, time: FakeClock
) -> None:
    world.faults["activity"] = ServerError("down", status=500)
    hub = FeedHub(world.client(), time.clock)
    from gwtui.watch.feeds.endpoints import endpoints_feed  # noqa: PLC0415
    from gwtui.watch.feeds.scope import Scope  # noqa: PLC0415

    endpoints_feed(hub, Scope(parent="lab/seen"))
    archive = await Archive.open(path, time.clock)
    recorder = Recorder(hub, archive, time.clock)
    await recorder.start()
    await time.advance(1)
    assert recorder.status.models == ("lab/seen",)
    await recorder.stop()
    await archive.close()
    await hub.close()


async def test_one_instance_records_and_the_next_takes_over(
    path: Path, world: World, time: FakeClock
) -> None:
    other = World()
    async with instance(path, world, time) as first:
        async with instance(path, other, time) as second:
            await time.advance(120)
            assert first.status.recording
            assert not second.status.recording
            assert other.reads == []
            balance = await second.archive.read(lambda history: history.latest(BALANCE))
            assert balance.value == 60
            holder = await second.archive.read(lambda history: history.recorder())
            assert holder is not None
            assert holder.id == first.archive.lease.id
            await first.stop()
            await time.advance(BEAT)
            assert second.status.recording
            assert "credits" in other.reads
        world.reads.clear()
        await time.advance(120)
        assert world.reads == []


async def test_who_was_stopped_for_long_finds_another_recording_and_yields(
    path: Path, world: World, time: FakeClock
) -> None:
    async with instance(path, world, time) as first:
        await time.advance(30)
        for task in first._tasks:  # as if the process had been stopped by a signal
            task.cancel()
        archive = await Archive.open(path, time.clock)
        thief = Recorder(FeedHub(World().client(), time.clock), archive, time.clock)
        await thief.start()
        await time.advance(TIME_LIMIT + 2 * BEAT)
        assert thief.status.recording
        first._tasks = []
        await first.start()
        await time.advance(BEAT)
        assert not first.status.recording
        await time.advance(200)
        assert thief.status.recording
        await thief.stop()
        await archive.close()


async def test_no_failure_of_the_file_ends_the_recording(
    recorder: Recorder, world: World, time: FakeClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    await time.advance(61)
    writer = await recorder.archive.write(lambda writer: writer)
    real = type(writer).observe

    def full(_self: object, _seen: object) -> None:
        import sqlite3  # noqa: PLC0415

        raise sqlite3.OperationalError("database or disk is full")

    monkeypatch.setattr(type(writer), "observe", full)
    await time.advance(61)
    assert "disk is full" in (recorder.status.error or "")
    monkeypatch.setattr(type(writer), "observe", real)
    await time.advance(120)
    assert recorder.status.error is None
    assert recorder.status.recording


async def test_a_file_damaged_meanwhile_is_set_aside_and_recording_goes_on(
    recorder: Recorder, path: Path, time: FakeClock
) -> None:
    await time.advance(300)
    await recorder.archive.change(
        lambda connection: connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
    )
    damage(path)
    await recorder.archive.change(
        lambda connection: connection.execute("PRAGMA cache_size = 0").fetchall()
    )
    await time.advance(300)
    assert "set aside" in recorder.status.notice
    assert recorder.status.recording
    assert recorder.status.error is None
    assert (await recorder.archive.read(lambda history: history.latest(BALANCE))).value == 60


async def test_a_clock_that_jumps_forgets_nothing_for_an_hour(
    recorder: Recorder, time: FakeClock
) -> None:
    await time.advance(1800)
    time.suspend(timedelta(days=500).total_seconds())
    await time.advance(1800)
    count = await recorder.archive.change(
        lambda connection: connection.execute(
            "SELECT sum(count) FROM stretches WHERE width = 0"
        ).fetchone()[0]
    )
    time.suspend(-timedelta(days=500).total_seconds())
    await time.advance(3600)
    kept = await recorder.archive.read(
        lambda history: history.points(BALANCE, time.start, time.now(), resolution=300)
    )
    assert count
    assert kept is not None
    assert sum(point.samples for point in kept.points[:6]) >= 29


async def test_what_arrived_is_written_before_the_end(
    path: Path, world: World, time: FakeClock
) -> None:
    async with instance(path, world, time) as recorder:
        recorder._tasks[1].cancel()  # nothing is written meanwhile
        await asyncio.sleep(0)
        world.credits["total_usage"] = Decimal(41)
        await time.advance(61)
    again = await Archive.open(path, time.clock)
    assert (await again.read(lambda history: history.latest(BALANCE))).value == 59
    await again.close()
