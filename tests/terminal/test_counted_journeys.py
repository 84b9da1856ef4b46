"""The journeys of the manual with the real command, in tmux: outcome and number of keys."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from counted_journeys import COUNTED, CountedJourney
from login_kit import served_gateway

needs_tmux = pytest.mark.skipif(shutil.which("tmux") is None, reason="there is no tmux here")

_NAMES = {"Esc": "Escape", "Ctrl+S": "C-s", "↑": "Up", "↓": "Down"}
"""Keys with a different name in tmux."""
_POLL_S = 0.1


@dataclass(frozen=True)
class TmuxTerminal:
    """One window of a separate tmux server on ``socket``."""

    socket: Path

    def text(self) -> str:
        """The window, a line per row, without trailing spaces."""
        return self._run("capture-pane", "-p", "-t", "0")

    def copied(self) -> str:
        """The last copied text."""
        return self._run("show-buffer")

    def press(self, keys: Sequence[str]) -> None:
        """Press these keys at once; a key after Esc waits for the effect of Esc."""
        self._run("send-keys", "-t", "0", "--", *(_NAMES.get(key, key) for key in keys))

    def wait_for(
        self, matches: Callable[[str], object], description: str, seconds: float = 60
    ) -> str:
        """Wait until the window shows something; a failure includes the window."""
        deadline = time.monotonic() + seconds
        while not matches(text := self.text()):
            assert time.monotonic() < deadline, f"{description} never appeared:\n{text}"
            time.sleep(_POLL_S)
        return text

    def _run(self, *words: str) -> str:
        command = ["tmux", "-S", str(self.socket), *words]
        process = subprocess.run(command, capture_output=True, text=True, timeout=30, check=True)
        return process.stdout


@contextmanager
def tmux_terminal(command: Sequence[str], folder: Path) -> Iterator[TmuxTerminal]:
    """Run a command in a tmux of 80x24 with its own settings, in this environment."""
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
    # Set explicitly: a line editor in this process may have set COLUMNS and LINES.
    environment = {**os.environ, "COLORTERM": "truecolor"}
    for name in ("COLUMNS", "LINES", "NO_COLOR"):
        environment.pop(name, None)
    subprocess.run([*start, *command], env=environment, timeout=30, check=True)
    try:
        yield terminal
    finally:
        subprocess.run(["tmux", "-S", str(terminal.socket), "kill-server"], timeout=30, check=False)


DEMO = [sys.executable, "-m", "gwtui", "--demo", "keys"]
PROFILE = """
default = "staging"

[profiles.staging]
base_url = "{url}"
token_file = "{file}"
"""


@needs_tmux
@pytest.mark.timeout(240)
def test_every_journey_reaches_its_screens(demo_home: Path, tmp_path: Path) -> None:
    with served_gateway() as staging:
        key = tmp_path / "key"
        key.write_text(staging.management)
        key.chmod(0o600)
        profiles = demo_home / "config" / "gwtui" / "profiles.toml"
        profiles.parent.mkdir(mode=0o700)
        profiles.write_text(PROFILE.format(url=staging.base_url, file=key))
        profiles.chmod(0o600)
        with tmux_terminal(DEMO, tmp_path) as terminal:
            for journey in COUNTED:
                terminal.press("2")
                terminal.wait_for(on_screen(r"\d+ keys · by "), "the list of keys", 60)
                press_journey(terminal, journey)


def press_journey(terminal: TmuxTerminal, journey: CountedJourney) -> None:
    """Press the keys, as many at once as lead to a visible result."""
    pending_keys: list[str] = []
    for step in journey.steps:
        for stroke in step.strokes:
            pending_keys += stroke.keys
        if step.shows:
            terminal.press(pending_keys)
            pending_keys.clear()
            for show in step.shows:
                terminal.wait_for(on_screen(show), f"{journey.title}: {step.does}: {show}")
    assert not pending_keys
    assert re.fullmatch(journey.copies or ".*", terminal.copied() if journey.copies else "")


def on_screen(expected: str) -> Callable[[str], object]:
    """Whether the screen shows all expected lines."""
    yesterday = (datetime.now(UTC) - timedelta(days=1)).date()
    pattern = re.compile(expected.replace("{yesterday}", str(yesterday)), re.MULTILINE)
    return pattern.search
