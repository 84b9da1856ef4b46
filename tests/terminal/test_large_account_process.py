"""A large account, printed in little memory, and on a terminal that stays responsive.

With ``GWTUI_FULL=1`` it is as large as the largest known account; by default it has enough keys and
assignments to reveal anything quadratic.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from large_account import key_name, make
from loaded_program import run, start
from pty_terminal import PtyTerminal, pty_terminal
from thoroughness import FULL

ESCAPE = "\x1b"
KEYS = 100_000 if FULL else 8_000
ALL_KEYS = f" {KEYS:,} keys"
"""The status of the complete list."""


@pytest.fixture(scope="module")
def gateway(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[str, dict[str, str]]]:
    """The base URL of a gateway with this many keys, and an environment with a key to it."""
    database = tmp_path_factory.mktemp("large") / "large.sqlite3"
    make(database, KEYS)
    words = ("gateway", "serve", "--port", "0", "--database", database)
    with start(*words, stdout=subprocess.PIPE, text=True) as process:
        key = run("gateway", "issue-key", "--management", "--database", database).stdout.strip()
        yield process.stdout.readline().strip(), {**os.environ, "GWTUI_TOKEN": key}
        process.terminate()


@pytest.mark.timeout(120 + KEYS / 100)
def test_listing_keys_uses_constant_memory(
    gateway: tuple[str, dict[str, str]],
) -> None:
    base_url, environment = gateway
    words = ("--base-url", base_url, "keys", "list", "--output", "ndjson")
    with start(*words, env=environment, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        hashes, peaks = set(), []
        for number, line in enumerate(process.stdout, start=1):
            hashes.add(json.loads(line)["hash"])
            if number in {2_000, KEYS - 2_000}:
                peaks.append(peak_mib(process.pid))
        assert process.wait(60) == 0
    assert len(hashes) == KEYS
    early_peak, late_peak = peaks
    # 7,000 rows in memory take 20 MiB; the number that tells whether a row was seen takes 90 bytes.
    assert late_peak - early_peak < 5 + KEYS * 90 / 2**20


def peak_mib(process: int) -> float:
    """The peak resident memory of a process."""
    status = Path(f"/proc/{process}/status").read_text("ascii")
    return int(status.partition("VmHWM:")[2].split()[0]) / 1024


WATCHED = """
import json, sys, time
from asyncio import events
from gwtui.cli.main import main

run, report = events.Handle._run, open(sys.argv.pop(1), "a")

def watched(handle):
    begun = time.thread_time()
    run(handle)
    if (took := time.thread_time() - begun) > 0.02:
        print(json.dumps([time.monotonic(), took, repr(handle)]), file=report, flush=True)

events.Handle._run = watched
sys.exit(main())
"""
"""The program, which logs computations that block the event loop for long."""
LIMIT = max(0.25, KEYS * 20e-6)
"""Maximum seconds that the event loop may be blocked.

Rows are sorted and compared in one go, so the largest accounts need time for each row.
"""
QUIET = 0.0066
"""Duration of ``slowness`` on the idle machine on which the limit was set."""


def slowness() -> float:
    """The factor by which work is slower than usual at its worst on this machine; 1 or more.

    Other processes slow it down through shared caches, without using its processor time.
    """
    worst = QUIET
    for _ in range(20):
        started = time.thread_time()
        created: dict[int, tuple[int, str]] = {}
        for number in range(60_000):
            created[number % 977] = (number, str(number))
        worst = max(worst, time.thread_time() - started)
    return worst / QUIET


def press(terminal: PtyTerminal, keys: str, text: str = "", vanishing: str = "") -> None:
    """Type keys, wait until text appears or disappears, then for a moment."""
    terminal.send(keys)
    terminal.wait_for(text, 60 + KEYS / 500)
    if vanishing:
        terminal.wait_gone(vanishing, 60)
    terminal.pump(0.3)


def look_for(terminal: PtyTerminal, text: str, complete: str) -> None:
    """Filter a list with the status ``complete``, and clear the filter."""
    press(terminal, "/", "Tab completes")  # typed ahead, a text is dropped where all is slow
    press(terminal, text, " of ")
    press(terminal, ESCAPE, complete)
    terminal.pump(0.7)  # two in one burst would be a different key
    press(terminal, ESCAPE, vanishing=f"/ {text}")


def walk(terminal: PtyTerminal) -> None:
    """Move through the keys while they load and afterwards, and through assignments."""
    for number in range(2, 8):
        press(terminal, "\x1b[B", f"▌ {key_name(number)}")
        press(terminal, "?", "Help ·")
        press(terminal, ESCAPE, vanishing="Help ·")
    terminal.wait_for(ALL_KEYS, 60 + KEYS / 50)
    look_for(terminal, "99", ALL_KEYS)
    for keys, text in (
        *(("g", key_name(0)), ("*", f"{KEYS:,} marked"), ("u", ALL_KEYS), ("r", "updated")),
        *(("3", "models"), ("2", ALL_KEYS), ("G", key_name(KEYS - 1))),
        (":assignments\r", f" {KEYS:,} assignments"),
    ):
        press(terminal, keys, text)
    look_for(terminal, "99", " assignments")


@pytest.mark.timeout(300 + KEYS / 10)
def test_the_event_loop_is_not_blocked_for_long(
    gateway: tuple[str, dict[str, str]], tmp_path: Path
) -> None:
    base_url, environment = gateway
    report = tmp_path / "report.jsonl"
    words = [str(report), "--base-url", base_url, "--read-only", "keys"]
    with pty_terminal([sys.executable, "-c", WATCHED, *words], environment=environment) as terminal:
        terminal.wait_for(f"▌ {key_name(0)}", 60)
        # Modules that are loaded on first use, whatever the size of the account.
        press(terminal, "\x1b[B", f"▌ {key_name(1)}")
        for keys, text in (("?", "Help ·"), ("/", "Tab  name")):
            press(terminal, keys, text)
            press(terminal, ESCAPE, vanishing=text)
        measured_from = time.monotonic()
        walk(terminal)
        limit = LIMIT * slowness()
        terminal.send("q")
        assert terminal.wait_exit(20) == 0
    results = [json.loads(line) for line in report.read_text("utf-8").splitlines()]
    assert results, "nothing was measured"
    assert not [row for row in results if row[0] > measured_from and row[1] > limit], limit
