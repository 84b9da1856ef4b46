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

HELP = """
import contextlib, io, sys
from gwtui.cli.main import main

def check(words, usage, *heavy):
    with contextlib.redirect_stdout(io.StringIO()) as out, contextlib.suppress(SystemExit):
        main(words)
    assert usage in out.getvalue(), words
    assert not {*heavy} & sys.modules.keys(), (words, {*heavy} & sys.modules.keys())

heavy = "textual", "rich", "httpx", "keyring", "starlette", "uvicorn", "cryptography", "regex"
check(["--version"], "gwtui ", *heavy, "pydantic", "sqlite3")
check(["--help"], "usage: gwtui", *heavy, "pydantic", "sqlite3")
from gwtui.cli.commands import COMMANDS
for name in COMMANDS:
    check([name, "--help"], "usage: gwtui " + name, *heavy, "tomlkit")
"""


def test_help_and_version_load_nothing_heavy() -> None:
    subprocess.run([sys.executable, "-c", HELP], timeout=60, check=True)


def test_the_command_starts_anew() -> None:
    done = subprocess.run([*GWTUI, "--version"], capture_output=True, text=True, check=True)
    assert done.stdout == f"gwtui {__version__}\n"


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


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (("--demo",), "terminal"),
        (("--demo", "kyes"), "did you mean 'keys'?"),
        (("--fresh",), "--demo"),
        (("--fault", "hang"), "--fault requires --demo"),
        (("gateway",), "gateway needs a verb: serve"),
        *((("gateway", "serve", "--port", port), "port") for port in ("65536", "-1", "http", "²")),
    ],
    ids=str,
)
def test_a_wrong_command_line_is_usage(words: tuple[str, ...], says: str) -> None:
    done = run(*words)
    assert (done.returncode, done.stdout) == (exits.USAGE, "")
    assert says in done.stderr
    assert "Traceback" not in done.stderr
