"""Everything that is measured against a goal, in one table: starts, keys, bytes, long lists.

    python benchmarks/run.py [--runs 5] [--keys 20000] [--beside CHECKOUT] [--markdown]

Starts are compared with the smallest Textual application: one start is what that takes to its first
row on the same machine, in the same run. A key is measured from the press to the last byte that
follows; the table has the median. ``--beside`` measures another checkout in turns with this one,
and adds how many times as long this one takes. A figure above its goal ends with "missed", and the
status is 1. ``--markdown`` prints the table of ``docs/benchmarks.md``. Every program starts
anew, from compiled files.
"""

from __future__ import annotations

import argparse
import compileall
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

from gwtui.local.first_steps import FIRST_STEPS_FILE  # noqa: E402
from large_account import key_name, make  # noqa: E402 - the path is set above
from pty_terminal import PtyTerminal, pty_terminal  # noqa: E402

COLUMNS, ROWS = 120, 40
GWTUI = [sys.executable, "-m", "gwtui"]
SMALLEST = [sys.executable, str(ROOT / "benchmarks" / "smallest_app.py")]
ESCAPE, DOWN, PALETTE = "\x1b", "\x1b[B", "\x10"
TABS = "3456712"
"""The keys of all tabs; the dashboard begins on the one of the last."""
_A_FRAME = 8
"""Text that only a painted frame shows."""
_REST = 0.4
"""Seconds without a byte after which the next key is pressed."""
_QUIET = 0.2
"""Seconds without a byte and without work after which a key press is over."""
_AGAIN = 4
"""How often a dashboard opens palette, form and filter again."""
_IDLE_SECONDS = 5
_DEMO_ROW = "airflow-staging"
"""A key of the demo."""


@dataclass(frozen=True)
class Goal:
    """A line of the table: what is measured, its unit, and its maximum."""

    title: str
    unit: str
    most: float
    of: Callable[[Sequence[float]], float] = statistics.median
    """How to combine several measurements."""


GOALS = {
    "frame": Goal("first frame, running gateway", "starts", 1.3),
    "rows": Goal("first rows, running gateway", "starts", 2.2),
    "demo rows": Goal("first rows, demo that starts its gateway", "starts", 2.6),
    "tab": Goal("a tab", "ms", 100),
    "palette": Goal("the palette", "ms", 100),
    "form": Goal("the form of a new key", "ms", 100),
    "escape": Goal("Esc from that form", "ms", 100),
    "filter": Goal("opening the filter", "ms", 100),
    "letter": Goal("a letter of the filter on a long list", "ms", 150, max),
    "tab bytes": Goal("a tab, the largest", "bytes", 6656, max),
    "form bytes": Goal("the form", "bytes", 3277),
    "confirmation bytes": Goal("a confirmation", "bytes", 3277),
    "cursor bytes": Goal("one cursor step, with the detail pane", "bytes", 819, max),
    "idle bytes": Goal(f"{_IDLE_SECONDS} s without input or changes", "bytes", 0, max),
    "memory": Goal("the demo on the list of keys", "MiB", 110, max),
    "row": Goal("memory per row of a long list", "KiB", 3),
    "again": Goal(
        "processor time of reading a long list again, compared with the first time", "%", 30
    ),
    "page": Goal("processor time of a page of keys from the embedded gateway", "ms", 3),
    "page 99": Goal("response time of that page, 99th percentile", "ms", 20),
}
BESIDE = {"rows": 1.0, "demo rows": 1.0, "tab": 1.6, "palette": 1.6, "form": 1.6}
"""Maximum duration, as a multiple of that of the other checkout."""


@dataclass
class Measured:
    """All measurements of one program, by the name of their goal."""

    figures: dict[str, list[float]] = field(default_factory=dict)

    def add(self, name: str, figure: float) -> None:
        self.figures.setdefault(name, []).append(figure)

    def of(self, name: str) -> float | None:
        """Return the value to show; None without measurements."""
        figures = self.figures.get(name)
        return GOALS[name].of(figures) if figures else None


# The terminal ------------------------------------------------------------------------------------


def seconds_until(terminal: PtyTerminal, shown: Callable[[], bool], started: float) -> float:
    """Return the seconds from ``started`` until the screen shows the text."""
    while not shown():
        terminal.pump(0.005)
        if terminal.process.poll() is not None or time.perf_counter() - started > 60:
            raise SystemExit(f"never got there:\n{terminal.text}")
    return time.perf_counter() - started


