"""The recorder: what it samples from feeds, which process records, and failures."""

from __future__ import annotations

import asyncio
import os
import sqlite3
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, closing
from datetime import datetime
from decimal import Decimal
from functools import partial
from pathlib import Path

import pytest

from fake_clock import FakeClock
from gwtui.client.errors import ServerError
from gwtui.contract.models import ModelEndpoints
from gwtui.contract.usage import ActivityRow
from gwtui.watch.history import archive as archive_module
from gwtui.watch.history import model as kinds
from gwtui.watch.history import recorder as recorder_module
from gwtui.watch.history.archive import Archive
from gwtui.watch.history.model import Observation, SeriesKey, Subject, endpoint_identity
from gwtui.watch.history.reader import BALANCE, HistoryReader
from gwtui.watch.history.recorder import CLAIM_EVERY, Recorder
from gwtui.watch.history.writer import most_used
from gwtui.watch.hub import FeedHub
from gwtui.watch.metrics import OF_FIGURE
from recorded_gateway_kit import MODEL, Inline, World
from resource_samples import endpoint_body, key, model_endpoints

ENDPOINT = endpoint_identity(MODEL, "northwind/fp8||fp8")


@asynccontextmanager
async def instance(path: Path, world: World, time: FakeClock) -> AsyncIterator[Recorder]:
    """One running program with its own feeds and its own connection to the file."""
    hub = FeedHub(world.client(), time.clock)
    archive = await Archive.open(path, time.clock)
    recorder = Recorder(hub, archive)
    await recorder.start()
    await time.settle()
    try:
        yield recorder
    finally:
        await recorder.stop()
        await archive.close()
        await hub.close()


async def changed(recorder: Recorder, time: FakeClock) -> list[tuple[str, str]]:
    result = await recorder.archive.read(
        lambda history: history.changes(time.start, time.now(), limit=99)
    )
    return [(change.kind, change.field) for change in reversed(result)]


