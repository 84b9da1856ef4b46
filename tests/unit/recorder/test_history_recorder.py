"""The recorder: what it samples from feeds, while no other process records."""

from __future__ import annotations

import asyncio
import os
from datetime import datetime
from decimal import Decimal
from functools import partial
from pathlib import Path

import pytest
from recorder_kit import ENDPOINT, changed, instance

from fake_clock import FakeClock
from gwtui.contract.usage import ActivityRow
from gwtui.watch.history import model as kinds
from gwtui.watch.history.archive import Archive
from gwtui.watch.history.model import Observation, SeriesKey, unit_of
from gwtui.watch.history.reader import BALANCE, HistoryReader
from gwtui.watch.history.recorder import CLAIM_EVERY, Recorder
from gwtui.watch.history.writer import most_used
from recorded_gateway_kit import MODEL, World
from resource_samples import endpoint_body, key, model_endpoints


def value_of(series: SeriesKey, at: datetime, history: HistoryReader) -> Decimal | None:
    return history.value_at(series, at).value


async def test_it_records_the_account_and_the_most_used_models(
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
    assert unit_of(figures["workspace", "budget_weekly_remaining"]) == "USD"
    assert unit_of(figures["endpoint", "latency_p99"]) == "ms"
    assert unit_of(figures["endpoint", "price_prompt"]) == "USD/token"
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


async def test_no_secret_and_no_pattern_is_in_the_file(
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


async def test_each_thing_is_read_at_its_pace_also_without_focus(
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
    told: list[Observation] = []
    recorder.recorded = told.append
    next(feed for feed in hub.feeds if feed.name == "credits").watch(lambda _state: None)
    world.reads.clear()
    await time.advance(600)
    assert world.reads.count("credits") == 60
    assert 10 <= sum(one.source == "credits" for one in told) <= 13


async def test_what_changes_is_kept(recorder: Recorder, world: World, time: FakeClock) -> None:
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


def test_the_most_used_models_are_watched_first() -> None:
    """Of equal ones in the order of their names; what says no number counts nothing."""
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


async def test_what_arrived_is_written_before_the_end(
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


async def test_an_hour_that_is_over_is_summed_up(recorder: Recorder, time: FakeClock) -> None:
    await time.advance(2 * 3600)
    hours = await recorder.archive.read(
        lambda history: history.connection.execute("SELECT DISTINCT hour FROM hours").fetchall()
    )
    assert len(hours) in {1, 2}
