"""The real command on a real terminal: rows appear, and the terminal is given back."""

from __future__ import annotations

import re
import time
from pathlib import Path

import pytest

from loaded_program import GWTUI
from pty_terminal import PtyTerminal, pty_terminal

DEMO = [*GWTUI, "--demo", "keys"]


def test_what_is_drawn_and_sent_from_the_first_row_to_the_end(demo_home: Path) -> None:
    """The first frame and differences cost little, rest costs nothing, nothing is left behind.

    That differences show what a whole repaint shows is proven by ``unit/test_screen_diff.py``.
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
        demo.send("q")
        assert demo.wait_exit() == 0
        assert demo.left_over_modes() == []
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
    """Wait until the past is filled in, and a notice of its alerts has come and gone by itself."""
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
        terminal.send("q")
        assert terminal.wait_exit() == 0
