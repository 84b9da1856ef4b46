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


def test_the_dashboard_writes_few_bytes(demo_home: Path) -> None:
    """First frame and updates are small, idling writes nothing, the terminal is restored.

    ``unit/test_screen_diff.py`` proves that updates lead to the same screen as a repaint.
    """
    with pty_terminal(DEMO, fresh_process=True) as demo:
        demo.wait_for("airflow-staging", 60)
        assert demo.left_over_modes() == [
            "alternate screen (1049)",
            "mouse (1000)",
            "mouse (1003)",
            "paste (2004)",
            "hidden cursor (25)",
            "raw line settings",
        ]
        cursor_moves_and_help_write_few_bytes(demo)
        wait_for_backfill(demo)
        assert demo.pump(3) == b"", "idle"
        demo.resize(120, 40)
        demo.settle()
        dialogs_are_painted_once(demo)
        demo.resize(80, 24)
        demo.settle()
        assert "airflow-staging" in demo.text, "a smaller terminal is redrawn"
        demo.quit()
        assert "Traceback" not in demo.text


def cursor_moves_and_help_write_few_bytes(demo: PtyTerminal) -> None:
    demo.settle()
    startup_bytes = len(demo.raw)
    assert startup_bytes < 40_000
    demo.send("\x1b[B")
    demo.settle()
    move_bytes = len(demo.raw) - startup_bytes
    assert 100 < move_bytes < 1_500
    demo.send("?")
    demo.settle()
    help_bytes = len(demo.raw)
    demo.send("\x1b")
    demo.settle()
    assert "airflow-staging" in demo.text
    assert len(demo.raw) - help_bytes < 12_000


def dialogs_are_painted_once(demo: PtyTerminal) -> None:
    for key, limit in (("n", 3_500), ("D", 2_200)):
        previous_bytes = len(demo.raw)
        demo.send(key)
        demo.settle()
        assert len(demo.raw) - previous_bytes < limit
        demo.send("\x1b")
        demo.settle()


def wait_for_backfill(terminal: PtyTerminal) -> None:
    """Wait until the past is filled in, and its alert notice has come and gone."""
    deadline = time.monotonic() + 60
    while not re.search(r" \d+  demo", terminal.text):  # the badge of alerts in a narrow header
        assert time.monotonic() < deadline, terminal.text
        terminal.pump(0.05)
    terminal.settle()
    terminal.wait_gone("alerts fired", 30)
    terminal.settle()


def test_an_unusable_runtime_directory_prints_no_warning(
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


def test_a_closed_terminal_ends_the_program_despite_queued_input(
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


def ledger_in(home: Path) -> Ledger:
    return Ledger(home / "state" / "gwtui" / "audit.jsonl")


@contextmanager
def write_in_flight(home: Path, *, controlling: bool = True) -> Iterator[PtyTerminal]:
    """The selected key is being disabled; the intent is on disk."""
    with pty_terminal(HANGING, controlling=controlling) as terminal:
        terminal.answer(("airflow-staging", "x"), ("y confirms", "y"))
        deadline = time.monotonic() + 20
        while not [*ledger_in(home).entries()]:
            assert time.monotonic() < deadline, terminal.text
            terminal.pump(0.05)
        terminal.pump(0.3)  # the request was sent
        yield terminal


def exit_status_of(terminal: PtyTerminal, limit: float = LIMIT) -> int:
    """Return the exit status, without reading from the terminal meanwhile."""
    try:
        return terminal.process.wait(limit)
    except subprocess.TimeoutExpired:
        raise AssertionError(f"still running after {limit} s") from None


def assert_unresolved(home: Path) -> None:
    """Check that the ledger has complete lines and one unresolved write."""
    ledger = ledger_in(home)
    lines = ledger.path.read_bytes().splitlines()
    assert all(json.loads(line) for line in lines)
    assert [entry.outcome for entry in ledger.entries()][::-1] == ["intent", "unknown"]
    (write,) = ledger.open_writes()
    assert (write.action, write.outcome) == ("keys.toggle", "unknown")


@pytest.mark.parametrize(("number", "status"), [(signal.SIGTERM, 143), (signal.SIGHUP, 129)])
def test_a_signal_ends_the_program_and_leaves_the_write_unresolved(
    number: signal.Signals, status: int, demo_home: Path
) -> None:
    with write_in_flight(demo_home) as terminal:
        started = time.monotonic()
        terminal.signal(number)
        assert terminal.wait_exit() == status
        # The helper needs another 0.2 s to read the last output.
        assert time.monotonic() - started < LIMIT + 0.3
        assert terminal.left_over_modes() == []
    assert_unresolved(demo_home)


@pytest.mark.parametrize("controlling", [True, False], ids=["hangup-signal", "no-signal"])
def test_a_lost_terminal_ends_the_program_and_leaves_the_write_unresolved(
    controlling: bool, demo_home: Path
) -> None:
    with write_in_flight(demo_home, controlling=controlling) as terminal:
        terminal.hang_up()
        assert exit_status_of(terminal) == 129
    assert_unresolved(demo_home)


def test_a_blocked_terminal_does_not_delay_the_end(demo_home: Path) -> None:
    """A stalled line blocks writes to it; the end does not wait for them."""
    with write_in_flight(demo_home) as terminal:
        for size in range(60):
            terminal.resize(100 + size, 40)  # repaints everything, while nobody reads
            time.sleep(0.02)
        terminal.signal(signal.SIGTERM)
        assert exit_status_of(terminal) == 143
    (write,) = ledger_in(demo_home).open_writes()
    assert write.action == "keys.toggle"


BUSY = """
import sys, time
from gwtui.cli.main import main
from gwtui.ui.screens.resource import ResourceScreen

ResourceScreen.go_back = lambda _screen: time.sleep(600)
sys.exit(main())
"""
"""The program, in which Escape on a list hangs."""


def test_ctrl_q_ends_a_hanging_program(demo_home: Path) -> None:
    with pty_terminal([sys.executable, "-c", BUSY, "--demo", "keys"]) as terminal:
        terminal.wait_for("airflow-staging", 60)
        terminal.send("\x1b")
        terminal.pump(0.5)
        started = time.monotonic()
        terminal.send("q")
        terminal.pump(0.5)
        terminal.quit("\x11")
        assert time.monotonic() - started < REACTION + LIMIT + 1


def test_a_write_of_a_killed_program_is_unresolved(demo_home: Path) -> None:
    faults = ["--fault", "hang-after:POST /keys x1"]
    with pty_terminal([*GWTUI, "--demo", *faults, "keys"]) as terminal:
        terminal.answer(("airflow-staging", "n"), ("New API key", "nightly\t25\x13"))
        terminal.wait_for("Sending")
        terminal.pump(1.0)
        terminal.signal(signal.SIGKILL)
        terminal.process.wait(10)
    (write,) = ledger_in(demo_home).open_writes()
    assert not write.is_running(datetime.now(UTC))

    recovery = run("recovery", "list", "--demo")
    assert recovery.returncode == 0, recovery.stderr
    assert "Create key “nightly”" in recovery.stdout
