"""Alerts beside a real recorder, the command that runs for them, and their lists."""

from __future__ import annotations

import asyncio
import json
import re
import sys
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from pathlib import Path

import pytest
from pydantic import JsonValue

from fake_clock import START, FakeClock
from gwtui.cli.main import main
from gwtui.client.errors import ForbiddenError, ServerError
from gwtui.domain.alert_rules import CreditsRule
from gwtui.embedded.demo import BASE_URL
from gwtui.local.alerts import put_rule, run_alert_command
from gwtui.local.programs import ProgramError
from gwtui.watch.alerts import store
from gwtui.watch.alerts.evaluator import PersistentEvaluator
from gwtui.watch.alerts.model import Alert, AlertEvent, AlertKey
from gwtui.watch.alerts.session import MOST_WAITING, AlertNotifier, Alerts, open_alerts
from gwtui.watch.alerts.store import alerts_at, read_events
from gwtui.watch.feeds.alerts import alert_rules_feed, alerts_feed, attach_alerts
from gwtui.watch.history import archive as archive_module
from gwtui.watch.history.archive import Archive, ask
from gwtui.watch.history.file import history_path
from gwtui.watch.history.model import Observation, Subject
from gwtui.watch.history.recorder import CLAIM_EVERY, Recorder, open_recording
from gwtui.watch.hub import FeedHub
from history_kit import open_history
from recorded_gateway_kit import Inline, World

CREDITS = AlertKey("credits-low", Subject("credits", "account"))
READ_FAULTS = ("credits", "keys", "workspaces", "guardrails", "endpoints", "members", "budgets")


