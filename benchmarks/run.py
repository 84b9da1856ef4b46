"""Everything that is measured against a goal, in one table: starts, screens, bytes, memory, lists.

    python benchmarks/run.py [--runs 5] [--keys 20000] [--markdown]

Times are told in starts: one start is what the smallest Textual application takes to its first row
on the same machine, in the same run. Behind them is how many milliseconds that is here. Key presses
are measured from the key to the last byte that it leads to, and the 95th percentile is told. Bytes,
MiB and shares are what they say. A figure that misses its goal ends with "missed", and the status
is 1 then. ``--markdown`` prints the columns that do not depend on the machine, for
``docs/benchmarks.md``. Every program starts anew, from compiled files.
"""

from __future__ import annotations

import argparse
import compileall
import math
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "tests"))

from list_reading import pages, reading  # noqa: E402 - beside this file

from gwtui.local.dashboard_state import FIRST_STEPS_FILE  # noqa: E402
from large_account import key_name, make  # noqa: E402 - the path is set above
from pty_terminal import PtyTerminal, pty_terminal  # noqa: E402

COLUMNS, ROWS = 120, 40
GWTUI = [sys.executable, "-m", "gwtui"]
SMALLEST = [sys.executable, str(ROOT / "benchmarks" / "smallest_app.py")]
ESCAPE, DOWN, PALETTE = "\x1b", "\x1b[B", "\x10"
TABS = "3456712"
"""The keys of all tabs; the dashboard begins on the one of the last."""
_A_FRAME = 8
"""Words on the screen that can only come from a painted frame."""
_REST = 0.4
"""Seconds without a byte after which nothing is left to come, and the next key is pressed."""
_QUIET = 0.2
"""Seconds without a byte and without work after which a key press is over: what comes later comes
by itself."""
_AGAIN = 4
"""How often a dashboard opens palette, form and filter once more: of 20 presses the worst may be
one that a poll falls into."""
_IDLE_SECONDS = 5
_DEMO_ROW = "airflow-staging"
"""A key of the demo."""


_START = 307.0
"""Milliseconds of a start on the machine whose times the goals were set by."""


@dataclass(frozen=True)
class Goal:
    """A line of the table: what is measured, in which unit, and how much it may be at most.

    ``of`` is how one figure comes of several.
    """

    title: str
    unit: str
    most: float
    of: Callable[[Sequence[float]], float] = statistics.median


def _percentile_95(figures: Sequence[float]) -> float:
    """The 95th percentile, by the nearest rank."""
    return sorted(figures)[math.ceil(len(figures) * 0.95) - 1]


def _key(title: str, milliseconds: float) -> Goal:
    return Goal(title, "starts", milliseconds / _START, _percentile_95)


GOALS = {
    "frame": Goal("first frame, running gateway", "starts", 1.1),
    "rows": Goal("first rows, running gateway", "starts", 1.8),
    "demo rows": Goal("first rows, demo that starts its gateway", "starts", 2.2),
    "tab": _key("a tab for the first time", 100),
    "tab again": _key("a tab again", 50),
    "palette": _key("the palette for the first time", 100),
    "palette again": _key("the palette again", 50),
    "form": _key("the form of a new key for the first time", 100),
    "form again": _key("the form again", 50),
    "escape": _key("Esc from that form for the first time", 100),
    "escape again": _key("Esc from it again", 50),
    "filter": _key("opening the filter", 50),
    "clear": _key("clearing the filter", 50),
    "tab bytes": Goal("a tab, the largest", "bytes", 6144, max),
    "form bytes": Goal("the form", "bytes", 6144, max),
    "cursor bytes": Goal("the cursor by a row, beside its detail", "bytes", 1024, max),
    "idle bytes": Goal(f"{_IDLE_SECONDS} s in which nothing happens", "bytes", 0, max),
    "memory": Goal("the demo on the list of keys", "MiB", 60),
    "row": Goal("a row of a long list, read", "KiB", 3),
    "again": Goal("reading a long list again, of the first time's processor time", "%", 20),
    "page": Goal("a page of keys from the embedded gateway, processor time", "starts", 2 / _START),
    "page 99": Goal("the same until it has come, 99 of 100", "starts", 20 / _START),
}


