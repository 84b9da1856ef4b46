"""The end of the process with a write in flight: gone within 2 s, and the ledger says what is so.

The write hangs at the gateway, so that its answer never comes.
"""

from __future__ import annotations

import json
import signal
import sqlite3
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import pytest

from gwtui.embedded.faults import FaultInjector
from gwtui.local.ledger import Ledger
from gwtui.ui.terminal.driver import LONGEST_HANDLING
from gwtui.ui.terminal.shutdown import REACTION
from loaded_program import GWTUI
from login_kit import served_gateway
from pty_terminal import PtyTerminal, pty_terminal

HANGING = [*GWTUI, "--demo", "--fault", "hang:updateKey", "keys"]
LIMIT = 2.0
"""Seconds from the demand to the end of the process."""


def journal_in(home: Path) -> Ledger:
    return Ledger(home / "state" / "gwtui" / "audit.jsonl")


def send_a_write(terminal: PtyTerminal, home: Path, *, writes: int = 1) -> None:
    """Switch the selected key off; returns once the intent is on the disk."""
    terminal.send("x")
    terminal.wait_for("y confirms")
    terminal.send("y")
    end = time.monotonic() + 20
    while [one.outcome for one in journal_in(home).entries()][::-1].count("intent") < writes:
        assert time.monotonic() < end, terminal.text
        terminal.pump(0.05)
    terminal.pump(0.3)  # the request is on its way


@contextmanager
def a_write_in_flight(home: Path, *, controlling: bool = True) -> Iterator[PtyTerminal]:
    with pty_terminal(HANGING, controlling=controlling) as terminal:
        terminal.wait_for("airflow-staging", 60)
        send_a_write(terminal, home)
        yield terminal


def gone(terminal: PtyTerminal, limit: float = LIMIT) -> int:
    """The exit status; nothing is read from the terminal meanwhile."""
    try:
        return terminal.process.wait(limit)
    except subprocess.TimeoutExpired:
        raise AssertionError(f"still there after {limit} s") from None


def says_unknown(home: Path) -> None:
    """Every line of the ledger is whole, and the one write is open, its answer lost."""
    ledger = journal_in(home)
    lines = ledger.path.read_bytes().splitlines()
    assert all(json.loads(line) for line in lines)
    assert [one.outcome for one in ledger.entries()][::-1] == ["intent", "unknown"]
    (left,) = ledger.open_writes()
    assert (left.action, left.outcome) == ("keys.toggle", "unknown")


@pytest.mark.parametrize(("number", "status"), [(signal.SIGTERM, 143), (signal.SIGHUP, 129)])
def test_a_signal(number: signal.Signals, status: int, demo_home: Path) -> None:
    with a_write_in_flight(demo_home) as terminal:
        started = time.monotonic()
        terminal.signal(number)
        assert terminal.wait_exit() == status
        # Reading what comes last from the terminal takes the helper 0.2 s more.
        assert time.monotonic() - started < LIMIT + 0.3
        assert terminal.left_over_modes() == []
    says_unknown(demo_home)


@pytest.mark.parametrize("controlling", [True, False], ids=["hung-up", "nobody-tells"])
def test_a_lost_terminal(controlling: bool, demo_home: Path) -> None:
    with a_write_in_flight(demo_home, controlling=controlling) as terminal:
        terminal.hang_up()
        assert gone(terminal) == 129
    says_unknown(demo_home)


def test_a_terminal_that_takes_nothing_more(demo_home: Path) -> None:
    """A stalled line blocks whoever draws on it; the end does not wait for that."""
    with a_write_in_flight(demo_home) as terminal:
        for size in range(60):
            terminal.resize(100 + size, 40)  # repaints everything, and nobody reads
            time.sleep(0.02)
        terminal.signal(signal.SIGTERM)
        assert gone(terminal) == 143
    (left,) = journal_in(demo_home).open_writes()
    assert left.action == "keys.toggle"


def test_who_quits_is_told_what_is_waited_for(demo_home: Path) -> None:
    with a_write_in_flight(demo_home) as terminal:
        terminal.send("q")
        terminal.wait_for("Quit now?")
        terminal.send("y")
        terminal.wait_for("Waiting for the answer to the change")
        terminal.send("\r")  # Leave now
        assert terminal.wait_exit(LIMIT + 1) == 0
        assert terminal.left_over_modes() == []
    says_unknown(demo_home)


PROFILES = """# mine
default = "work"   # kept
[profiles.work]
base_url = "{address}"
"""


def test_two_dashboards_share_one_profile(private_home: Path) -> None:
    """The write of the one hangs, that of the other is applied; each is told apart to the end."""
    profiles = private_home / "config" / "gwtui" / "profiles.toml"
    profiles.parent.mkdir(mode=0o700)
    faults = FaultInjector()
    faults.arm("hang:updateKey x1")
    with served_gateway("simulated", faults) as gateway:
        profiles.write_text(PROFILES.format(address=gateway.base_url))
        before = profiles.read_bytes()
        command = [*GWTUI, "keys"]
        with (
            pty_terminal(command, environment={"GWTUI_TOKEN": gateway.management}) as one,
            pty_terminal(command, environment={"GWTUI_TOKEN": gateway.management}) as other,
        ):
            for terminal in (one, other):
                terminal.wait_for("airflow-staging", 60)
            send_a_write(one, private_home)
            send_a_write(other, private_home, writes=2)
            other.wait_for("disabled")
            other.send("q")
            assert other.wait_exit() == 0
            assert one.process.poll() is None
            one.signal(signal.SIGTERM)
            assert gone(one) == 143
    ledger = journal_in(private_home)
    entries = list(ledger.entries())[::-1]
    assert len(entries) == len(ledger.path.read_bytes().splitlines()) == 4
    first, second = (entry.id for entry in entries if entry.outcome == "intent")
    events: dict[str, list[Any]] = {first: [], second: []}
    for entry in entries:
        events[entry.id].append(entry.outcome)
    assert events == {first: ["intent", "unknown"], second: ["intent", "applied"]}
    assert [left.id for left in ledger.open_writes()] == [first]
    assert ledger.path.stat().st_mode & 0o077 == 0
    assert sorted(line.outcome for line in ledger.audit()) == ["applied", "unknown"]
    assert profiles.read_bytes() == before
    (history,) = (private_home / "data" / "gwtui" / "history").glob("work-*.sqlite3")
    with closing(sqlite3.connect(history)) as connection:
        assert connection.execute("PRAGMA integrity_check").fetchone() == ("ok",)
        assert connection.execute("SELECT count(*) FROM runs").fetchone()[0] > 0


BUSY = """
import sys
from gwtui.cli.main import main
from gwtui.ui.screens.resource import ResourceScreen

def busy(_screen):
    while True:
        pass

ResourceScreen.go_back = busy
sys.exit(main())
"""
"""The program, in which Escape on a list never ends."""


def test_ctrl_q_ends_a_program_that_hangs(demo_home: Path) -> None:
    with pty_terminal([sys.executable, "-c", BUSY, "--demo", "keys"]) as terminal:
        terminal.wait_for("airflow-staging", 60)
        terminal.send("\x1b")
        terminal.pump(0.5)
        started = time.monotonic()
        terminal.send("q")
        terminal.pump(0.5)
        terminal.send("\x11")
        assert terminal.wait_exit() == 0
        # Behind q nothing is read until it is handled.
        assert time.monotonic() - started < LONGEST_HANDLING + REACTION + LIMIT + 1
        assert terminal.left_over_modes() == []