@pytest.fixture(autouse=True)
def no_threads(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(archive_module, "ThreadPoolExecutor", Inline)


@pytest.fixture
def world() -> World:
    """Its one key has used 83 % of the limit; everything else is fine."""
    created = World()
    created.budgets = []
    return created


@dataclass
class Program:
    """One running program."""

    alerts: Alerts
    hub: FeedHub
    recorder: Recorder

    async def present(self) -> dict[str, Alert]:
        """The firing alerts, by rule."""
        result = await self.alerts.active()
        return {alert.key.rule: alert for alert in result if alert.status.is_alerting}

    async def transitions(self) -> list[tuple[str, str]]:
        return [(item.event, item.key.rule) for item in reversed(await self.alerts.events(100))]


@asynccontextmanager
async def program(folder: Path, world: World, time: FakeClock) -> AsyncIterator[Program]:
    hub = FeedHub(world.client(), time.clock)
    archive = await Archive.open(folder / "h" / "one.sqlite3", time.clock)
    recorder = Recorder(hub, archive)
    await recorder.start()
    async with open_alerts(recorder, folder / "alerts.toml", "kim@ops") as alerts:
        attach_alerts(hub, alerts)
        await time.settle()
        yield Program(alerts, hub, recorder)
    await recorder.stop()
    await archive.close()
    await hub.close()


async def test_recorded_readings_are_evaluated(
    tmp_path: Path, world: World, time: FakeClock
) -> None:
    async with program(tmp_path, world, time) as running:
        await time.advance(5)
        assert set(await running.present()) == {"key-near-limit"}, "83 % is used"
        world.credits["total_usage"] = Decimal(95)
        await time.advance(65)
        assert await running.transitions() == [
            ("fired", "key-near-limit"),
            ("fired", "credits-low"),
        ]
        assert await running.alerts.acknowledge([CREDITS]) == 1
        assert not (await running.present())["credits-low"].loud
        world.credits["total_credits"] = Decimal(1000)
        await time.advance(65)
        assert (await running.transitions())[2:] == [
            ("acknowledged", "credits-low"),
            ("cleared", "credits-low"),
        ]
    path = tmp_path / "h" / "one.sqlite3"
    present = ask(path, lambda reader: alerts_at(reader, time.now()))
    assert [alert.key.rule for alert in present.firing] == ["key-near-limit"]
    assert not present.watching, "the lease is released"
    assert present.as_of is not None
    assert len(ask(path, lambda reader: read_events(reader.connection))) == 4
    assert ask(path, lambda reader: read_events(reader.connection, since=time.now())) == ()


async def test_one_instance_evaluates_and_both_show_alerts(
    tmp_path: Path, world: World, time: FakeClock
) -> None:
    async with program(tmp_path, world, time) as first:
        await time.advance(5)
        async with program(tmp_path, world, time) as second:
            world.credits["total_usage"] = Decimal(95)
            await time.advance(130)
            assert second.recorder.status.recording is False
            assert await second.transitions() == await first.transitions()
            assert "credits-low" in await second.present()
            await second.alerts.silence([CREDITS], time.now() + timedelta(hours=1))
            assert (await first.present())["credits-low"].silenced_until is not None
            await first.recorder.stop()
            await time.advance(130)
            assert second.recorder.status.recording
            world.credits["total_credits"] = Decimal(1000)
            await time.advance(130)
            events = await second.alerts.events(10)
            assert (events[0].event, events[0].quiet) == ("cleared", True), (
                "the silence still applies"
            )
            assert sum(event.event == "fired" for event in events) == 2, "no alert fired twice"


async def test_rules_are_read_again_when_the_file_changes(
    tmp_path: Path, world: World, time: FakeClock
) -> None:
    rule = CreditsRule(name="Mine", fires_at=Decimal(70), clears_at=Decimal(70))
    async with program(tmp_path, world, time) as running:
        await time.advance(5)
        put_rule(tmp_path / "alerts.toml", "mine", rule)
        await time.advance(130)
        assert "mine" in await running.present()
        rows = await alert_rules_feed(running.hub).refresh()
        assert {row.id for row in rows.value or ()} > {"mine", "credits-low"}
        put_rule(tmp_path / "alerts.toml", "mine", rule.model_copy(update={"profile": "elsewhere"}))
        await time.advance(65)
        assert "mine" not in await running.present(), "the rule applies to another profile"
        rows = await alert_rules_feed(running.hub).refresh()
        states = {row.id: (row.built_in, row.edited, row.here) for row in rows.value or ()}
        assert states["mine"] == (False, True, False)
        assert states["credits-low"] == (True, False, True)
        (tmp_path / "alerts.toml").write_text("[rules")
        await time.advance(65)
        assert running.alerts.problem.startswith("The rules stay as they were: ")
        assert (await running.present()).keys() == {"key-near-limit"}
        state = await alert_rules_feed(running.hub).refresh()
        assert state.error is not None
        assert "alerts.toml: is not valid TOML" in state.error.message


async def test_an_unreadable_gateway_fires_once(
    tmp_path: Path, world: World, time: FakeClock
) -> None:
    async with program(tmp_path, world, time) as running:
        await time.advance(65)
        fault = ServerError("down", status=503)
        world.faults = dict.fromkeys(READ_FAULTS, fault)
        await time.advance(420)
        assert (await running.transitions())[1:] == []
        await time.advance(420)
        assert (await running.transitions())[1:] == [("fired", "gateway-unreadable")]
        present = await running.present()
        assert present["gateway-unreadable"].name == "gateway"
        assert present["key-near-limit"].status.state == "firing", "a gap clears nothing"
        world.faults = {}
        await time.advance(420)
        assert (await running.transitions())[2:] == [("cleared", "gateway-unreadable")]


async def test_an_unreadable_list_is_reported_by_name(
    tmp_path: Path, world: World, time: FakeClock
) -> None:
    world.faults = {"guardrails": ForbiddenError("no", status=403)}
    async with program(tmp_path, world, time) as running:
        await time.advance(65)
        world.faults["credits"] = ServerError("down", status=500)
        await time.advance(900)
        result = (await running.present())["gateway-unreadable"]
        assert result.name == "reading of credits", "a forbidden list is no failure"


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
        assert [alert.key.rule for alert in await alerts.active()] == ["key-near-limit"]
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
        attach_alerts(hub, alerts)
        await time.settle()
        assert "File exists" in alerts.problem
        state = await alerts_feed(hub).refresh()
        assert state.error is not None
        assert state.error.message == alerts.problem
        (tmp_path / "h").unlink()
        await time.advance(CLAIM_EVERY + 5)
        assert alerts.problem == ""
        assert history.status.recording, "the file is tried again"
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


# The command of alerts ----------------------------------------------------------------------------


EVENT = AlertEvent(
    START,
    "fired",
    AlertKey("low", Subject("credits", "account")),
    "critical",
    "Low",
    "account",
    "x",
)


def script(folder: Path, body: str) -> list[str]:
    """A Python script with the test's directory as its first argument."""
    file = folder / "script.py"
    file.write_text(
        f"import os, sys, json, time, pathlib\nout = pathlib.Path(sys.argv[1])\n{body}\n"
    )
    return [sys.executable, str(file), str(folder)]


@asynccontextmanager
async def telling(notifier: AlertNotifier) -> AsyncIterator[Callable[[], Awaitable[None]]]:
    """Return a function that waits until everything was reported."""
    task = asyncio.create_task(notifier.run())
    try:
        yield lambda: asyncio.wait_for(notifier.waiting.join(), 10)
    finally:
        task.cancel()


async def test_the_command_gets_one_json_line_and_no_token(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GWTUI_TOKEN", "gw-mgmt-v1-secret")
    body = (
        "(out / 'in').write_text(sys.stdin.read())\n"
        "(out / 'env').write_text(json.dumps(dict(os.environ)))\n"
        "(out / 'session').write_text(f'{os.getsid(0)} {os.getpid()}')\n"
        "print('noise'); print('noise', file=sys.stderr)"
    )
    about: dict[str, JsonValue] = {"profile": "work", "gateway": "https://gateway.example"}
    notifier = AlertNotifier(about)
    async with telling(notifier) as delivered:
        notifier.notify(script(tmp_path, body), [EVENT])
        await delivered()
    lines = (tmp_path / "in").read_text().splitlines()
    assert len(lines) == 1
    line = json.loads(lines[0])
    assert line == {
        **EVENT.as_json(),
        "profile": "work",
        "gateway": "https://gateway.example",
    }
    environment = (tmp_path / "env").read_text()
    assert "GWTUI_TOKEN" not in environment
    assert "gw-mgmt-v1-secret" not in environment
    session, process = (tmp_path / "session").read_text().split()
    assert session == process, "the command runs in its own session"


async def test_a_slow_command_is_killed_with_its_children(tmp_path: Path) -> None:
    body = (
        "child = os.fork()\n"
        "(out / f'pid-{bool(child)}').write_text(str(os.getpid()))\n"
        "time.sleep(60)"
    )
    start = time.monotonic()
    with pytest.raises(ProgramError, match=r"did not end within 1 s"):
        await run_alert_command(script(tmp_path, body), "{}", limit=1)
    assert time.monotonic() - start < 10
    for name in ("pid-True", "pid-False"):
        wait_until_gone(int((tmp_path / name).read_text()))


def wait_until_gone(pid: int) -> None:
    for _ in range(500):
        try:
            state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
        except FileNotFoundError:
            return
        if state == "Z":  # ended, and its new parent has not reaped it yet
            return
        time.sleep(0.01)
    raise AssertionError("it still runs")


@pytest.mark.parametrize(
    ("command", "says"),
    [
        (["/nowhere/at-all"], "/nowhere/at-all: No such file or directory"),
        ([sys.executable, "-c", "raise SystemExit(3)"], "ended with status 3"),
        (["a\0b"], "cannot be run"),
    ],
)
async def test_failures_are_named(command: list[str], says: str) -> None:
    with pytest.raises(ProgramError) as caught:
        await run_alert_command(command, "{}")
    assert says in str(caught.value)


async def test_a_command_that_reads_nothing_does_not_fail() -> None:
    await run_alert_command([sys.executable, "-c", "pass"], "x" * 1_000_000)


async def test_a_repeated_failure_is_reported_once(tmp_path: Path) -> None:
    failures: list[str] = []
    notifier = AlertNotifier({})
    notifier.on_failure = failures.append
    async with telling(notifier) as delivered:
        for _ in range(3):
            notifier.notify(["/nowhere/at-all"], [EVENT])
            await delivered()
        assert len(failures) == 1
        assert "/nowhere/at-all" in failures[0]
        notifier.notify([sys.executable, "-c", ""], [EVENT])
        notifier.notify(["/nowhere/at-all"], [EVENT])
        await delivered()
    assert len(failures) == 2, "a failure after a success is reported again"


async def test_the_command_runs_for_one_event_at_a_time(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    running = most = 0
    texts: list[str] = []

    async def tell(_command: object, text: str) -> None:
        nonlocal running, most
        running += 1
        most = max(most, running)
        await asyncio.sleep(0)
        texts.append(text)
        running -= 1

    monkeypatch.setattr("gwtui.watch.alerts.session.run_alert_command", tell)
    notifier = AlertNotifier({})
    events = [replace(EVENT, id=number) for number in range(10)]
    events += [replace(EVENT, id=50, quiet=True), replace(EVENT, id=51, event="acknowledged")]
    async with telling(notifier) as delivered:
        notifier.notify(["x"], events)
        notifier.notify(None, events)
        await delivered()
        assert [json.loads(text)["id"] for text in texts] == list(range(10))
        assert most == 1
        notifier.notify(["x"], [replace(EVENT, id=number) for number in range(500)])
        await delivered()
    assert len(texts) <= 10 + MOST_WAITING, "pending notifications are bounded"


def test_the_command_can_be_tried(
    private_home: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["alerts", "test"]) == 2
    assert "has no command" in capsys.readouterr().err
    config = private_home / "config" / "gwtui"
    config.mkdir(parents=True, exist_ok=True)
    command = script(tmp_path, "(out / 'in').write_text(sys.stdin.read())")
    (config / "alerts.toml").write_text(f"[effects]\ncommand = {json.dumps(command)}\n")
    assert main(["alerts", "test"]) == 0
    assert (
        json.loads((tmp_path / "in").read_text())["message"]
        == "this is a test of the alert command"
    )
    (config / "alerts.toml").write_text('[effects]\ncommand = ["/nowhere/at-all"]\n')
    assert main(["alerts", "test"]) == 1
    assert "/nowhere/at-all" in capsys.readouterr().err


# Lists ------------------------------------------------------------------------------------------


@pytest.fixture
def recorded(private_home: Path) -> Path:
    """The history of the demo: an alert that fired and was silenced."""
    path = history_path(private_home / "data" / "gwtui", "demo", BASE_URL)
    now = datetime.now(UTC)
    rule = CreditsRule(name="Low", fires_at=Decimal(10), clears_at=Decimal(12))
    values = {Subject("credits", "account"): {"balance": Decimal(5)}}
    with open_history(path) as opened:
        for age in (10, 0):
            moment = now - timedelta(days=age)
            if age:
                observation = Observation("credits", moment, 60, values)
                opened.observe(observation)
                PersistentEvaluator().run(opened.connection, {"low": rule}, (observation,), moment)
            else:
                key = AlertKey("low", Subject("credits", "account"))
                store.silence(
                    opened.connection,
                    [key],
                    moment,
                    until=moment + timedelta(hours=1),
                    who="kim@ops",
                )
    return path


def test_alerts_are_listed(recorded: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["alerts", "--demo"]) == 0
    out, err = capsys.readouterr()
    assert re.search(r"silenced +\$5.00 left +critical", out)
    assert "last reading 10 days ago; no dashboard is watching now" in err
    assert "gwtui: 1 alert\n" in err
    assert main(["alerts", "--demo", "--output", "json"]) == 0
    (row,) = json.loads(capsys.readouterr().out)
    assert (row["rule"], row["value"], row["resource"]) == ("low", 5, "credits")
    assert row["silenced_until"].endswith("Z")


def test_alert_history_is_listed(recorded: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["alerts", "history", "--demo", "--output", "ndjson"]) == 0
    lines = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert [(line["event"], line["who"]) for line in lines] == [
        ("silenced", "kim@ops"),
        ("fired", None),
    ]
    assert main(["alerts", "history", "--demo", "--since", "2d", "--output", "csv"]) == 0
    assert len(capsys.readouterr().out.splitlines()) == 2
    assert main(["alerts", "history", "--demo", "--since", "soon"]) == 2
    with pytest.raises(SystemExit, match="2"):
        main(["alerts", "--demo", "--since", "2d"])


def test_rules_are_listed(private_home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["alerts", "rules", "--output", "json"]) == 0
    rows = {row["id"]: row for row in json.loads(capsys.readouterr().out)}
    assert rows["credits-low"]["kind"] == "credits-below"
    assert main(["alerts", "rules"]) == 0
    out = capsys.readouterr().out
    assert "below 10 USD" in out
    assert {"on", "off"} < {*out.split()}
    config = private_home / "config" / "gwtui"
    config.mkdir(parents=True)
    (config / "alerts.toml").write_text("[rules.x]\n")
    assert main(["alerts", "rules"]) == 2
    assert "alerts.toml: rules.x.kind" in capsys.readouterr().err


def test_alerts_without_a_history_are_explained(
    private_home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["alerts", "--base-url", "https://gateway.example/api/v1"]) == 0
    out, err = capsys.readouterr()
    assert out == ""
    assert "Nothing is recorded" in err
