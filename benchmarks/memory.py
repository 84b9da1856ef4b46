"""Resident memory of the dashboard while it is used: every screen once, then seeded keys.

    python benchmarks/memory.py [--presses 7200] [--every 0.5] [--keys 986] [--seed 1]

7,200 presses half a second apart are an hour of use. Prints a line of figures every 600 presses:
minutes since the first rows, presses, resident MiB beside the goal. Ends with status 1 when a goal
is missed. The gateway runs in a process of its own.
"""

from __future__ import annotations

import argparse
import compileall
import os
import random
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "tests"))

from large_account import key_name, make  # noqa: E402 - the path is set above
from pty_terminal import PtyTerminal, pty_terminal  # noqa: E402

GWTUI = [sys.executable, "-m", "gwtui"]
EVERY = 600
GOAL = 110.0
"""Maximum MiB at any time."""
SETTLED = 7.0
"""Minutes after which every screen has been loaded, by the tour that comes first."""
GROWTH = 5.0
"""Maximum growth in MiB since ``SETTLED``."""
MOVES = ["j", "k", "\x1b[B", "\x1b[A", "\x1b[6~", "\x1b[5~", "G", "g"]
SCREENS = [*"1234567890", "!", "\r", "d", "v", "?", "s", "w", "m", "o", "n", "e", "a", "u", "\x10"]
TABS = 11
"""Number of tabs."""
FORMS = ["T", "p", "C", "M", "R", "H"]
"""What opens the forms and lists behind a tab: else they are loaded when the palette happens on
them, and look like growth."""
PATHS = [
    *("keys", "providers", "zdr", "organization", "models/northwind/atlas-large", "generation"),
    *("alerts", "alert-rules", "members", "assignments"),
]


def resident_mib(pid: int) -> float:
    """Resident memory of a process, in MiB."""
    pages = int(Path(f"/proc/{pid}/statm").read_text("ascii").split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") / 2**20


def tour() -> Iterator[str]:
    """Open every screen once, and everything that its keys open, so that all modules are loaded."""
    for tab in SCREENS[:TABS]:
        yield tab
        for key in (*SCREENS[TABS:], *FORMS):
            yield from [key, "\x1b"]
    for path in PATHS:
        yield from ["\x1b", "\x1b", ":", *path, "\r"]
        for key in ("\r", "n", "o", *FORMS):
            yield from [key, "\x1b"]


def presses(chance: random.Random) -> Iterator[str]:
    """Yield keys without end: mostly cursor movements and screens, a few filters and paths."""
    yield from tour()
    while True:
        kind = chance.random()
        if kind < 0.4:
            yield chance.choice(MOVES)
        elif kind < 0.75:
            yield chance.choice(SCREENS)
        elif kind < 0.93:
            yield "\x1b"
        elif kind < 0.96:
            yield from ["/", *chance.choice(("prod", "state:disabled", "a")), "\r", "\x1b"]
        else:
            yield from ["\x1b", "\x1b", ":", *chance.choice(PATHS), "\r"]


def use(terminal: PtyTerminal, count: int, every: float, seed: int) -> list[tuple[float, float]]:
    """Press keys and print the memory; return minutes and MiB of each measurement."""
    figures: list[tuple[float, float]] = []
    begun = time.monotonic()
    keys = presses(random.Random(seed))  # noqa: S311 - seeded, to be repeated
    for number in range(1, count + 1):
        terminal.send(next(keys))
        terminal.pump(every)
        terminal.raw.clear()
        if terminal.process.poll() is not None:
            raise SystemExit(f"ended after {number} presses:\n{terminal.text}")
        if number % EVERY == 0 or number in (60, 120, 300):
            minutes = (time.monotonic() - begun) / 60
            resident = resident_mib(terminal.process.pid)
            figures.append((minutes, resident))
            print(
                f"{minutes:6.1f} min {number:6} presses {resident:7.1f} MiB (goal {GOAL:.0f})",
                flush=True,
            )
    return figures


def missed(figures: list[tuple[float, float]]) -> list[str]:
    """Return the goals that the measurements miss, in words."""
    results = []
    most = max(resident for _, resident in figures)
    if most > GOAL:
        results.append(f"{most:.1f} MiB, the goal is {GOAL:.0f}")
    settled = [resident for minutes, resident in figures if minutes >= SETTLED]
    if settled and settled[-1] - settled[0] > GROWTH:
        grown = settled[-1] - settled[0]
        results.append(
            f"{grown:.1f} MiB more than after the first minutes, the goal is {GROWTH:.0f}"
        )
    return results


def main() -> None:
    """Make an account, serve it, and use the dashboard on it."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--presses", type=int, default=7200)
    parser.add_argument("--every", type=float, default=0.5)
    parser.add_argument("--keys", type=int, default=986)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    # Compiling a module costs memory that stays: measure what an installed program has.
    compileall.compile_dir(ROOT / "gwtui", quiet=2)
    with tempfile.TemporaryDirectory() as folder:
        database = Path(folder, "account.sqlite3")
        make(database, options.keys)
        issue = [*GWTUI, "gateway", "issue-key", "--management", "--database", str(database)]
        key = subprocess.run(issue, capture_output=True, text=True, check=True).stdout.strip()
        serve = [*GWTUI, "gateway", "serve", "--port", "0", "--database", str(database)]
        with subprocess.Popen(serve, stdout=subprocess.PIPE, text=True) as process:
            address = process.stdout.readline().strip() if process.stdout else ""
            environment = {
                **os.environ,
                "HOME": folder,
                "XDG_RUNTIME_DIR": folder,
                "TERM": "xterm-256color",
                "GWTUI_BASE_URL": address,
                "GWTUI_TOKEN": key,
            }
            command = [*GWTUI, "--read-only", "keys"]
            with pty_terminal(
                command, columns=120, rows=40, environment=environment, fresh_process=True
            ) as terminal:
                terminal.wait_for(key_name(0), 60)
                figures = use(terminal, options.presses, options.every, options.seed)
            process.terminate()
    if result := missed(figures):
        raise SystemExit("\n".join(f"missed: {item}" for item in result))


if __name__ == "__main__":
    main()
