"""Commands as processes: fast help, usage, closed pipes, signals, questions."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from gwtui.cli import exits
from gwtui.local.ledger import Ledger
from headless_kit import FaultyGateway, faulty_gateway
from loaded_program import GWTUI, run, start
from login_kit import served_gateway
from pty_terminal import pty_terminal
from scripted_models import MODEL, ScriptedModels

HELP = """
import contextlib, io, sys
from gwtui import __version__
from gwtui.cli.main import main

def check(words, usage, *heavy):
    with contextlib.redirect_stdout(io.StringIO()) as out, contextlib.suppress(SystemExit):
        main(words)
    assert usage in out.getvalue(), words
    assert not {*heavy} & sys.modules.keys(), (words, {*heavy} & sys.modules.keys())

heavy = "textual", "rich", "httpx", "keyring", "starlette", "uvicorn", "cryptography", "regex"
check(["--version"], f"gwtui {__version__}\\n", *heavy, "pydantic", "sqlite3")
check(["--help"], "usage: gwtui", *heavy, "pydantic", "sqlite3")
from gwtui.cli.commands import COMMANDS
for name in COMMANDS:
    check([name, "--help"], "usage: gwtui " + name, *heavy, "tomlkit")
"""


def test_help_and_version_load_no_heavy_packages() -> None:
    subprocess.run([sys.executable, "-c", HELP], timeout=60, check=True)


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ((), "needs a terminal"),
        (("keys", "list"), "no gateway is given"),
        (("--demo",), "terminal"),
        (("--demo", "kyes"), "did you mean 'keys'?"),
        (("--fresh",), "--demo"),
        (("--fault", "hang"), "--fault requires --demo"),
        (("gateway",), "gateway needs a verb: serve"),
        *((("gateway", "serve", "--port", port), "port") for port in ("65536", "-1", "http", "²")),
    ],
    ids=str,
)
def test_an_invalid_command_line_is_a_usage_error(words: tuple[str, ...], message: str) -> None:
    process = run(*words)
    assert (process.returncode, process.stdout) == (exits.USAGE, "")
    assert message in process.stderr
    assert "Traceback" not in process.stderr


# Headless commands --------------------------------------------------------------------------------


@pytest.fixture
def place() -> FaultyGateway:
    return faulty_gateway()


@pytest.fixture
def environment(place: FaultyGateway) -> dict[str, str]:
    variables = {"GWTUI_BASE_URL": place.gateway.base_url, "GWTUI_TOKEN": place.gateway.management}
    return {**os.environ, **variables}


@pytest.mark.parametrize(
    "words", ["keys list --output ndjson", "watch --ndjson --interval 1 --nearest 0"]
)
def test_a_pipe_closed_midway_ends_the_command_without_error(
    environment: dict[str, str], words: str
) -> None:
    process = subprocess.run(
        ["bash", "-o", "pipefail", "-c", f"{sys.executable} -m gwtui {words} | head -1"],
        env=environment,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert (process.returncode, process.stdout.count("\n")) == (0, 1)
    json.loads(process.stdout)
    assert "BrokenPipe" not in process.stderr
    assert "Traceback" not in process.stderr


@pytest.mark.parametrize(
    "words",
    ["--help", "--fault list", "export metrics"],
)
def test_a_closed_pipe_ends_the_command_without_error(
    environment: dict[str, str], words: str
) -> None:
    """Short output is written only when the program ends."""
    read_end, write_end = os.pipe()
    os.close(read_end)
    with os.fdopen(write_end, "w") as pipe:
        process = run(*words.split(), env=environment, stdout=pipe)
    assert (process.returncode, process.stderr) == (exits.OK, "")


@pytest.mark.parametrize(
    ("number", "code"), [(signal.SIGINT, exits.INTERRUPTED), (signal.SIGTERM, exits.TERMINATED)]
)
def test_a_signal_ends_watch_at_once(
    environment: dict[str, str], number: signal.Signals, code: int
) -> None:
    words = ("watch", "--ndjson", "--nearest", "0", "--model", "helioscope/corona-code")
    with start(*words, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        # Flushed line by line: otherwise all output would come at the end.
        assert json.loads(process.stdout.readline())["resource"] in {"credits", "endpoint"}
        process.send_signal(number)
        assert process.wait(2) == code
        assert process.stderr.read() == b""


def test_a_full_disk_is_reported(environment: dict[str, str]) -> None:
    with Path("/dev/full").open("w") as full:
        process = run("credits", "list", env=environment, stdout=full)
    assert process.returncode == exits.FAILED
    assert "could not be written" in process.stderr
    assert "Traceback" not in process.stderr


@pytest.mark.parametrize(
    ("words", "prompt", "typed", "code"),
    [
        ("disable backfill-2025", "Apply this change? Type y:", "n\n", exits.FAILED),
        ("disable backfill-2025", "Apply this change? Type y:", "y\n", exits.OK),
        ("delete backfill-2024", "Type yes to apply the change:", "\x03", exits.INTERRUPTED),
        (
            "enable backfill-2024 --profile prod",
            "Type prod to apply the change:",
            "y\n",
            exits.FAILED,
        ),
        (
            "enable backfill-2024 --profile prod",
            "Type prod to apply the change:",
            "prod\n",
            exits.OK,
        ),
    ],
)
def test_writes_ask_for_confirmation_on_a_terminal(
    environment: dict[str, str],
    private_home: Path,
    words: str,
    prompt: str,
    typed: str,
    code: int,
) -> None:
    folder = private_home / "config" / "gwtui"
    folder.mkdir()
    (folder / "profiles.toml").write_text(
        f'[profiles.prod]\nbase_url = "{environment["GWTUI_BASE_URL"]}"\ncritical = true\n'
    )
    with pty_terminal([*GWTUI, "keys", *words.split()], environment=environment) as terminal:
        terminal.wait_for(prompt)
        terminal.send(typed)
        assert terminal.wait_exit() == code
        assert "Traceback" not in terminal.text
    consents = {entry.consent for entry in ledger(private_home).audit()}
    assert bool(consents) is (code == exits.OK)
    assert "--profile" not in words or consents <= {"typed"}


def ledger(home: Path) -> Ledger:
    return Ledger(home / "state" / "gwtui" / "audit.jsonl")


def test_an_interrupted_creation_still_prints_the_new_key(
    environment: dict[str, str], place: FaultyGateway, private_home: Path
) -> None:
    fault = place.faults.arm("latency=1.5:POST /keys x1")
    words = ("keys", "create", "--set", "name=hasty", "--yes")
    with start(
        *words, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        deadline = time.monotonic() + 20
        while not fault.struck:
            assert time.monotonic() < deadline
            time.sleep(0.02)
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=20)
    place.faults.clear()
    assert process.returncode == exits.OK, err
    assert "waiting for the response" in err
    assert place.get("/key", token=out.strip())["label"]
    assert ledger(private_home).open_writes() == ()


# Tries --------------------------------------------------------------------------------------------


CHUNK = (
    b'data: {"id": "g", "object": "chat.completion.chunk", "created": 1, "model": "m", '
    b'"choices": [{"index": 0, "delta": {"content": "half"}, "finish_reason": null}]}\n\n'
)


def test_an_interrupted_stream_closes_the_connection_and_warns_of_billing(
    private_home: Path,
) -> None:
    models = ScriptedModels(body=[CHUNK], stay=True)
    with served_gateway("simulated", before=models.before) as gateway:
        words = ("--model", MODEL, "--stream", "--prompt", "x", "--base-url", gateway.base_url)
        process = start(
            *("try", "chat", *words),
            env={**os.environ, "GWTUI_TRY_KEY": gateway.ordinary},
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )
        assert process.stdout.read(4) == b"half"
        process.send_signal(signal.SIGINT)
        _, stderr = process.communicate(timeout=30)
        deadline = time.monotonic() + 10
        while not models.disconnects and time.monotonic() < deadline:
            time.sleep(0.02)
    assert process.returncode == exits.INTERRUPTED
    assert b"cancelled: the connection was closed" in stderr
    assert b"may be billed" in stderr
    assert models.disconnects == [True]
