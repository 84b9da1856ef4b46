"""A large account, printed in little memory, and on a real terminal that answers at any moment.

With ``GWTUI_FULL=1`` the account is as large as the largest that is known; by default it has as
many keys as make anything quadratic stand out. Assignments, endpoints and workspaces are as many as
in the largest.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

import large_catalog
import watched_program
from large_account import key_name, make, workspace_name
from loaded_program import run, start
from pty_terminal import PtyTerminal, pty_terminal
from thoroughness import FULL

DOWN, ESCAPE = "\x1b[B", "\x1b"
KEYS = 100_000 if FULL else 12_000
ASSIGNMENTS, WORKSPACES, ENDPOINTS = 20_000, 2_000, 4_960
TIMES = 80
"""How many times the ordinary catalog makes so many endpoints."""
READING = 60 + KEYS / 50
"""Seconds within which the rows are there on a busy machine."""
WHOLE = f" {KEYS:,} keys"
"""What the list says of itself once all of them are there."""


@pytest.fixture(scope="module")
def gateway(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[str, str]]:
    """The base URL of a gateway with so many keys, assignments and endpoints, and a key to it."""
    database = tmp_path_factory.mktemp("large") / "large.sqlite3"
    make(database, KEYS, people=max(0, ASSIGNMENTS - KEYS))
    command = [sys.executable, str(Path(large_catalog.__file__)), str(TIMES)]
    words = ["gateway", "serve", "--port", "0", "--database", str(database)]
    with subprocess.Popen([*command, *words], stdout=subprocess.PIPE, text=True) as process:
        yield _served(process, database)
        process.terminate()


@pytest.fixture
def wide_gateway(tmp_path: Path) -> Iterator[tuple[str, str]]:
    """The same of a gateway with so many workspaces, and little in them."""
    database = tmp_path / "wide.sqlite3"
    make(database, 20, workspaces=WORKSPACES)
    words = ("gateway", "serve", "--port", "0", "--database", database)
    with start(*words, stdout=subprocess.PIPE, text=True) as process:
        yield _served(process, database)
        process.terminate()


def _served(process: subprocess.Popen[str], database: Path) -> tuple[str, str]:
    key = run("gateway", "issue-key", "--management", "--database", database).stdout.strip()
    assert process.stdout is not None
    return process.stdout.readline().strip(), key


def profiles(folder: Path, **gateways: tuple[str, str]) -> dict[str, str]:
    """The environment of a person with a profile for each of these gateways."""
    (folder / "gwtui").mkdir(parents=True, mode=0o700)
    lines = []
    for name, (base_url, key) in gateways.items():
        token = folder / f"{name}.token"
        token.touch(0o600)
        token.write_text(key)
        lines += [f"[profiles.{name}]", f'base_url = "{base_url}"', f'token_file = "{token}"', ""]
    (folder / "gwtui" / "profiles.toml").write_text("\n".join(lines))
    return {"XDG_CONFIG_HOME": str(folder)}


def answered_in(terminal: PtyTerminal, key: str, text: str) -> float:
    """Seconds from a key to the first screen that shows ``text``."""
    started = time.monotonic()
    terminal.send(key)
    terminal.wait_for(text, 30)
    return time.monotonic() - started


def opened_and_closed(terminal: PtyTerminal, key: str = "?", text: str = "Help ·") -> float:
    """Seconds that the help, or what else says ``text``, takes to come; it is closed again."""
    took = answered_in(terminal, key, text)
    terminal.send(ESCAPE)
    terminal.wait_gone(text, 30)
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


LIMIT = 0.25
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


@dataclass(frozen=True)
class Typist:
    """Types a key and waits for what it brings, then for a moment."""

    terminal: PtyTerminal

    def type(self, keys: str, text: str) -> None:
        self.terminal.send(keys)
        self.terminal.wait_for(text, 60 + KEYS / 500)
        self.terminal.pump(0.3)

    def filter(self, text: str, whole: str) -> None:
        """Narrow a list that says ``whole`` of itself otherwise, and clear that again."""
        self.type(f"/{text}", f"/ {text}")
        self.terminal.wait_for(" of ", 60)
        self.type(ESCAPE, whole)
        self.terminal.pump(0.7)  # two of them in one portion would be another key
        self.leave(f"/ {text}")

    def leave(self, text: str) -> None:
        """Close what shows ``text``; the list beneath a dialog is in sight all the time."""
        self.terminal.send(ESCAPE)
        self.terminal.wait_gone(text, 60)
        self.terminal.pump(0.3)


def stepped(terminal: PtyTerminal, number: int) -> float:
    """Seconds from a key to the row of this number, which is the next one."""
    return answered_in(terminal, DOWN, f"▌ {key_name(number)}")


FIRST = (("?", "Help ·"), ("\x10", "type to search"), ("/", "Tab  name"))
"""Keys of what is loaded when it is used for the first time, whatever the account holds."""


def while_rows_come(terminal: PtyTerminal) -> float:
    """Seconds that a key takes at most, what it uses for the first time being loaded then."""
    slowest = 0.0
    for number, (keys, text) in enumerate(FIRST, start=1):
        slowest = max(slowest, stepped(terminal, number), opened_and_closed(terminal, keys, text))
    return slowest


def until_all_are_there(terminal: PtyTerminal) -> float:
    """Seconds that a key takes at most, if rows are still coming."""
    slowest, number = 0.0, len(FIRST)
    deadline = time.monotonic() + READING
    while WHOLE not in terminal.text:
        assert time.monotonic() < deadline, "the rows never came"
        number += 1
        slowest = max(slowest, stepped(terminal, number), opened_and_closed(terminal))
    return slowest


def once_all_are_there(terminal: PtyTerminal) -> float:
    """Seconds that a key takes at most, from one row to the next and to another list and back."""
    slowest = answered_in(terminal, "g", f"▌ {key_name(0)}")
    for number in range(1, 25):
        slowest = max(slowest, stepped(terminal, number))
        terminal.pump(0.5)
    slowest = max(slowest, answered_in(terminal, "3", "models"), opened_and_closed(terminal))
    return max(slowest, answered_in(terminal, "2", WHOLE))


def walk(typist: Typist) -> None:
    """Go through the keys, assignments, endpoints and workspaces of two large accounts."""
    typist.type("*", f"{KEYS:,} marked")
    typist.type(DOWN, f"{KEYS:,} marked")
    typist.type("u", WHOLE)
    typist.type("r", "updated")
    typist.type("\x10", "type to search")
    typist.leave("type to search")
    typist.type("G", key_name(KEYS - 1))
    typist.type(":assignments\r", f" {max(ASSIGNMENTS, KEYS):,} assignments · ")
    typist.filter("99", " assignments · ")
    typist.type(":all-endpoints\r", f" {ENDPOINTS:,} endpoints · ")
    typist.filter("99", " endpoints · ")
    typist.type(":ws\r", "Default")
    typist.type(":ctx wide\r", f" {WORKSPACES + 1:,} workspaces · ")
    for number in range(3):
        typist.type(DOWN, f"▌ {workspace_name(number)}")


@pytest.mark.timeout(300 + KEYS / 10)
def test_keys_are_answered_and_the_event_loop_is_never_held_up(
    gateway: tuple[str, str], wide_gateway: tuple[str, str], tmp_path: Path
) -> None:
    report = tmp_path / "report.jsonl"
    watched = (sys.executable, str(Path(watched_program.__file__)), str(report))
    with pty_terminal(
        [*watched, "--profile", "large", "--read-only", "keys"],
        environment=profiles(tmp_path / "config", large=gateway, wide=wide_gateway),
        anew=True,
    ) as terminal:
        typist = Typist(terminal)
        terminal.wait_for(f"▌ {key_name(0)}", 60)
        slowest = while_rows_come(terminal)
        judged_from = time.monotonic()
        reference = opened_and_closed(terminal)
        slowest = max(slowest, until_all_are_there(terminal))
        terminal.pump(2)
        typist.filter("99", WHOLE)
        slowest = max(slowest, once_all_are_there(terminal))
        assert slowest < 3 + 10 * reference
        walk(typist)
        limit = LIMIT * slowness()
        terminal.send("q")
        assert terminal.wait_exit(20) == 0
    found = [json.loads(line) for line in report.read_text("utf-8").splitlines()]
    assert found, "nothing was measured"
    long = [one for one in found if one["at"] > judged_from and one["took"] > limit]
    assert not long, (limit, long)
