"""A program that is killed while a write is on its way leaves the unresolved change."""

from __future__ import annotations

import signal
from datetime import UTC, datetime
from pathlib import Path

from gwtui.local.ledger import Ledger
from loaded_program import GWTUI, run
from pty_terminal import pty_terminal


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
