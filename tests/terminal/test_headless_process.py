"""The headless commands as processes: pipes that close, signals, and a person who is asked."""

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
from headless_kit import Site, site
from loaded_program import GWTUI, run, start
from pty_terminal import pty_terminal


@pytest.fixture
def place() -> Site:
    return site()


@pytest.fixture
def environment(place: Site) -> dict[str, str]:
    known = {"GWTUI_BASE_URL": place.gateway.base_url, "GWTUI_TOKEN": place.gateway.management}
    return {**os.environ, **known}


@pytest.mark.parametrize(
    "words", ["keys list --output ndjson", "watch --ndjson --interval 1 --nearest 0"]
)
def test_a_reader_that_has_enough_ends_it_well(environment: dict[str, str], words: str) -> None:
    done = subprocess.run(
        ["bash", "-o", "pipefail", "-c", f"{sys.executable} -m gwtui {words} | head -1"],
        env=environment,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert (done.returncode, done.stdout.count("\n")) == (0, 1)
    json.loads(done.stdout)
    assert "BrokenPipe" not in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize(
    "words",
    ["--help", "keys --help", "keys list --help", "--fault list", "export metrics"],
)
def test_a_reader_that_left_before_ends_it_well(environment: dict[str, str], words: str) -> None:
    """What is short is written only when the program ends."""
    read, write = os.pipe()
    os.close(read)
    with os.fdopen(write, "w") as pipe:
        done = run(*words.split(), env=environment, stdout=pipe)
    assert (done.returncode, done.stderr) == (exits.OK, "")


@pytest.mark.parametrize(
    ("number", "code"), [(signal.SIGINT, exits.INTERRUPTED), (signal.SIGTERM, exits.TERMINATED)]
)
def test_a_signal_ends_the_watching_at_once(
    environment: dict[str, str], number: signal.Signals, code: int
) -> None:
    words = ("watch", "--ndjson", "--nearest", "0", "--model", "helioscope/corona-code")
    with start(*words, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        # Flushed line by line, or nothing would come before the end.
        assert json.loads(process.stdout.readline())["resource"] in {"credits", "endpoint"}
        process.send_signal(number)
        assert process.wait(2) == code
        assert process.stderr.read() == b""


def test_a_full_disk_is_told(environment: dict[str, str]) -> None:
    with Path("/dev/full").open("w") as full:
        done = run("credits", "list", env=environment, stdout=full)
    assert done.returncode == exits.FAILED
    assert "could not be written" in done.stderr
    assert "Traceback" not in done.stderr


def test_a_person_on_a_terminal_is_asked(environment: dict[str, str], place: Site) -> None:
    words = ("keys", "disable", "backfill-2025")
    with pty_terminal([*GWTUI, *words], environment=environment) as terminal:
        terminal.wait_for("Apply this change? Type y:")
        assert "Disable key" in terminal.text
        assert "Requests with this key are refused at once." in terminal.text
        terminal.send("n\n")
        assert terminal.wait_exit() == exits.FAILED
        assert "cancelled: nothing was sent" in terminal.text
    with pty_terminal([*GWTUI, *words], environment=environment) as terminal:
        terminal.wait_for("Type y:")
        terminal.send("y\n")
        assert terminal.wait_exit() == exits.OK
        assert "done:" in terminal.text


def test_an_interrupt_while_it_asks_sends_nothing(environment: dict[str, str]) -> None:
    with pty_terminal(
        [*GWTUI, "keys", "delete", "backfill-2024"], environment=environment
    ) as terminal:
        terminal.wait_for("Type yes to apply the change:")
        terminal.send("\x03")
        assert terminal.wait_exit() == exits.INTERRUPTED
        assert "Traceback" not in terminal.text


def test_a_critical_profile_wants_its_name(
    environment: dict[str, str], place: Site, private_home: Path
) -> None:
    folder = private_home / "config" / "gwtui"
    folder.mkdir()
    (folder / "profiles.toml").write_text(
        f'[profiles.prod]\nbase_url = "{place.gateway.base_url}"\ncritical = true\n'
    )
    words = ("keys", "enable", "backfill-2024", "--profile", "prod")
    with pty_terminal([*GWTUI, *words], environment=environment) as terminal:
        terminal.wait_for("This profile is CRITICAL. Type prod to apply the change:")
        terminal.send("y\n")
        assert terminal.wait_exit() == exits.FAILED
    with pty_terminal([*GWTUI, *words], environment=environment) as terminal:
        terminal.wait_for("Type prod")
        terminal.send("prod\n")
        assert terminal.wait_exit() == exits.OK
    (entry,) = Ledger(private_home / "state" / "gwtui" / "audit.jsonl").audit()
    assert (entry.consent, entry.profile) == ("typed", "prod")


def test_an_interrupt_does_not_lose_the_value_of_a_new_key(
    environment: dict[str, str], place: Site, private_home: Path
) -> None:
    slow = place.faults.arm("latency=1.5:POST /keys x1")
    words = ("keys", "create", "--set", "name=hasty", "--yes")
    with start(
        *words, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        end = time.monotonic() + 20
        while not slow.struck:
            assert time.monotonic() < end
            time.sleep(0.02)
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=20)
    place.faults.clear()
    assert process.returncode == exits.OK, err
    assert "waiting for the answer" in err
    assert place.get("/key", token=out.strip())["label"]
    assert Ledger(private_home / "state" / "gwtui" / "audit.jsonl").open_writes() == ()
