"""The real command on a real terminal: rows appear, it ends in time and restores it."""

from __future__ import annotations

import json
import re
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path

import pytest

from gwtui.local.ledger import Ledger
from gwtui.ui.terminal.shutdown import REACTION
from loaded_program import GWTUI, run
from pty_terminal import PtyTerminal, pty_terminal

DEMO = [*GWTUI, "--demo", "keys"]


def test_bytes_drawn_from_start_to_end_are_few(demo_home: Path) -> None:
    """First frame and updates are small, idling writes nothing, the terminal is restored.

    ``unit/test_screen_diff.py`` proves that updates lead to the same screen as a repaint.
    """
    with pty_terminal(DEMO, anew=True) as demo:
        demo.wait_for("airflow-staging", 60)
        assert demo.left_over_modes() == [
            "alternate screen (1049)",
            "mouse (1000)",
            "mouse (1003)",
            "paste (2004)",
            "hidden cursor (25)",
            "raw line settings",
        ]
        moved_cursor_and_second_frame_cost_little(demo)
        wait_for_the_past(demo)
        assert demo.pump(3) == b"", "idle"
        demo.resize(120, 40)
        demo.settle()
        dialogs_are_painted_once(demo)
        demo.resize(80, 24)
        demo.settle()
        assert "airflow-staging" in demo.text, "a smaller terminal is redrawn"
        demo.quit()
        assert "Traceback" not in demo.text


def moved_cursor_and_second_frame_cost_little(demo: PtyTerminal) -> None:
    demo.settle()
    first = len(demo.raw)
    assert first < 40_000
    demo.send("\x1b[B")
    demo.settle()
    moved = len(demo.raw) - first
    assert 100 < moved < 1_500
    demo.send("?")
    demo.settle()
    before = len(demo.raw)
    demo.send("\x1b")
    demo.settle()
    assert "airflow-staging" in demo.text
    assert len(demo.raw) - before < 12_000


def dialogs_are_painted_once(demo: PtyTerminal) -> None:
    for key, most in (("n", 3_500), ("D", 2_200)):
        before = len(demo.raw)
        demo.send(key)
        demo.settle()
        assert len(demo.raw) - before < most
        demo.send("\x1b")
        demo.settle()


def wait_for_the_past(terminal: PtyTerminal) -> None:
    """Wait until the past is filled in, and its alert notice has come and gone."""
    end = time.monotonic() + 60
    while not re.search(r" \d+  demo", terminal.text):  # the badge of alerts in a narrow header
        assert time.monotonic() < end, terminal.text
        terminal.pump(0.05)
    terminal.settle()
    terminal.wait_gone("alerts fired", 30)
    terminal.settle()


def test_an_unusable_runtime_directory_draws_nothing_over_the_screen(
    demo_home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shared = tmp_path / "shared"
    shared.mkdir()
    shared.chmod(0o777)
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(shared))
    with pty_terminal(DEMO) as terminal:
        terminal.wait_for("airflow-staging", 60)
        assert b"Warning" not in terminal.raw
        terminal.quit()


# Keys in one write --------------------------------------------------------------------------------


def test_a_terminal_that_is_gone_ends_the_program_whatever_was_typed_ahead(
    demo_home: Path,
) -> None:
    with pty_terminal(DEMO) as terminal:
        terminal.wait_for("airflow-staging", 60)
        terminal.send("nci\t25" + "\t" * 200)
        terminal.hang_up()
        terminal.process.wait(5)


# The end ------------------------------------------------------------------------------------------


HANGING = [*GWTUI, "--demo", "--fault", "hang:updateKey", "keys"]
LIMIT = 2.0
"""Maximum seconds from the request to the end of the process."""


def journal_in(home: Path) -> Ledger:
    return Ledger(home / "state" / "gwtui" / "audit.jsonl")


@contextmanager
def a_write_in_flight(home: Path, *, controlling: bool = True) -> Iterator[PtyTerminal]:
    """The selected key is being disabled; the intent is on disk."""
    with pty_terminal(HANGING, controlling=controlling) as terminal:
        terminal.answer(("airflow-staging", "x"), ("y confirms", "y"))
        end = time.monotonic() + 20
        while not [*journal_in(home).entries()]:
            assert time.monotonic() < end, terminal.text
            terminal.pump(0.05)
        terminal.pump(0.3)  # the request was sent
        yield terminal


def gone(terminal: PtyTerminal, limit: float = LIMIT) -> int:
    """Return the exit status, without reading from the terminal meanwhile."""
    try:
        return terminal.process.wait(limit)
    except subprocess.TimeoutExpired:
        raise AssertionError(f"still there after {limit} s") from None


def says_unknown(home: Path) -> None:
    """Check that ledger lines are whole and the one write is open, its response lost."""
    ledger = journal_in(home)
    lines = ledger.path.read_bytes().splitlines()
    assert all(json.loads(line) for line in lines)
    assert [entry.outcome for entry in ledger.entries()][::-1] == ["intent", "unknown"]
    (left,) = ledger.open_writes()
    assert (left.action, left.outcome) == ("keys.toggle", "unknown")


@pytest.mark.parametrize(("number", "status"), [(signal.SIGTERM, 143), (signal.SIGHUP, 129)])
def test_a_signal(number: signal.Signals, status: int, demo_home: Path) -> None:
    with a_write_in_flight(demo_home) as terminal:
        started = time.monotonic()
        terminal.signal(number)
        assert terminal.wait_exit() == status
        # The helper needs another 0.2 s to read the last output.
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
    """A stalled line blocks writes to it; the end does not wait for them."""
    with a_write_in_flight(demo_home) as terminal:
        for size in range(60):
            terminal.resize(100 + size, 40)  # repaints everything, while nobody reads
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
"""The program, in which Escape on a list hangs."""


def test_ctrl_q_ends_a_program_that_hangs(demo_home: Path) -> None:
    with pty_terminal([sys.executable, "-c", BUSY, "--demo", "keys"]) as terminal:
        terminal.wait_for("airflow-staging", 60)
        terminal.send("\x1b")
        terminal.pump(0.5)
        started = time.monotonic()
        terminal.send("q")
        terminal.pump(0.5)
        terminal.quit("\x11")
        assert time.monotonic() - started < REACTION + LIMIT + 1


def test_a_write_that_was_killed_on_its_way_is_unresolved(demo_home: Path) -> None:
    ledger = Ledger(demo_home / "state" / "gwtui" / "audit.jsonl")
    faults = ["--fault", "hang-after:POST /keys x1"]
    with pty_terminal([*GWTUI, "--demo", *faults, "keys"]) as terminal:
        terminal.answer(("airflow-staging", "n"), ("New API key", "nightly\t25\x13"))
        terminal.wait_for("Sending")
        terminal.pump(1.0)
        terminal.signal(signal.SIGKILL)
        terminal.process.wait(10)
    (left,) = ledger.open_writes()
    assert not left.is_running(datetime.now(UTC))

    told = run("recovery", "list", "--demo")
    assert told.returncode == 0, told.stderr
    assert "Create key “nightly”" in told.stdout
