"""The real program on a real terminal: what comes in one write ends as when it is typed slowly.

``GWTUI_FULL=1`` types every journey, and 50 random bursts of them.
"""

from __future__ import annotations

import json
import os
import random
import re
import shlex
import shutil
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

from journeys import JOURNEYS, cut
from loaded_program import GWTUI, run
from pty_terminal import PtyTerminal, pty_terminal
from thoroughness import FULL, SEED

DEMO = [*GWTUI, "--demo", "keys"]
ROUNDS = 50 if FULL else 1
SAMPLE = ("new key",)
MORE = ("new key given up", "filter, clear, filter")
MORE += ("new key with an expiry", "edit a key", "disable and undo", "path to a row")
MORE += ("palette to a form", "marks", "delete a key", "tabs and back", "raw and detail")
EVERY = SAMPLE + MORE if FULL else SAMPLE
QUIET = 0.4
AFTER_A_KEY = 0.15
"""Seconds without output after which a key has done everything; the details come after 0.12."""
pytestmark = pytest.mark.timeout(180 + 20 * ROUNDS)

together = pytest.mark.xdist_group("journeys of processes")
"""On one worker, so that each journey is typed slowly once."""

Way = Callable[[PtyTerminal, Sequence[str]], None]
Outcome = tuple[list[str], list[tuple[Any, ...]]]
_known: dict[str, Outcome] = {}


def slowly(terminal: PtyTerminal, keys: Sequence[str]) -> None:
    for key in keys:
        terminal.send(key)
        terminal.settle(AFTER_A_KEY)


def at_once(terminal: PtyTerminal, keys: Sequence[str]) -> None:
    terminal.send("".join(keys))


def cut_up(seed: int) -> Way:
    def send(terminal: PtyTerminal, keys: Sequence[str]) -> None:
        for piece, pause in cut("".join(keys), random.Random(seed)):
            terminal.send(piece)
            time.sleep(pause)

    return send


def outcome(name: str, way: Way, data: Path) -> Outcome:
    """What the screen shows at the end, but for what the moment changes; and the keys there are.

    ``data`` is that of a demo which nobody has changed; a copy of it is.
    """
    environment = {**os.environ, "XDG_DATA_HOME": tempfile.mkdtemp(dir=os.environ["HOME"])}
    shutil.copytree(data, environment["XDG_DATA_HOME"], dirs_exist_ok=True)
    with pty_terminal(DEMO, columns=100, rows=30, environment=environment) as terminal:
        terminal.wait_for("airflow-staging", 60)
        terminal.settle(QUIET)
        way(terminal, JOURNEYS[name].tokens)
        terminal.settle(1.5)
        assert "typed ahead" not in terminal.text
        # Alerts come into the header, notices go below; figures of the moment stand on the right.
        seen = [
            re.sub(r"\d\d:\d\d:\d\d", "", line[:34]).rstrip() for line in terminal.screen.display
        ]
    listed = run("--demo", "keys", "list", "--output", "json", env=environment)
    fields = ("name", "limit", "limit_reset", "disabled")
    keys = [tuple(key[field] for field in fields) for key in json.loads(listed.stdout)]
    return seen[1:20], sorted(keys, key=str)


def wanted(name: str, data: Path) -> Outcome:
    if name not in _known:
        _known[name] = outcome(name, slowly, data)
    return _known[name]


@together
@pytest.mark.parametrize("name", EVERY)
def test_one_write_ends_as_slow_typing(name: str, private_home: Path, opened_demo: Path) -> None:
    assert outcome(name, at_once, opened_demo) == wanted(name, opened_demo)


@together
def test_writes_cut_up_at_random_end_as_slow_typing(private_home: Path, opened_demo: Path) -> None:
    chance = random.Random(SEED)
    for _ in range(ROUNDS):
        name, seed = chance.choice(EVERY), chance.randrange(1 << 30)
        ended = outcome(name, cut_up(seed), opened_demo)
        assert ended == wanted(name, opened_demo), (name, seed)


def test_the_name_and_the_limit_get_what_is_meant_for_them(demo_home: Path) -> None:
    with pty_terminal(DEMO) as terminal:
        terminal.wait_for("airflow-staging", 60)
        terminal.send("nci\t25")
        terminal.wait_for("$25.00 in all")
        (name,) = [line for line in terminal.screen.display if line.lstrip().startswith("Name")]
        assert name.split()[1] == "ci"
        terminal.send("\x03")
        terminal.wait_for("Quit now?")
        terminal.send("y")
        assert terminal.wait_exit() == 0


def test_what_is_typed_behind_q_is_for_the_shell(demo_home: Path) -> None:
    line = f'{shlex.join(DEMO)}; read -r line; echo "the shell got: $line"'
    with pty_terminal(["sh", "-c", line]) as terminal:
        terminal.wait_for("airflow-staging", 60)
        terminal.settle()
        terminal.send("qls and more\n")
        terminal.wait_for("the shell got: ls and more")
        assert terminal.wait_exit() == 0
        assert terminal.left_over_modes() == []


def test_a_terminal_that_is_gone_ends_the_program_whatever_was_typed_ahead(
    demo_home: Path,
) -> None:
    with pty_terminal(DEMO) as terminal:
        terminal.wait_for("airflow-staging", 60)
        terminal.send("nci\t25" + "\t" * 200)
        terminal.hang_up()
        terminal.process.wait(5)
