"""The command line before any screen: fast, plain, and honest about mistakes."""

from __future__ import annotations

import subprocess
import sys

import pytest

from gwtui import __version__
from gwtui.cli import exits
from loaded_program import run

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
