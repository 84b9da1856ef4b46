"""The real command on a real terminal: rows appear, and the terminal is given back."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from pty_terminal import PtyTerminal, pty_terminal

DEMO = [sys.executable, "-m", "gwtui", "--demo", "keys"]


@pytest.fixture
def demo() -> Iterator[PtyTerminal]:
    with pty_terminal(DEMO) as terminal:
        terminal.wait_for("airflow-staging", 60)
        yield terminal


def test_a_row_appears_and_q_gives_the_terminal_back(demo: PtyTerminal) -> None:
    assert demo.left_over_modes() == [
        "alternate screen (1049)",
        "mouse (1000)",
        "mouse (1003)",
        "paste (2004)",
        "hidden cursor (25)",
        "raw line settings",
    ]
    demo.send("q")
    assert demo.wait_exit() == 0
    assert demo.left_over_modes() == []
    assert "Traceback" not in demo.text


def test_idle_sends_nothing(demo: PtyTerminal) -> None:
    demo.settle()
    assert demo.pump(3) == b""


def test_a_smaller_terminal_is_redrawn(demo: PtyTerminal) -> None:
    demo.resize(120, 40)
    demo.settle()
    demo.resize(80, 24)
    demo.settle()
    assert "airflow-staging" in demo.text


def test_an_unusable_runtime_directory_draws_nothing_over_the_screen(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
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
