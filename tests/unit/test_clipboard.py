"""Copying: the working method, an accurate message, nothing kept in memory."""

from __future__ import annotations

import asyncio
import base64
import shutil
import stat
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any, cast

import pytest
from textual.app import App

from gwtui.ui.terminal import clipboard
from gwtui.ui.terminal.clipboard import OSC52_LIMIT, Copied, copy_text, save_private

SECRET = "gw-v1-0123456789abcdef"
TERMINAL = {"TERM": "xterm-256color"}


class Terminal:
    """The output of the driver of an app with a terminal."""

    def __init__(self) -> None:
        self.output = ""

    def write(self, text: str) -> None:
        self.output += text

    def flush(self) -> None:
        self.output += "|"


class TerminalApp:
    def __init__(self, *, headless: bool = False) -> None:
        self.is_headless = headless
        self._driver = Terminal()
        self._clipboard = ""


def copying(
    app: TerminalApp, text: str, environment: dict[str, str], *, secret: bool = False
) -> Any:
    return copy_text(cast("App[Any]", app), text, secret=secret, environment=environment)


async def test_a_terminal_gets_osc_52_and_the_sentence_promises_nothing() -> None:
    app = TerminalApp()
    copied = await copying(app, SECRET, TERMINAL)
    encoded = base64.b64encode(SECRET.encode()).decode()
    assert app._driver.output == f"\x1b]52;c;{encoded}\a|"
    assert copied.route == "terminal"
    assert "OSC 52" in copied.sentence
    assert "does not confirm" in copied.sentence
    assert "history" not in copied.sentence
    assert "history" in (await copying(app, "x", TERMINAL, secret=True)).sentence
    assert SECRET not in repr(copied)
    assert app._clipboard == "", "the text is not kept in memory"


async def test_the_size_that_terminals_take_is_kept() -> None:
    fits = "x" * (OSC52_LIMIT // 4 * 3)
    app = TerminalApp()
    assert (await copying(app, fits, TERMINAL)).route == "terminal"
    app = TerminalApp()
    assert (await copying(app, fits + "xxx", TERMINAL)).route == "file"
    assert app._driver.output == ""


@pytest.mark.parametrize(
    ("environment", "headless"),
    [
        ({"TERM": "dumb"}, False),
        ({"TERM": "linux"}, False),
        ({}, False),
        ({**TERMINAL, "STY": "1.pts"}, False),
        (TERMINAL, True),
    ],
)
async def test_without_a_clipboard_a_private_file_is_written(
    environment: dict[str, str], headless: bool
) -> None:
    app = TerminalApp(headless=headless)
    copied = await copying(app, SECRET, environment)
    assert app._driver.output == ""
    assert copied.route == "file"
    assert copied.path.read_text() == SECRET
    assert stat.S_IMODE(copied.path.stat().st_mode) == 0o600
    assert stat.S_IMODE(copied.path.parent.stat().st_mode) == 0o700
    assert str(copied.path) in copied.sentence


async def test_the_state_folder_serves_where_there_is_no_runtime_folder(
    monkeypatch: pytest.MonkeyPatch, private_home: Path
) -> None:
    monkeypatch.delenv("XDG_RUNTIME_DIR")
    monkeypatch.setattr(clipboard.Paths, "of_user", lambda: _paths(private_home))
    copied = await save_private(SECRET)
    assert copied.path.parent == private_home / "state" / "gwtui"


def _paths(home: Path) -> clipboard.Paths:
    folders = [home / name / "gwtui" for name in ("config", "data", "state", "cache", "run")]
    return clipboard.Paths(*folders)


async def test_copying_without_any_route_says_so(private_home: Path) -> None:
    (private_home / "run" / "gwtui").write_text("a file where the folder should be")
    copied = await save_private(SECRET)
    assert copied == Copied("none", copied.sentence)
    assert not copied.ok
    assert "Not copied" in copied.sentence


# tmux ------------------------------------------------------------------------------------------

needs_tmux = pytest.mark.skipif(shutil.which("tmux") is None, reason="tmux is not installed")


@pytest.fixture
def tmux(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, str]]:
    """The environment of a process inside a private tmux."""
    socket = tmp_path_factory.mktemp("t") / "s"

    def run(*command: str) -> str:
        return subprocess.run(
            ["tmux", "-S", str(socket), "-f", "/dev/null", *command],
            check=True,
            capture_output=True,
            text=True,
        ).stdout.strip()

    run("new-session", "-d", "-x", "80", "-y", "24", "sleep 60")
    try:
        yield {**TERMINAL, "TMUX": f"{socket},{run('display-message', '-p', '#{pid}')},0"}
    finally:
        run("kill-server")


@needs_tmux
async def test_inside_tmux_its_buffer_is_used(
    tmux: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TMUX", tmux["TMUX"])
    app = TerminalApp()
    text = SECRET + "\n$(touch /nowhere) ü"
    copied = await copying(app, text, tmux, secret=True)
    assert copied.route == "tmux"
    assert "tmux delete-buffer -b gwtui" in copied.sentence
    assert app._driver.output == ""
    command = ["tmux", "show-buffer", "-b", clipboard.TMUX_BUFFER]
    buffer = await asyncio.to_thread(subprocess.run, command, check=True, capture_output=True)
    assert buffer.stdout.decode() == text


def _fake_tmux(folder: Path, script: str, monkeypatch: pytest.MonkeyPatch) -> Path:
    program = folder / "tmux"
    program.write_text(f"#!/bin/sh\n{script}\n")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{folder}:/usr/bin:/bin")
    return program


async def test_a_hanging_tmux_times_out(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    _fake_tmux(tmp_path, "exec sleep 30", monkeypatch)
    monkeypatch.setattr(clipboard, "_TMUX_SECONDS", 0.2)
    async with asyncio.timeout(5):
        copied = await copying(TerminalApp(), SECRET, {**TERMINAL, "TMUX": "x"})
    assert copied.route == "file"
