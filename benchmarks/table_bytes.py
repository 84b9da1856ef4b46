"""Bytes and processor time of the virtual table, against Textual's DataTable.

    python benchmarks/table_bytes.py

Both run inside of the dashboard's app, which sends only the cells that differ, on a real
pseudo-terminal of 120x40 with the same rows and colours.
"""

from __future__ import annotations

import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "tests"))

from pty_terminal import PtyTerminal, pty_terminal  # noqa: E402 - the path is set above

COLUMNS, ROWS = 120, 40
IDLE_SECONDS = 5
CHANGES = 60
"""Changed cells, one after the other, whose processor time is measured."""
STEPS = (
    ("one changed cell", "u"),
    ("the rightmost changed cell", "w"),
    ("cursor down", "\x1b[B"),
    ("page down", "\x1b[6~"),
    ("page up", "\x1b[5~"),
    ("last row", "\x1b[1;5F"),
    ("first row", "\x1b[1;5H"),
    ("one line further at the end", "\x1b[B"),
    ("filter on", "f"),
    ("filter off", "f"),
)
CPU = "µs of processor, a changed cell"
GOAL = 150
"""Maximum bytes of one changed cell."""


def measure(name: str) -> dict[str, int]:
    """Return the bytes of each step of one program."""
    command = [sys.executable, str(ROOT / "benchmarks" / "table_sample.py"), name]
    results: dict[str, int] = {}
    with pty_terminal(command, columns=COLUMNS, rows=ROWS) as terminal:
        terminal.wait_for("service-0")
        terminal.settle(1.0)
        for title, key in STEPS:
            if title == "one line further at the end":
                settled(terminal, "\x1b[B" * (ROWS - 2))
            results[title] = settled(terminal, key)
        before = cpu_seconds(terminal.process.pid)
        for _ in range(CHANGES):
            terminal.send("u")
            terminal.pump(0.03)
        took = cpu_seconds(terminal.process.pid) - before
        results[CPU] = round(took / CHANGES * 1e6)
        results[f"idle for {IDLE_SECONDS} s"] = len(terminal.pump(IDLE_SECONDS))
        terminal.send("q")
        terminal.wait_exit()
    return results


def cpu_seconds(pid: int) -> float:
    """Return the processor seconds of all threads of a process."""
    threads = Path(f"/proc/{pid}/task").iterdir()
    return sum(int((thread / "schedstat").read_text().split()[0]) for thread in threads) / 1e9


def settled(terminal: PtyTerminal, keys: str) -> int:
    """Return the bytes sent until the terminal is quiet again."""
    before = len(terminal.raw)
    terminal.send(keys)
    terminal.settle(0.6)
    return len(terminal.raw) - before


def main() -> None:
    """Measure both and print them side by side."""
    theirs, ours = measure("datatable"), measure("ours")
    print(f"{'bytes':36}{'DataTable':>12}{'ours':>10}{'ratio':>8}")
    for title, count in ours.items():
        ratio = f"{count / theirs[title]:.2f}" if theirs[title] else "-"
        print(f"{title:36}{theirs[title]:>12,}{count:>10,}{ratio:>8}")
    cell = max(ours["one changed cell"], ours["the rightmost changed cell"])
    verdict = "met" if cell <= GOAL else "MISSED"
    print(f"\none changed cell: at most {cell} bytes, goal {GOAL}: {verdict}")


if __name__ == "__main__":
    main()
