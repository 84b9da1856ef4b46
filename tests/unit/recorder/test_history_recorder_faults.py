"""The recorder when reads fail, the file breaks or the clock jumps."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
from recorder_kit import ENDPOINT, changed

from fake_clock import FakeClock
from gwtui.client.errors import ServerError
from gwtui.contract.models import ModelEndpoints
from gwtui.watch.history import model as kinds
from gwtui.watch.history import recorder as recorder_module
from gwtui.watch.history.model import SeriesKey, Subject
from gwtui.watch.history.reader import BALANCE
from gwtui.watch.history.recorder import Recorder
from recorded_gateway_kit import MODEL, World


def damage(path: Path) -> None:
    """Leave nothing but the header of a file."""
    content = path.read_bytes()
    with path.open("r+b") as file:
        file.write(content[:100] + b"\xff" * (len(content) - 100))


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
    left = SeriesKey("workspace", space.identity, "budget_weekly_remaining")
    now = time.now()
    assert (await recorder.archive.read(lambda history: history.value_at(left, now))).value
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


async def test_no_failure_of_the_file_ends_the_recording(
    recorder: Recorder, world: World, time: FakeClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    await time.advance(61)

    def full(_db: object, _seen: object) -> None:
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
