"""The person's own program: what it gets, what it does not get, and how long it may take."""

from __future__ import annotations

import asyncio
import json
import re
import sys
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from pathlib import Path

import pytest
from pydantic import JsonValue

from fake_clock import START
from gwtui.cli.main import main
from gwtui.domain.alert_rules import CreditsRule
from gwtui.embedded.demo import BASE_URL
from gwtui.local.alerts import run_alert_command
from gwtui.local.programs import ProgramError
from gwtui.watch.alerts import store
from gwtui.watch.alerts.evaluator import PersistentEvaluator
from gwtui.watch.alerts.model import AlertEvent, AlertKey
from gwtui.watch.alerts.session import MOST_WAITING, AlertNotifier
from gwtui.watch.history.file import history_path
from gwtui.watch.history.model import Observation, Subject
from history_kit import desk

EVENT = AlertEvent(
    START,
    "fired",
    AlertKey("low", Subject("credits", "account")),
    "critical",
    "Low",
    "account",
    "x",
)


def program(folder: Path, body: str) -> list[str]:
    """A program in Python that finds the test's folder as its first argument."""
    file = folder / "program.py"
    file.write_text(
        f"import os, sys, json, time, pathlib\nout = pathlib.Path(sys.argv[1])\n{body}\n"
    )
    return [sys.executable, str(file), str(folder)]


@asynccontextmanager
async def telling(notifier: AlertNotifier) -> AsyncIterator[Callable[[], Awaitable[None]]]:
    """Gives what waits until everything was told."""
    task = asyncio.create_task(notifier.run())
    try:
        yield lambda: asyncio.wait_for(notifier.waiting.join(), 10)
    finally:
        task.cancel()


async def test_it_gets_one_line_of_json_and_no_token(
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
    async with telling(notifier) as told:
        notifier.notify(program(tmp_path, body), [EVENT])
        await told()
    lines = (tmp_path / "in").read_text().splitlines()
    assert len(lines) == 1
    given = json.loads(lines[0])
    assert given == {
        **EVENT.as_json(),
        "profile": "work",
        "gateway": "https://gateway.example",
    }
    environment = (tmp_path / "env").read_text()
    assert "GWTUI_TOKEN" not in environment
    assert "gw-mgmt-v1-secret" not in environment
    session, process = (tmp_path / "session").read_text().split()
    assert session == process, "a session of its own"


async def test_a_slow_one_is_ended_with_its_children(tmp_path: Path) -> None:
    body = (
        "child = os.fork()\n"
        "(out / f'pid-{bool(child)}').write_text(str(os.getpid()))\n"
        "time.sleep(60)"
    )
    begun = time.monotonic()
    with pytest.raises(ProgramError, match=r"did not end within 1 s"):
        await run_alert_command(program(tmp_path, body), "{}", limit=1)
    assert time.monotonic() - begun < 10
    for name in ("pid-True", "pid-False"):
        wait_until_gone(int((tmp_path / name).read_text()))


def wait_until_gone(pid: int) -> None:
    for _ in range(500):
        try:
            state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
        except FileNotFoundError:
            return
        if state == "Z":  # ended; whoever adopted it has not looked yet
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


async def test_one_that_does_not_read_is_no_failure() -> None:
    await run_alert_command([sys.executable, "-c", "pass"], "x" * 1_000_000)


async def test_the_same_failure_is_told_once(tmp_path: Path) -> None:
    failures: list[str] = []
    notifier = AlertNotifier({})
    notifier.failed = failures.append
    async with telling(notifier) as told:
        for _ in range(3):
            notifier.notify(["/nowhere/at-all"], [EVENT])
            await told()
        assert len(failures) == 1
        assert "/nowhere/at-all" in failures[0]
        notifier.notify([sys.executable, "-c", ""], [EVENT])
        notifier.notify(["/nowhere/at-all"], [EVENT])
        await told()
    assert len(failures) == 2, "after it worked, it is news again"


async def test_it_is_told_what_is_to_be_told_one_after_the_other(
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
    async with telling(notifier) as told:
        notifier.notify(["x"], events)
        notifier.notify(None, events)
        await told()
        assert [json.loads(text)["id"] for text in texts] == list(range(10))
        assert most == 1
        notifier.notify(["x"], [replace(EVENT, id=number) for number in range(500)])
        await told()
    assert len(texts) <= 10 + MOST_WAITING, "an avalanche does not start as many"


def test_the_command_can_be_tried(
    private_home: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["alerts", "test"]) == 2
    assert "has no command" in capsys.readouterr().err
    config = private_home / "config" / "gwtui"
    config.mkdir(parents=True, exist_ok=True)
    command = program(tmp_path, "(out / 'in').write_text(sys.stdin.read())")
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
    """What the demo recorded: an alert that fired and was silenced."""
    path = history_path(private_home / "data" / "gwtui", "demo", BASE_URL)
    now = datetime.now(UTC)
    rule = CreditsRule(name="Low", fires_at=Decimal(10), clears_at=Decimal(12))
    values = {Subject("credits", "account"): {"balance": Decimal(5)}}
    with desk(path) as opened:
        for age in (10, 0):
            at = now - timedelta(days=age)
            if age:
                seen = Observation("credits", at, 60, values)
                opened.observe(seen)
                PersistentEvaluator().run(opened.connection, {"low": rule}, (seen,), at)
            else:
                key = AlertKey("low", Subject("credits", "account"))
                store.silence(
                    opened.connection, [key], at, until=at + timedelta(hours=1), who="kim@ops"
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


def test_their_history_is_listed(recorded: Path, capsys: pytest.CaptureFixture[str]) -> None:
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


def test_nothing_recorded_is_said(private_home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["alerts", "--base-url", "https://gateway.example/api/v1"]) == 0
    out, err = capsys.readouterr()
    assert out == ""
    assert "Nothing is recorded" in err