@pytest.fixture(autouse=True)
def no_threads(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(archive_module, "ThreadPoolExecutor", Inline)


@pytest.fixture
def world() -> World:
    return World()


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "history" / "one.sqlite3"


@pytest.fixture
async def recorder(path: Path, world: World, time: FakeClock) -> AsyncIterator[Recorder]:
    async with instance(path, world, time) as running:
        yield running


def value_of(series: SeriesKey, moment: datetime, history: HistoryReader) -> Decimal | None:
    return history.value_at(series, moment).value


async def test_the_account_and_the_most_used_models_are_recorded(
    recorder: Recorder, world: World, time: FakeClock
) -> None:
    await time.advance(5)
    assert recorder.status.recording
    assert recorder.status.models == (MODEL,)
    assert recorder.status.error is None
    figures = {
        (series.resource, series.figure): series
        for series in await recorder.archive.read(lambda history: history.series())
    }
    assert figures["key", "limit_remaining"].identity == "a" * 64
    assert figures.keys() <= OF_FIGURE.keys()  # all are exported
    now = time.now()
    read = recorder.archive.read
    assert (await read(lambda history: history.value_at(BALANCE, now))).value == 60
    price = SeriesKey("endpoint", ENDPOINT, "price_prompt")
    assert (await read(partial(value_of, price, now))) == Decimal("0.0000027")
    weekly = {
        figure: await read(partial(value_of, figures["workspace", figure], now))
        for figure in ("budget_weekly", "usage_weekly", "budget_weekly_remaining")
    }
    assert weekly == {
        "budget_weekly": 30,
        "usage_weekly": Decimal("41.5"),
        "budget_weekly_remaining": Decimal("-11.5"),
    }
    assert await changed(recorder, time) == []


async def test_the_file_holds_neither_secrets_nor_patterns(
    recorder: Recorder, path: Path, world: World, time: FakeClock
) -> None:
    world.keys = [key(label="gw-v1-SENTINEL")]
    await time.advance(200)
    world.guardrails = [
        world.guardrail(content_filters=[{"pattern": "Falcon 2", "action": "flag"}])
    ]
    await time.advance(400)
    assert ("guardrail.changed", "content_filters") in await changed(recorder, time)
    for file in path.parent.iterdir():
        assert b"Falcon" not in file.read_bytes()
        assert b"SENTINEL" not in file.read_bytes()


async def test_sources_are_read_at_their_own_interval_without_focus(
    recorder: Recorder, world: World, time: FakeClock
) -> None:
    recorder.hub.pause_all()
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
    hub = recorder.hub
    observations: list[Observation] = []

    async def recorded(observation: Observation) -> None:
        observations.append(observation)

    recorder.on_recorded = recorded
    next(feed for feed in hub.feeds if feed.name == "credits").watch(lambda _state: None)
    world.reads.clear()
    await time.advance(600)
    assert world.reads.count("credits") == 60
    assert 10 <= sum(item.source == "credits" for item in observations) <= 13


async def test_changes_are_recorded(recorder: Recorder, world: World, time: FakeClock) -> None:
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
            ("key.created", ""),
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


async def test_a_manual_choice_of_models_replaces_the_automatic_one(
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


def test_the_most_used_models_are_watched_first() -> None:
    """Equal ones by name; a missing number counts as zero."""
    uses = {
        "a/c": 2,
        "a/b": 2,
        "a/most": 9,
        "a/unknown": None,
        "a/d": 1,
        "a/none": 0,
        "no name": 99,
    }
    rows = [ActivityRow(model=model, requests=count) for model, count in uses.items()]
    rows += [ActivityRow(model="a/d", requests=2), ActivityRow(model=None, requests=99)]
    assert most_used(rows) == ("a/most", "a/d", "a/b", "a/c", "a/none")
    assert most_used([ActivityRow(model="a/unknown", requests=None)]) == ("a/unknown",)


async def test_the_next_instance_takes_over_the_recording(
    path: Path, world: World, time: FakeClock
) -> None:
    other = World()
    async with instance(path, world, time) as first:
        async with instance(path, other, time) as second:
            await time.advance(120)
            assert first.status.recording
            assert not second.status.recording
            assert other.reads == []
            balance = await second.archive.read(partial(value_of, BALANCE, time.now()))
            assert balance == 60
            process = await second.archive.read(lambda history: history.recorder())
            assert process == os.getpid()
            await first.stop()
            await time.advance(CLAIM_EVERY)
            assert second.status.recording
            assert "credits" in other.reads
        world.reads.clear()
        await time.advance(120)
        assert world.reads == []


async def test_pending_readings_are_written_before_the_end(
    path: Path, world: World, time: FakeClock
) -> None:
    async with instance(path, world, time) as recorder:
        recorder._tasks[1].cancel()  # nothing is written meanwhile
        await asyncio.sleep(0)
        world.credits["total_usage"] = Decimal(41)
        await time.advance(61)
    again = await Archive.open(path, time.clock)
    assert await again.read(partial(value_of, BALANCE, time.now())) == 59
    await again.close()


async def test_a_finished_hour_is_rolled_up(recorder: Recorder, time: FakeClock) -> None:
    await time.advance(2 * 3600)
    hours = await recorder.archive.read(
        lambda history: history.connection.execute("SELECT DISTINCT hour FROM hours").fetchall()
    )
    assert len(hours) in {1, 2}


# Failures -----------------------------------------------------------------------------------------


def damage(path: Path) -> None:
    """Truncate a file to its header."""
    content = path.read_bytes()
    with path.open("r+b") as file:
        file.write(content[:100] + b"\xff" * (len(content) - 100))


async def test_a_failed_read_is_a_gap_and_deletes_nothing(
    recorder: Recorder, world: World, time: FakeClock
) -> None:
    await time.advance(61)
    for source in ("credits", "keys", "endpoints", "budgets"):
        world.faults[source] = ServerError("down", status=503)
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
    remaining = SeriesKey("workspace", space.identity, "budget_weekly_remaining")
    now = time.now()
    assert (await recorder.archive.read(lambda history: history.value_at(remaining, now))).value
    world.faults["keys"] = ServerError("down", status=503)
    await time.advance(1500)
    now = time.now()
    assert (
        await recorder.archive.read(lambda history: history.value_at(remaining, now))
    ).state == "gap"
    limit = remaining._replace(figure="budget_weekly")
    assert (await recorder.archive.read(lambda history: history.value_at(limit, now))).value == 30


async def test_an_unreadable_endpoint_list_deletes_nothing(
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
    endpoints, world.endpoints = world.endpoints, None
    await time.advance(45)
    assert await changed(recorder, time) == []
    await time.advance(120)
    assert await changed(recorder, time) == [(kinds.ENDPOINT_GONE, "")]
    world.endpoints = endpoints
    await time.advance(120)
    assert (await changed(recorder, time))[1:] == [(kinds.ENDPOINT_APPEARED, "")]
    facts = await recorder.archive.read(lambda history: history.facts_at(time.now(), "endpoint"))
    assert list(facts) == [Subject("endpoint", ENDPOINT)]


async def test_failures_of_the_file_do_not_end_the_recording(
    recorder: Recorder, world: World, time: FakeClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    await time.advance(61)

    def full(_db: object, _observation: object) -> None:
        raise sqlite3.OperationalError("database or disk is full")

    with monkeypatch.context() as patch:
        patch.setattr(recorder_module, "observe", full)
        await time.advance(61)
        assert "disk is full" in (recorder.status.error or "")
    await time.advance(120)
    assert recorder.status.error is None
    assert recorder.status.recording


async def test_a_file_damaged_meanwhile_is_set_aside_and_recording_goes_on(
    recorder: Recorder, path: Path, time: FakeClock
) -> None:
    await time.advance(300)
    with closing(sqlite3.connect(path)) as other:
        other.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
    damage(path)
    await time.advance(300)
    assert "moved to" in recorder.status.notice
    assert recorder.status.recording
    assert recorder.status.error is None
    now = time.now()
    assert (await recorder.archive.read(lambda history: history.value_at(BALANCE, now))).value == 60
