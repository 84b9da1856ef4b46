"""A large account, printed in little memory, and on a real terminal that answers at any moment.

``GWTUI_TEST_KEYS=100000`` makes the account as large as the largest that is known; by default it
has as many keys as make anything quadratic stand out.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

import watched_program
from large_account import key_name, make
from loaded_program import GWTUI, run, start
from pty_terminal import PtyTerminal, pty_terminal

DOWN, ESCAPE = "\x1b[B", "\x1b"
KEYS = int(os.environ.get("GWTUI_TEST_KEYS", "12000"))
READING = 60 + KEYS / 50
"""Seconds within which the rows are there on a busy machine."""


@pytest.fixture(scope="module")
def gateway(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[str, str]]:
    """The base URL of a gateway with so many keys, and a key that may manage them."""
    database = tmp_path_factory.mktemp("large") / "large.sqlite3"
    make(database, KEYS)
    key = run("gateway", "issue-key", "--management", "--database", database).stdout.strip()
    serve = ("gateway", "serve", "--port", "0", "--database", database)
    with start(*serve, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        yield process.stdout.readline().strip(), key
        process.terminate()


def answered_in(terminal: PtyTerminal, key: str, text: str) -> float:
    """Seconds from a key to the first screen that shows ``text``."""
    started = time.monotonic()
    terminal.send(key)
    terminal.wait_for(text, 30)
    return time.monotonic() - started


def opened_and_closed(terminal: PtyTerminal) -> float:
    """Seconds that the help takes to come; it is closed again."""
    took = answered_in(terminal, "?", "Help ·")
    terminal.send(ESCAPE)
    terminal.wait_gone("Help ·", 30)
    return took


@pytest.mark.timeout(120 + KEYS / 100)
def test_keys_are_printed_as_they_come_in_memory_that_stays(gateway: tuple[str, str]) -> None:
    base_url, key = gateway
    words = ("--base-url", base_url, "keys", "list", "--output", "ndjson")
    environment = {**os.environ, "GWTUI_TOKEN": key}
    with start(*words, env=environment, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        hashes, peaks = set(), []
        for number, line in enumerate(process.stdout, start=1):
            hashes.add(json.loads(line)["hash"])
            if number in {3_000, KEYS - 2_000}:
                peaks.append(peak_mib(process.pid))
        assert process.wait(60) == 0
    assert len(hashes) == KEYS
    first, last = peaks
    # 7,000 rows that are held take 20 MiB.
    assert last - first < 5 + KEYS / 20_000
    with start(*words, env=environment, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        process.stdout.readline()
        process.stdout.close()
        assert process.wait(60) == 0


def peak_mib(process: int) -> float:
    """The most memory that a process was resident with, so far."""
    status = Path(f"/proc/{process}/status").read_text("ascii")
    return int(status.partition("VmHWM:")[2].split()[0]) / 1024


@pytest.mark.timeout(240 + KEYS / 25)
def test_keys_are_answered_whatever_the_account_holds(gateway: tuple[str, str]) -> None:
    base_url, key = gateway
    command = [*GWTUI, "--base-url", base_url, "keys"]
    with pty_terminal(command, environment={"GWTUI_TOKEN": key}) as terminal:
        terminal.wait_for("Loading keys", 60)
        reference = opened_and_closed(terminal)
        slowest = 0.0
        deadline = time.monotonic() + READING
        while key_name(0) not in terminal.text:
            assert time.monotonic() < deadline, "the rows never came"
            slowest = max(slowest, opened_and_closed(terminal))
        for step in range(24):
            slowest = max(slowest, answered_in(terminal, DOWN, f"▌ {key_name(step + 1)}"))
            terminal.pump(0.5)
        slowest = max(slowest, answered_in(terminal, "3", "models"), opened_and_closed(terminal))
        slowest = max(slowest, answered_in(terminal, "2", f"{KEYS:,} keys"))
        assert slowest < 3 + 10 * reference
        terminal.send("q")
        assert terminal.wait_exit(20) == 0


LIMIT = 0.05
"""Seconds that the event loop may compute without a look at the keyboard."""
QUIET = 0.0066
"""Seconds that ``slowness`` computes on the machine where the limit was set, alone on it."""


def slowness() -> float:
    """How many times as long as that some work takes here and now, at its worst; 1 or more.

    Whoever shares the caches of a processor makes it slower without taking any of its time.
    """
    worst = QUIET
    for _ in range(20):
        begun = time.thread_time()
        made: dict[int, tuple[int, str]] = {}
        for number in range(60_000):
            made[number % 977] = (number, str(number))
        worst = max(worst, time.thread_time() - begun)
    return worst / QUIET


@pytest.mark.timeout(240 + KEYS / 25)
def test_the_event_loop_is_never_held_up(gateway: tuple[str, str], tmp_path: Path) -> None:
    base_url, key = gateway
    report = tmp_path / "report.jsonl"
    watched = (sys.executable, str(Path(watched_program.__file__)), str(report))
    whole = f" {KEYS:,} keys"
    with pty_terminal(
        [*watched, "--base-url", base_url, "--read-only", "keys"],
        environment={"GWTUI_TOKEN": key},
        anew=True,
    ) as terminal:

        def step(keys: str, text: str) -> None:
            terminal.send(keys)
            terminal.wait_for(text, 60)
            terminal.pump(0.3)

        terminal.wait_for("so far", 60)
        terminal.wait_for(" keys shown", 60)
        # What is used for the first time is loaded then, whatever the account holds.
        for keys, text in (("?", "Help ·"), ("\x10", "Find an action"), ("/", "Tab  name")):
            step(keys, text)
            step(ESCAPE, " by name")
        judged_from = time.monotonic()
        terminal.wait_for(whole, READING)
        terminal.pump(2)
        step("/99", " of ")
        step(ESCAPE, whole)
        terminal.send(ESCAPE)
        terminal.wait_gone("/ 99", 60)
        step("*", f"{KEYS:,} marked")
        step(DOWN, f"{KEYS:,} marked")
        step("u", whole)
        step("r", "updated")
        step("\x10", "Find an action")
        step(ESCAPE, whole)
        step("G", key_name(KEYS - 1))
        limit = LIMIT * slowness()
        terminal.send("q")
        assert terminal.wait_exit(20) == 0
    found = [json.loads(line) for line in report.read_text("utf-8").splitlines()]
    assert found, "nothing was measured"
    long = [one for one in found if one["at"] > judged_from and one["took"] > limit]
    assert not long, (limit, long)
