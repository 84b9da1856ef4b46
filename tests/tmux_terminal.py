"""A program inside of the real tmux: what its window shows, what was copied to it."""

from __future__ import annotations

import os
import shutil
import subprocess
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest

needs_tmux = pytest.mark.skipif(shutil.which("tmux") is None, reason="there is no tmux here")

_NAMES = {"Esc": "Escape", "Ctrl+S": "C-s", "↑": "Up", "↓": "Down"}
"""Keys that tmux calls by another name than the program does."""
_LOOK = 0.1


@dataclass(frozen=True)
class TmuxTerminal:
    """One window of a server of its own, listening on ``socket``."""

    socket: Path

    def text(self) -> str:
        """What the window shows, a line for each of its rows, blanks at their ends left out."""
        return self._run("capture-pane", "-p", "-t", "0")

    def copied(self) -> str:
        """What was copied last."""
        return self._run("show-buffer")

    def press(self, keys: Sequence[str]) -> None:
        """Press these keys, all of them at once; the one after Esc must wait for what it does."""
        self._run("send-keys", "-t", "0", "--", *(_NAMES.get(key, key) for key in keys))

    def wait_for(self, found: Callable[[str], object], what: str, seconds: float = 60) -> str:
        """Wait until the window shows something; fail with the window as it is."""
        end = time.monotonic() + seconds
        while not found(text := self.text()):
            assert time.monotonic() < end, f"{what} never appeared:\n{text}"
            time.sleep(_LOOK)
        return text

    def _run(self, *words: str) -> str:
        command = ["tmux", "-S", str(self.socket), *words]
        done = subprocess.run(command, capture_output=True, text=True, timeout=30, check=True)
        return done.stdout


@contextmanager
def tmux_terminal(command: Sequence[str], folder: Path) -> Iterator[TmuxTerminal]:
    """Run a command in a tmux of 80x24 with settings of its own, in this environment."""
    terminal = TmuxTerminal(folder / "tmux")
    settings = folder / "tmux.conf"
    settings.write_text("set -g status off\nset -s escape-time 10\n")
    start = [
        "tmux",
        "-S",
        str(terminal.socket),
        "-f",
        str(settings),
        "new-session",
        "-d",
        "-x",
        "80",
        "-y",
        "24",
    ]
    # Written out: a line editor in this process may have set COLUMNS and LINES behind its back.
    environment = {**os.environ, "COLORTERM": "truecolor"}
    for name in ("COLUMNS", "LINES", "NO_COLOR"):
        environment.pop(name, None)
    subprocess.run([*start, *command], env=environment, timeout=30, check=True)
    try:
        yield terminal
    finally:
        subprocess.run(["tmux", "-S", str(terminal.socket), "kill-server"], timeout=30, check=False)
