"""The end of the process with a write in flight: gone within 2 s, and the ledger says what is so.

The write hangs at the gateway, so that its answer never comes.
"""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from gwtui.local.ledger import Ledger
from gwtui.ui.terminal.shutdown import REACTION
from loaded_program import GWTUI
from pty_terminal import PtyTerminal, pty_terminal

HANGING = [*GWTUI, "--demo", "--fault", "hang:updateKey", "keys"]
LIMIT = 2.0
"""Seconds from the demand to the end of the process."""


def journal_in(home: Path) -> Ledger:
    return Ledger(home / "state" / "gwtui" / "audit.jsonl")


@contextmanager
def a_write_in_flight(home: Path, *, controlling: bool = True) -> Iterator[PtyTerminal]:
    """The selected key is being switched off; the intent is on the disk."""
    with pty_terminal(HANGING, controlling=controlling) as terminal:
        terminal.answer(("airflow-staging", "x"), ("y confirms", "y"))
        end = time.monotonic() + 20
        while not [*journal_in(home).entries()]:
            assert time.monotonic() < end, terminal.text
            terminal.pump(0.05)
        terminal.pump(0.3)  # the request is on its way
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


BUSY = """
import sys, time
from gwtui.cli.main import main
from gwtui.ui.screens.resource import ResourceScreen

ResourceScreen.go_back = lambda _screen: time.sleep(600)
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
        assert time.monotonic() - started < REACTION + LIMIT + 1
        assert terminal.left_over_modes() == []