def press(terminal: PtyTerminal, keys: str) -> tuple[float, int]:
    """Return the milliseconds from the keys to the last byte that follows, and the bytes."""
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
    """Start a program in a new process on its own terminal; end it with q."""
    with pty_terminal(
        command, columns=COLUMNS, rows=ROWS, environment=environment, fresh_process=True
    ) as terminal:
        yield terminal
        terminal.send("q")
        terminal.wait_exit(20)


# What is measured --------------------------------------------------------------------------------


def smallest(environment: dict[str, str]) -> tuple[float, float]:
    """Return the seconds to the first frame and to the first row of the smallest application."""
    begun = time.perf_counter()
    with started(SMALLEST, environment) as terminal:
        frame = seconds_until(terminal, lambda: len(terminal.text.split()) > _A_FRAME, begun)
        return frame, seconds_until(terminal, lambda: "row-0" in terminal.text, begun)


def begin(command: Sequence[str], environment: dict[str, str], row: str) -> tuple[float, float]:
    """Return the same for the dashboard, whose first row is called ``row``."""
    begun = time.perf_counter()
    with started(command, environment) as terminal:
        frame = seconds_until(terminal, lambda: len(terminal.text.split()) > _A_FRAME, begun)
        return frame, seconds_until(terminal, lambda: row in terminal.text, begun)


@contextmanager
def settled_demo(environment: dict[str, str]) -> Iterator[PtyTerminal]:
    """A dashboard on the demo's keys, once everything is loaded and idle."""
    with started([*GWTUI, "--demo", "keys"], environment) as terminal:
        terminal.wait_for(_DEMO_ROW, 60)
        terminal.settle(1.5)
        yield terminal


def walk(measured: Measured, environment: dict[str, str]) -> None:
    """Visit the screens of one dashboard; measure times, bytes and memory."""
    with settled_demo(environment) as terminal:
        measured.add("memory", resident_mib(terminal.process.pid))
        for tab in TABS * 2:
            took, came = press(terminal, tab)
            measured.add("tab", took)
            measured.add("tab bytes", came)
        for _ in range(_AGAIN):
            measured.add("palette", press(terminal, PALETTE)[0])
            press(terminal, ESCAPE)
            took, came = press(terminal, "n")
            measured.add("form", took)
            measured.add("form bytes", came)
            measured.add("escape", press(terminal, ESCAPE)[0])
            measured.add("confirmation bytes", press(terminal, "D")[1])
            press(terminal, ESCAPE)
            measured.add("filter", press(terminal, "/")[0])
            press(terminal, ESCAPE)


def rest(measured: Measured, environment: dict[str, str]) -> None:
    """Measure the bytes that a dashboard sends while idle, and for each cursor step."""
    with settled_demo(environment) as terminal:
        measured.add("idle bytes", len(terminal.pump(_IDLE_SECONDS)))
        for _ in range(5):
            measured.add("cursor bytes", press(terminal, DOWN)[1])


def letters(measured: Measured, environment: dict[str, str], keys: int) -> None:
    """Type a filter on a long list that is completely read."""
    with started([*GWTUI, "keys"], environment) as terminal:
        terminal.wait_for(f"{keys:,}", 120)
        terminal.settle(1.5)
        press(terminal, "/")
        for letter in "service":
            measured.add("letter", press(terminal, letter)[0])
        press(terminal, ESCAPE)


@contextmanager
def gateway(database: Path, environment: dict[str, str]) -> Iterator[tuple[dict[str, str], int]]:
    """Run the embedded gateway in a process; yield the variables for a client, and the process."""
    variables = {**os.environ, **environment}
    issue = [*GWTUI, "gateway", "issue-key", "--management", "--database", str(database)]
    key = subprocess.run(issue, capture_output=True, text=True, check=True, env=variables)
    serve = [*GWTUI, "gateway", "serve", "--port", "0", "--database", str(database)]
    with subprocess.Popen(
        serve, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, env=variables
    ) as process:
        address = process.stdout.readline().strip() if process.stdout else ""
        try:
            yield {"GWTUI_BASE_URL": address, "GWTUI_TOKEN": key.stdout.strip()}, process.pid
        finally:
            process.terminate()


