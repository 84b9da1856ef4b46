"""Bytes that the board sends to the terminal without any input.

    python benchmarks/board_bytes.py [--seconds 90]

``gwtui watch --demo`` on a real pseudo-terminal: live values that change all the time, then an
earlier time, at which only the parts about the present change. A tick is a second in
which something was sent.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from pathlib import Path
from statistics import mean, median

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "tests"))

from run import private_environment  # noqa: E402 - beside this file

from pty_terminal import PtyTerminal, pty_terminal  # noqa: E402 - the path is set above

SIZES = ((80, 24), (120, 40), (200, 60))
PLOTS = {80: 1, 120: 2, 200: 4}
"""Plots in view by the width of the terminal."""
GOAL = 1024
"""Maximum bytes of an ordinary tick of one plot."""


def seconds_of(terminal: PtyTerminal, seconds: int) -> list[int]:
    """Return the bytes of each second."""
    return [len(terminal.pump(1)) for _ in range(seconds)]


def measure(columns: int, rows: int, seconds: int) -> tuple[list[int], list[int]]:
    """Return the bytes of each second, live and at an earlier time."""
    with tempfile.TemporaryDirectory() as folder:
        environment = private_environment(Path(folder))
        command = [sys.executable, "-m", "gwtui", "watch", "--demo"]
        with pty_terminal(command, columns=columns, rows=rows, environment=environment) as terminal:
            terminal.wait_for("Recorded here", 60)
            terminal.wait_for("healthy", 60)
            terminal.pump(20)
            live = seconds_of(terminal, seconds)
            terminal.send(",")
            terminal.wait_for("AS OF")
            terminal.settle(1.0)
            past = seconds_of(terminal, seconds)
            terminal.send("q")
            terminal.wait_exit()
    return live, past


def main() -> None:
    """Measure every size and print the bytes per tick."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=int, default=90)
    seconds = parser.parse_args().seconds
    print(
        f"{'size':>8}{'ticks':>7}{'median':>8}{'mean':>7}{'most':>7}{'live B/s':>9}{'past B/s':>9}"
    )
    worst = 0.0
    for columns, rows in SIZES:
        live, past = measure(columns, rows, seconds)
        ticks = [count for count in live if count]
        worst = max(worst, median(ticks) / PLOTS[columns])
        size = f"{columns}x{rows}"
        print(
            f"{size:>8}{len(ticks):>7}{median(ticks):>8.0f}{mean(ticks):>7.0f}{max(ticks):>7}"
            f"{sum(live) / seconds:>9.0f}{sum(past) / seconds:>9.0f}"
        )
    verdict = "met" if worst <= GOAL else "MISSED"
    print(f"\na usual tick (median) per plot in view: {worst:.0f} bytes, goal {GOAL}: {verdict}")


if __name__ == "__main__":
    main()
