"""The command line before any screen: fast, plain, and honest about mistakes."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from gwtui import __version__
from gwtui.cli import exits
from loaded_program import GWTUI, run
from pty_terminal import pty_terminal

HEAVY = ("textual", "rich", "httpx", "pydantic", "keyring", "starlette", "uvicorn", "sqlite3")


def run_anew(*words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "gwtui", *words],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
        stdin=subprocess.DEVNULL,
    )


@pytest.mark.parametrize("word", ["--help", "--version"])
def test_help_and_version_import_nothing_heavy(word: str) -> None:
    program = (
        "import sys\n"
        "from gwtui.cli.main import main\n"
        "try:\n"
        f"    main([{word!r}])\n"
        "except SystemExit as exit:\n"
        "    assert exit.code == 0\n"
        f"heavy = [name for name in {HEAVY!r} if name in sys.modules]\n"
        "print('HEAVY', heavy)\n"
    )
    result = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, timeout=60, check=True
    )
    assert result.stdout.rstrip().endswith("HEAVY []")


def test_version_goes_to_stdout() -> None:
    result = run_anew("--version")
    assert (result.returncode, result.stdout.strip()) == (0, f"gwtui {__version__}")


def test_help_names_the_commands() -> None:
    result = run_anew("--help")
    assert result.returncode == 0
    assert "gateway" in result.stdout
    assert "--demo" in result.stdout


def test_a_manual_page_is_shown_by_man_on_a_terminal(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    man = tmp_path / "man"
    man.write_text('#!/bin/sh\necho "shown: ${1##*/} ${GWTUI_TOKEN}."\nhead -1 "$1"\nread answer\n')
    man.chmod(0o700)
    monkeypatch.setenv("PATH", f"{tmp_path}{os.pathsep}{os.environ['PATH']}")
    monkeypatch.setenv("GWTUI_TOKEN", "gw-v1-SENTINEL")
    with pty_terminal([*GWTUI, "man", "keys"]) as terminal:
        terminal.wait_for("shown: gwtui-keys.1 .")
        terminal.wait_for(".TH GWTUI-KEYS 1")
        terminal.send("\r")
        assert terminal.wait_exit() == exits.OK


@pytest.mark.parametrize("words", [(), ("--fresh",), ("--fault", "500 x1")])
def test_without_a_terminal_it_says_so(words: tuple[str, ...]) -> None:
    result = run("--demo", *words)
    assert result.returncode == exits.USAGE
    assert "terminal" in result.stderr
    assert result.stdout == ""


@pytest.mark.parametrize(
    "words",
    [
        ("--dialect", "klingon"),
        ("--no-such-option",),
        ("gateway",),
        ("gateway", "dance"),
        ("--fresh",),
        ("--fault", "500"),
        *(("gateway", "serve", "--port", wrong) for wrong in ("65536", "-1", "http", "²")),
    ],
)
def test_a_wrong_command_line_is_usage(words: tuple[str, ...]) -> None:
    result = run(*words)
    assert result.returncode == exits.USAGE
    assert result.stderr
    assert "Traceback" not in result.stderr


def test_an_unknown_route_is_named() -> None:
    result = run_anew("--demo", "kyes")
    assert result.returncode == exits.USAGE
    assert "kyes" in result.stderr
    assert "keys" in result.stderr