@dataclass
class Measured:
    """Figures by the name of their goal, as often as they were taken.

    Times are in starts: of the last one that was timed, for a machine is not as fast in every
    minute. ``starts`` has the milliseconds of each.
    """

    starts: list[float] = field(default_factory=list)
    figures: dict[str, list[float]] = field(default_factory=dict)

    def add(self, name: str, figure: float) -> None:
        """One more."""
        self.figures.setdefault(name, []).append(figure)

    def add_ms(self, name: str, milliseconds: float) -> None:
        """One more time, which is told in starts."""
        self.add(name, milliseconds / self.starts[-1])

    def time_start(self, environment: dict[str, str]) -> None:
        """See how fast the machine is now."""
        self.starts.append(smallest(environment)[1] * 1000)

    def of(self, name: str) -> float | None:
        """The figure that is told; None where there is none."""
        found = self.figures.get(name)
        return GOALS[name].of(found) if found else None


# The terminal ------------------------------------------------------------------------------------


def seconds_until(terminal: PtyTerminal, shown: Callable[[], bool], started: float) -> float:
    """Seconds since ``started`` until the screen shows it."""
    while not shown():
        terminal.pump(0.005)
        if terminal.process.poll() is not None or time.perf_counter() - started > 60:
            raise SystemExit(f"never got there:\n{terminal.text}")
    return time.perf_counter() - started


def press(terminal: PtyTerminal, keys: str) -> tuple[float, int]:
    """Milliseconds from the keys to the last byte that they lead to, and how many bytes come."""
    terminal.settle(_REST)
    chunks = []
    started = last = worked = time.perf_counter()
    terminal.send(keys)
    while time.perf_counter() - worked < _QUIET:
        chunk = terminal.receive(0.01)
        if chunk:
            last = worked = time.perf_counter()
            chunks.append(chunk)
        elif terminal.has_work():
            worked = time.perf_counter()
    for chunk in chunks:  # only now, for it takes longer than some of what is measured
        terminal.show(chunk)
    return (last - started) * 1000, sum(map(len, chunks))


