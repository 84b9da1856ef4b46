"""The dashboard against the smallest Textual application, on a real pseudo-terminal.

    python benchmarks/dashboard.py [--runs 7]

Prints ratios: absolute times belong to the machine. Both programs run from compiled files.
"""

from __future__ import annotations

import argparse
import compileall
import os
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "tests"))

from pty_terminal import PtyTerminal, pty_terminal  # noqa: E402 - the path is set above

COLUMNS, ROWS = 120, 40
IDLE_SECONDS = 10
_A_FRAME = 8
"""Words on the screen that can only come from a painted frame."""


@dataclass(frozen=True)
class Program:
    """A command, and what shows that its first row is there."""

    name: str
    command: Sequence[str]
    first_row: str


@dataclass
class Figures:
    """What one run of a program measured."""

    first_paint: float
    first_row: float
    first_bytes: int
    cursor_bytes: int
    idle_bytes: int
    idle_cpu: float
    peak_mib: float


SMALLEST = Program(
    "smallest app", [sys.executable, str(ROOT / "benchmarks/smallest_app.py")], "row-0"
)
DASHBOARD = Program(
    "gwtui --demo", [sys.executable, "-m", "gwtui", "--demo", "keys"], "airflow-staging"
)


def measure(program: Program, environment: dict[str, str]) -> Figures:
    """Run a program once and read its figures off the terminal and /proc."""
    started = time.perf_counter()
    with pty_terminal(
        program.command, columns=COLUMNS, rows=ROWS, environment=environment
    ) as terminal:
        first_paint = wait(terminal, lambda: len(terminal.text.split()) > _A_FRAME, started)
        first_row = wait(terminal, lambda: program.first_row in terminal.text, started)
        terminal.settle(1.0)
        first_bytes = len(terminal.raw)
        cursor_bytes = len(press(terminal, "\x1b[B"))
        cpu_before = cpu_seconds(terminal.process.pid)
        idle = terminal.pump(IDLE_SECONDS)
        idle_cpu = (cpu_seconds(terminal.process.pid) - cpu_before) / IDLE_SECONDS
        peak = peak_mib(terminal.process.pid)
        terminal.send("q")
        terminal.wait_exit()
    return Figures(
        first_paint, first_row, first_bytes, cursor_bytes, len(idle), idle_cpu * 100, peak
    )


def wait(terminal: PtyTerminal, shown: Callable[[], bool], started: float) -> float:
    """Seconds since ``started`` until the screen shows it."""
    while not shown():
        terminal.pump(0.005)
        if terminal.process.poll() is not None or time.perf_counter() - started > 60:
            raise SystemExit(f"never got there:\n{terminal.text}")
    return time.perf_counter() - started


def press(terminal: PtyTerminal, key: str) -> bytes:
    """The bytes that one key press costs, averaged over ten."""
    total = b""
    for _ in range(10):
        terminal.send(key)
        total += terminal.pump(0.25)
    return total[: len(total) // 10]


def cpu_seconds(pid: int) -> float:
    """User and system time of a process so far."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def peak_mib(pid: int) -> float:
    """Largest resident memory of a process so far."""
    for line in Path(f"/proc/{pid}/status").read_text().splitlines():
        if line.startswith("VmHWM"):
            return int(line.split()[1]) / 1024
    return 0.0


def main() -> None:
    """Measure both programs in turn and print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=7)
    runs = parser.parse_args().runs
    with tempfile.TemporaryDirectory() as folder:
        environment = private_environment(Path(folder))
        measured: dict[str, list[Figures]] = {SMALLEST.name: [], DASHBOARD.name: []}
        for turn in range(runs + 1):
            for program in (SMALLEST, DASHBOARD):
                figures = measure(program, environment)
                if turn:  # the first compiles the files and founds the demo's database
                    measured[program.name].append(figures)
    report(measured)


def private_environment(folder: Path) -> dict[str, str]:
    """A home of its own, and compiled files even where writing them is switched off."""
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
    compileall.compile_dir(ROOT / "gwtui", quiet=2)
    return {
        "HOME": str(folder),
        "PYTHONPATH": str(ROOT),
        **{
            f"XDG_{name}_HOME": str(folder / name.lower())
            for name in ("CONFIG", "DATA", "STATE", "CACHE")
        },
    }


def report(measured: dict[str, list[Figures]]) -> None:
    """Medians side by side, and the ratio."""
    rows = (
        ("first paint, s", "first_paint"),
        ("first row of data, s", "first_row"),
        ("bytes of the first screen", "first_bytes"),
        ("bytes of a cursor move", "cursor_bytes"),
        (f"bytes in {IDLE_SECONDS} s idle", "idle_bytes"),
        ("CPU idle, %", "idle_cpu"),
        ("peak memory, MiB", "peak_mib"),
    )
    print(f"{'':28}{SMALLEST.name:>16}{DASHBOARD.name:>16}{'ratio':>8}")
    for title, field in rows:
        base, ours = (
            statistics.median(getattr(figures, field) for figures in measured[name])
            for name in (SMALLEST.name, DASHBOARD.name)
        )
        ratio = f"{ours / base:.2f}" if base else "-"
        print(f"{title:28}{base:>16.3f}{ours:>16.3f}{ratio:>8}")


if __name__ == "__main__":
    main()