def starts(measured: Measured, environment: dict[str, str], address: dict[str, str]) -> None:
    """Start each kind of program once, beside the smallest application."""
    frame, row = smallest(environment)
    ours = begin([*GWTUI, "keys"], {**environment, **address}, key_name(0))
    _, demo = begin([*GWTUI, "--demo", "keys"], environment, _DEMO_ROW)
    measured.add("frame", ours[0] / frame)
    measured.add("rows", ours[1] / row)
    measured.add("demo rows", demo / row)


def private_environment(folder: Path, checkout: Path) -> dict[str, str]:
    """Return the environment of ``checkout`` with a private home, after compiling its modules."""
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
    compileall.compile_dir(checkout / "gwtui", quiet=2)
    state = folder / "state" / "gwtui"
    state.mkdir(parents=True, mode=0o700, exist_ok=True)
    (state / FIRST_STEPS_FILE).touch(mode=0o600)
    return {
        "HOME": str(folder),
        "PYTHONPATH": str(checkout),
        "PYTHONSAFEPATH": "1",
        **{
            f"XDG_{name}_HOME": str(folder / name.lower())
            for name in ("CONFIG", "DATA", "STATE", "CACHE")
        },
    }


def small_account(programs: Sequence[tuple[Measured, dict[str, str]]], runs: int) -> None:
    """Measure starts and screens of each program, in turns."""
    with tempfile.TemporaryDirectory() as folder:
        database = Path(folder, "small.sqlite3")
        make(database, 50)
        with gateway(database, programs[0][1]) as (address, _):
            for _, environment in programs:  # the first start founds the demo's database
                starts(Measured(), environment, address)
            for _ in range(runs):
                for measured, environment in programs:
                    starts(measured, environment, address)
                    walk(measured, environment)


def large_account(measured: Measured, environment: dict[str, str], keys: int) -> None:
    """Measure a long list: in the dashboard, in its client, and at its gateway."""
    with tempfile.TemporaryDirectory() as folder:
        database = Path(folder, "large.sqlite3")
        make(database, keys)
        with gateway(database, environment) as (found, process):
            address, key = found["GWTUI_BASE_URL"], found["GWTUI_TOKEN"]
            row, again = reading(address, key)
            page, slow_page = pages(address, key, keys, process)
            letters(measured, {**environment, **found}, keys)
    measured.add("row", row)
    measured.add("again", again)
    measured.add("page", page)
    measured.add("page 99", slow_page)


# The table ---------------------------------------------------------------------------------------


def lines(measured: Measured, other: Measured) -> Iterator[tuple[str, str, str, bool]]:
    """Return the lines of the table: title, value, goal, and whether the goal is missed."""
    for name, goal in GOALS.items():
        figure, beside = measured.of(name), other.of(name)
        if figure is None:
            continue
        pattern = "{:,.0f} {}" if goal.unit in ("bytes", "ms", "%") else "{:,.3g} {}"
        shown, most = (pattern.format(value, goal.unit) for value in (figure, goal.most))
        yield goal.title, shown, most, figure > goal.most
        if beside and name in BESIDE:
            times = figure / beside
            yield (
                f"{goal.title}, beside",
                f"{times:.2f} x",
                f"{BESIDE[name]} x",
                (times > BESIDE[name]),
            )


def report(measured: Measured, other: Measured, *, markdown: bool) -> bool:
    """Print the table; return whether every goal is reached."""
    reached = True
    if markdown:
        print("| what | measured | goal |\n| --- | --- | --- |")
    for title, shown, most, missed in lines(measured, other):
        reached &= not missed
        if markdown:
            print(f"| {title} | {shown} | {most} |")
        else:
            verdict = "missed" if missed else ""
            print(f"{title:62}{shown:>14}  goal {most:14}{verdict}".rstrip())
    return reached


def main() -> None:
    """Measure everything and print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--keys", type=int, default=20_000)
    parser.add_argument("--beside", type=Path, metavar="CHECKOUT")
    parser.add_argument("--markdown", action="store_true")
    options = parser.parse_args()
    measured, other = Measured(), Measured()
    with tempfile.TemporaryDirectory() as folder, tempfile.TemporaryDirectory() as second:
        environment = private_environment(Path(folder), ROOT)
        programs = [(measured, environment)]
        if options.beside:
            programs.append((other, private_environment(Path(second), options.beside.resolve())))
        small_account(programs, options.runs)
        rest(measured, environment)
        large_account(measured, environment, options.keys)
    if not report(measured, other, markdown=options.markdown):
        raise SystemExit(1)


if __name__ == "__main__":
    main()