def resident_mib(pid: int) -> float:
    """Resident memory of a process, in MiB."""
    pages = int(Path(f"/proc/{pid}/statm").read_text("ascii").split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") / 2**20


@contextmanager
def started(command: Sequence[str], environment: dict[str, str]) -> Iterator[PtyTerminal]:
    """A program on a terminal of its own, begun anew; ended with q."""
    with pty_terminal(
        command, columns=COLUMNS, rows=ROWS, environment=environment, anew=True
    ) as terminal:
        yield terminal
        terminal.send("q")
        terminal.wait_exit(20)


# What is measured --------------------------------------------------------------------------------


def smallest(environment: dict[str, str]) -> tuple[float, float]:
    """Seconds to the first frame and to the first row of the smallest application."""
    begun = time.perf_counter()
    with started(SMALLEST, environment) as terminal:
        frame = seconds_until(terminal, lambda: len(terminal.text.split()) > _A_FRAME, begun)
        return frame, seconds_until(terminal, lambda: "row-0" in terminal.text, begun)


def begin(command: Sequence[str], environment: dict[str, str], row: str) -> tuple[float, float]:
    """The same of the dashboard, whose first row is called ``row``."""
    begun = time.perf_counter()
    with started(command, environment) as terminal:
        frame = seconds_until(terminal, lambda: len(terminal.text.split()) > _A_FRAME, begun)
        return frame, seconds_until(terminal, lambda: row in terminal.text, begun)


@contextmanager
def settled_demo(environment: dict[str, str]) -> Iterator[PtyTerminal]:
    """A dashboard on the demo's keys, once everything is loaded and nothing happens."""
    with started([*GWTUI, "--demo", "keys"], environment) as terminal:
        terminal.wait_for(_DEMO_ROW, 60)
        terminal.settle(1.5)
        yield terminal


def walk(measured: Measured, environment: dict[str, str]) -> None:
    """Go over the screens of one dashboard, and look at times, bytes and memory."""
    with settled_demo(environment) as terminal:
        measured.add("memory", resident_mib(terminal.process.pid))
        for name in ("tab", "tab again"):
            for tab in TABS:
                took, came = press(terminal, tab)
                measured.add_ms(name, took)
                measured.add("tab bytes", came)
        for again in ("", *[" again"] * _AGAIN):
            measured.add_ms(f"palette{again}", press(terminal, PALETTE)[0])
            press(terminal, ESCAPE)
            took, came = press(terminal, "n")
            measured.add_ms(f"form{again}", took)
            measured.add("form bytes", came)
            measured.add_ms(f"escape{again}", press(terminal, ESCAPE)[0])
            measured.add_ms("filter", press(terminal, "/")[0])
            press(terminal, "a")
            measured.add_ms("clear", press(terminal, ESCAPE)[0])


def rest(measured: Measured, environment: dict[str, str]) -> None:
    """What a dashboard sends while nothing happens, and for each step of the cursor."""
    with settled_demo(environment) as terminal:
        measured.add("idle bytes", len(terminal.pump(_IDLE_SECONDS)))
        for _ in range(5):
            measured.add("cursor bytes", press(terminal, DOWN)[1])


@contextmanager
def gateway(database: Path, environment: dict[str, str]) -> Iterator[tuple[dict[str, str], int]]:
    """The embedded gateway in a process of its own; what a client finds it by, and its number."""
    variables = {**os.environ, **environment}
    issue = [*GWTUI, "gateway", "issue-key", "--management", "--database", str(database)]
    key = subprocess.run(issue, capture_output=True, text=True, check=True, env=variables)
    serve = [*GWTUI, "gateway", "serve", "--port", "0", "--database", str(database)]
    with subprocess.Popen(
        serve, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, env=variables
    ) as process:
        address = process.stdout.readline().strip() if process.stdout else ""
        yield {"GWTUI_BASE_URL": address, "GWTUI_TOKEN": key.stdout.strip()}, process.pid
        process.terminate()


def starts(measured: Measured, environment: dict[str, str], folder: Path, runs: int) -> None:
    """Starts beside those of the smallest application, one after the other."""
    database = folder / "small.sqlite3"
    make(database, 50)
    with gateway(database, environment) as (found, _):
        for turn in range(runs + 1):
            frame, row = smallest(environment)
            ours = begin([*GWTUI, "keys"], {**environment, **found}, key_name(0))
            _, demo = begin([*GWTUI, "--demo", "keys"], environment, _DEMO_ROW)
            if turn:  # the first one compiles, and founds the demo's database
                measured.add("frame", ours[0] / frame)
                measured.add("rows", ours[1] / row)
                measured.add("demo rows", demo / row)


def private_environment(folder: Path) -> dict[str, str]:
    """A home of its own, and compiled files even where writing them is switched off."""
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
    compileall.compile_dir(ROOT / "gwtui", quiet=2)
    state = folder / "state" / "gwtui"
    state.mkdir(parents=True, mode=0o700, exist_ok=True)
    (state / FIRST_STEPS_FILE).touch(mode=0o600)
    return {
        "HOME": str(folder),
        "PYTHONPATH": str(ROOT),
        **{
            f"XDG_{name}_HOME": str(folder / name.lower())
            for name in ("CONFIG", "DATA", "STATE", "CACHE")
        },
    }


# The table ---------------------------------------------------------------------------------------


def report(measured: Measured, *, markdown: bool) -> bool:
    """Print the table; whether every goal is reached."""
    reached = True
    start = statistics.median(measured.starts)
    if markdown:
        print("| what | measured | goal |\n| --- | --- | --- |")
    else:
        print(f"a start takes {start:,.0f} ms here")
    for name, goal in GOALS.items():
        figure = measured.of(name)
        if figure is None:
            continue
        missed = figure > goal.most
        reached &= not missed
        said, most = (f"{one:,.3g} {goal.unit}" for one in (figure, goal.most))
        if goal.unit == "bytes":
            said, most = (f"{one:,.0f} bytes" for one in (figure, goal.most))
        if markdown:
            print(f"| {goal.title} | {said} | {most} |")
            continue
        here = f"{figure * start:,.3g} ms" if goal.unit == "starts" else ""
        verdict = "missed" if missed else ""
        print(f"{goal.title:62}{said:>14}{here:>10}  goal {most:14}{verdict}".rstrip())
    return reached


def main() -> None:
    """Measure everything and print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--keys", type=int, default=20_000)
    parser.add_argument("--markdown", action="store_true")
    options = parser.parse_args()
    measured = Measured()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        environment = private_environment(folder)
        starts(measured, environment, folder, options.runs)
        for _ in range(options.runs):
            measured.time_start(environment)
            walk(measured, environment)
        rest(measured, environment)
        database = folder / "large.sqlite3"
        make(database, options.keys)
        with gateway(database, environment) as (found, process):
            address, key = found["GWTUI_BASE_URL"], found["GWTUI_TOKEN"]
            row, again = reading(address, key)
            measured.time_start(environment)
            page, slow_page = pages(address, key, options.keys, process)
        measured.add("row", row)
        measured.add("again", again)
        measured.add_ms("page", page)
        measured.add_ms("page 99", slow_page)
    if not report(measured, markdown=options.markdown):
        raise SystemExit(1)


if __name__ == "__main__":
    main()
