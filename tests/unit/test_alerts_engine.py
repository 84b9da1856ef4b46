"""The evaluation beside a real recorder: two instances, a file that changes, a gateway that fails.

The client is made by hand and the clock moves by hand; the recorder and the file are real.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import timedelta
from decimal import Decimal
from pathlib import Path

import pytest

from fake_clock import START, FakeClock
from gwtui.client.errors import ForbiddenError, ServerError
from gwtui.domain.alert_rules import CreditsRule
from gwtui.local.alerts import put_rule
from gwtui.watch.alerts.model import Alert, AlertEvent, AlertKey
from gwtui.watch.alerts.session import Alerts, open_alerts
from gwtui.watch.alerts.store import alerts_at, read_events
from gwtui.watch.feeds.alerts import alert_rules_feed, alerts_feed, serve_alerts
from gwtui.watch.history import archive as archive_module
from gwtui.watch.history.archive import Archive, ask
from gwtui.watch.history.model import Subject
from gwtui.watch.history.recorder import CLAIM_EVERY, Recorder, open_recording
from gwtui.watch.hub import FeedHub
from recorded_gateway_kit import Inline, World

CREDITS = AlertKey("credits-low", Subject("credits", "account"))
READ_FAULTS = ("credits", "keys", "workspaces", "guardrails", "endpoints", "members", "budgets")


@pytest.fixture(autouse=True)
def no_threads(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(archive_module, "ThreadPoolExecutor", Inline)


@pytest.fixture
def world() -> World:
    """Of its one key 83 % of the limit is used; everything else is well."""
    made = World()
    made.budgets = []
    return made


@dataclass
class Program:
    """One running program."""

    alerts: Alerts
    hub: FeedHub
    recorder: Recorder

    async def present(self) -> dict[str, Alert]:
        """What fires, by its rule."""
        found = await self.alerts.present()
        return {alert.key.rule: alert for alert in found if alert.status.alerting}

    async def told(self) -> list[tuple[str, str]]:
        return [(one.event, one.key.rule) for one in reversed(await self.alerts.events(100))]


@asynccontextmanager
async def program(folder: Path, world: World, time: FakeClock) -> AsyncIterator[Program]:
    hub = FeedHub(world.client(), time.clock)
    archive = await Archive.open(folder / "h" / "one.sqlite3", time.clock)
    recorder = Recorder(hub, archive)
    await recorder.start()
    async with open_alerts(recorder, folder / "alerts.toml", "kim@ops") as alerts:
        serve_alerts(hub, alerts)
        await time.settle()
        yield Program(alerts, hub, recorder)
    await recorder.stop()
    await archive.close()
    await hub.close()


async def test_it_evaluates_what_is_recorded(tmp_path: Path, world: World, time: FakeClock) -> None:
    async with program(tmp_path, world, time) as one:
        await time.advance(5)
        assert set(await one.present()) == {"key-near-limit"}, "83 % of the key's limit is used"
        world.credits["total_usage"] = Decimal(95)
        await time.advance(65)
        assert await one.told() == [("fired", "key-near-limit"), ("fired", "credits-low")]
        assert await one.alerts.acknowledge([CREDITS]) == 1
        assert not (await one.present())["credits-low"].loud
        world.credits["total_credits"] = Decimal(1000)
        await time.advance(65)
        assert (await one.told())[2:] == [
            ("acknowledged", "credits-low"),
            ("cleared", "credits-low"),
        ]
    path = tmp_path / "h" / "one.sqlite3"
    present = ask(path, lambda reader: alerts_at(reader, time.now()))
    assert [alert.key.rule for alert in present.firing] == ["key-near-limit"]
    assert not present.watching, "the lease was given back"
    assert present.as_of is not None
    assert len(ask(path, lambda reader: read_events(reader.connection))) == 4
    assert ask(path, lambda reader: read_events(reader.connection, since=time.now())) == ()


async def test_of_two_instances_one_evaluates_and_both_show(
    tmp_path: Path, world: World, time: FakeClock
) -> None:
    async with program(tmp_path, world, time) as one:
        await time.advance(5)
        async with program(tmp_path, world, time) as other:
            world.credits["total_usage"] = Decimal(95)
            await time.advance(130)
            assert other.recorder.status.recording is False
            assert await other.told() == await one.told()
            assert "credits-low" in await other.present()
            await other.alerts.silence([CREDITS], time.now() + timedelta(hours=1))
            assert (await one.present())["credits-low"].silenced_until is not None
            await one.recorder.stop()
            await time.advance(130)
            assert other.recorder.status.recording
            world.credits["total_credits"] = Decimal(1000)
            await time.advance(130)
            events = await other.alerts.events(10)
            assert (events[0].event, events[0].quiet) == ("cleared", True), "it goes on from there"
            assert sum(one.event == "fired" for one in events) == 2, "nothing fired twice"


async def test_rules_are_read_again_when_the_file_changes(
    tmp_path: Path, world: World, time: FakeClock
) -> None:
    rule = CreditsRule(name="Mine", fires_at=Decimal(70), clears_at=Decimal(70))
    async with program(tmp_path, world, time) as one:
        await time.advance(5)
        put_rule(tmp_path / "alerts.toml", "mine", rule)
        await time.advance(130)
        assert "mine" in await one.present()
        rows = await alert_rules_feed(one.hub).refresh()
        assert {row.id for row in rows.value or ()} > {"mine", "credits-low"}
        put_rule(tmp_path / "alerts.toml", "mine", rule.model_copy(update={"profile": "elsewhere"}))
        await time.advance(65)
        assert "mine" not in await one.present(), "it holds for another profile now"
        rows = await alert_rules_feed(one.hub).refresh()
        states = {row.id: (row.built_in, row.edited, row.here) for row in rows.value or ()}
        assert states["mine"] == (False, True, False)
        assert states["credits-low"] == (True, False, True)
        (tmp_path / "alerts.toml").write_text("[rules")
        await time.advance(65)
        assert one.alerts.problem.startswith("The rules stay as they were: ")
        assert (await one.present()).keys() == {"key-near-limit"}
        state = await alert_rules_feed(one.hub).refresh()
        assert state.error is not None
        assert "alerts.toml: is not valid TOML" in state.error.message


async def test_a_gateway_that_cannot_be_read_is_told_once_and_blinds_nothing_else(
    tmp_path: Path, world: World, time: FakeClock
) -> None:
    async with program(tmp_path, world, time) as one:
        await time.advance(65)
        fault = ServerError("down", status=503)
        world.faults = dict.fromkeys(READ_FAULTS, fault)
        await time.advance(420)
        assert (await one.told())[1:] == []
        await time.advance(420)
        assert (await one.told())[1:] == [("fired", "gateway-unreadable")]
        present = await one.present()
        assert present["gateway-unreadable"].name == "gateway"
        assert present["key-near-limit"].status.state == "firing", "a gap clears nothing"
        world.faults = {}
        await time.advance(420)
        assert (await one.told())[2:] == [("cleared", "gateway-unreadable")]


async def test_one_list_that_cannot_be_read_is_told_by_its_name(
    tmp_path: Path, world: World, time: FakeClock
) -> None:
    world.faults = {"guardrails": ForbiddenError("no", status=403)}
    async with program(tmp_path, world, time) as one:
        await time.advance(65)
        world.faults["credits"] = ServerError("down", status=500)
        await time.advance(900)
        found = (await one.present())["gateway-unreadable"]
        assert found.name == "reading of credits", "what this key may not read is no fault"


async def test_the_first_reading_of_a_history_that_opens_late_is_evaluated(
    tmp_path: Path, world: World, time: FakeClock
) -> None:
    hub = FeedHub(world.client(), time.clock)
    path = tmp_path / "h" / "one.sqlite3"
    async with (
        open_recording(hub, path) as history,
        open_alerts(history, tmp_path / "alerts.toml", "k") as alerts,
    ):
        await time.settle()
        await time.advance(5)
        assert [alert.key.rule for alert in await alerts.present()] == ["key-near-limit"]
    await hub.close()


async def test_an_unusable_history_is_a_problem_not_a_crash(
    tmp_path: Path, world: World, time: FakeClock
) -> None:
    hub = FeedHub(world.client(), time.clock)
    (tmp_path / "h").write_text("this is no directory")
    async with (
        open_recording(hub, tmp_path / "h" / "one.sqlite3") as history,
        open_alerts(history, tmp_path / "alerts.toml", "k") as alerts,
    ):
        serve_alerts(hub, alerts)
        await time.settle()
        assert "File exists" in alerts.problem
        state = await alerts_feed(hub).refresh()
        assert state.error is not None
        assert state.error.message == alerts.problem
        (tmp_path / "h").unlink()
        await time.advance(CLAIM_EVERY + 5)
        assert alerts.problem == ""
        assert history.status.recording, "it is tried again"
    await hub.close()


def test_events_are_json_for_programs() -> None:
    event = AlertEvent(START, "fired", CREDITS, "critical", "Low", "account", "$1 left", Decimal(1))
    assert event.as_json() == {
        "id": 0,
        "at": "2026-11-21T07:00:00Z",
        "event": "fired",
        "severity": "critical",
        "rule": "credits-low",
        "title": "Low",
        "resource": "credits",
        "identity": "account",
        "name": "account",
        "message": "$1 left",
        "value": "1",
        "who": None,
        "until": None,
        "silenced": False,
    }
