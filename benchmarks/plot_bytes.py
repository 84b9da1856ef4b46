"""Bytes that a plot sends to the terminal at each tick.

    python benchmarks/plot_bytes.py

A plot of one hour with a new figure every 30 s, on a real pseudo-terminal. The window moves on
every tenth tick; all other ticks only add to the curve.
"""

from __future__ import annotations

import sys
from pathlib import Path
from statistics import mean, median

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "tests"))

from pty_terminal import PtyTerminal, pty_terminal  # noqa: E402 - the path is set above

SIZES = ((60, 8), (80, 12), (100, 20))
TICKS = 40
IDLE_SECONDS = 3
GOAL = 1024
"""Maximum bytes of a tick of one plot."""


def measure(columns: int, rows: int) -> tuple[list[int], int]:
    """Return the bytes of each tick, and of some idle seconds."""
    command = [sys.executable, str(ROOT / "benchmarks" / "plot_sample.py")]
    with pty_terminal(command, columns=columns, rows=rows) as terminal:
        terminal.wait_for("Credits left")
        terminal.settle(1.0)
        ticks = [settled(terminal, "u") for _ in range(TICKS)]
        idle = len(terminal.pump(IDLE_SECONDS))
        terminal.send("q")
        terminal.wait_exit()
    return ticks, idle


def settled(terminal: PtyTerminal, keys: str) -> int:
    """Return the bytes sent until the terminal is quiet again."""
    before = len(terminal.raw)
    terminal.send(keys)
    terminal.settle(0.4)
    return len(terminal.raw) - before


def main() -> None:
    """Measure every size and print the bytes per tick."""
    print(f"{'size':>10}{'median':>10}{'mean':>10}{'most':>10}{'idle':>8}")
    worst = 0.0
    for columns, rows in SIZES:
        ticks, idle = measure(columns, rows)
        worst = max(worst, median(ticks))
        size = f"{columns}x{rows}"
        print(f"{size:>10}{median(ticks):>10.0f}{mean(ticks):>10.0f}{max(ticks):>10}{idle:>8}")
    verdict = "met" if worst <= GOAL else "MISSED"
    print(f"\na usual tick (median): {worst:.0f} bytes at most, goal {GOAL}: {verdict}")


if __name__ == "__main__":
    main()
