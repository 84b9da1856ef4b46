"""A new key outlives kill -9 and the loss of the terminal before anybody acknowledged it."""

from __future__ import annotations

import re
import signal
import subprocess
from pathlib import Path

from loaded_program import GWTUI, run
from pty_terminal import PtyTerminal, pty_terminal

DEMO = [*GWTUI, "--demo", "keys"]
VALUE = re.compile(r"gw-v1-[0-9a-f]{64}")


def revealed(terminal: PtyTerminal) -> str:
    """The value in the dialog, put together from the lines it is broken into."""
    rows = (line.partition("│")[2].rpartition("│")[0] for line in terminal.screen.display)
    shown = "".join(row.strip() for row in rows)
    found = VALUE.search(shown)
    assert found is not None, terminal.text
    return found[0]


def recover(*options: str) -> subprocess.CompletedProcess[str]:
    return run("recover-key", "--demo", *options)


def test_the_value_outlives_the_process_and_the_terminal(demo_home: Path) -> None:
    state = demo_home / "state" / "gwtui"
    with pty_terminal(DEMO) as terminal:
        terminal.wait_for("airflow-staging", 60)
        terminal.send("n")
        terminal.wait_for("New API key")
        terminal.send("nightly\t25\x13")
        terminal.wait_for("Key created")
        # Between the gateway's answer and the acknowledgement.
        terminal.signal(signal.SIGKILL)
        terminal.process.wait(10)
    (file,) = (state / "sealed-keys").iterdir()

    with pty_terminal(DEMO) as terminal:
        terminal.wait_for("was never acknowledged", 60)
        assert "nightly" in terminal.text
        terminal.send("\x1b[C\r")
        terminal.wait_for("Never acknowledged:")
        assert b"gw-v1-" not in terminal.raw
        terminal.send("v")
        terminal.wait_for("gw-v1-")
        value = revealed(terminal)
        terminal.hang_up()
        terminal.process.wait(10)
    for path in state.rglob("*"):
        assert not path.is_file() or b"gw-v1-" not in path.read_bytes(), path

    printed = recover()
    assert (printed.returncode, printed.stdout) == (0, f"{value}\n")
    assert "nightly" in printed.stderr
    assert value not in printed.stderr
    assert file.exists()
    assert recover("--acknowledge").stdout == f"{value}\n"
    assert not file.exists()
    assert recover().returncode == 1
