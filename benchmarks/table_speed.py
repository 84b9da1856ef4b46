"""How long the virtual table takes with 20,000 rows, against Textual's DataTable.

    python benchmarks/table_speed.py [--rows 20000] [--runs 5]

Headless, 120x40, medians. Each figure is from the call until the screen is painted: for the filter
that is what a key press costs.
"""

from __future__ import annotations

import argparse
import asyncio
import statistics
import time
from collections.abc import Awaitable, Callable
from dataclasses import replace
from typing import Any

from table_sample import COLUMNS, ROWS, DataTableApp, OursApp, Sample, samples
from textual.pilot import Pilot

GOAL = 0.150
"""Maximum seconds of one key press in the filter."""
_WARM_UP = 3.0

Step = tuple[str, Callable[[], Any]]


async def measure(app: OursApp | DataTableApp, steps: Callable[[], list[Step]]) -> dict[str, float]:
    """Return the seconds of each step of one application."""
    results: dict[str, float] = {}
    async with app.run_test(size=(COLUMNS, ROWS)) as pilot:
        await pilot.pause()
        for title, change in steps():
            if title == "filter, 1st key":
                await pilot.pause(_WARM_UP)
            started = time.perf_counter()
            change()
            await painted(pilot)
            results[title] = time.perf_counter() - started
    return results


async def painted(pilot: Pilot[int]) -> None:
    """Wait until the screen has painted exactly the changes."""
    done = asyncio.Event()
    pilot.app.screen.call_after_refresh(done.set)
    waiting: Awaitable[bool] = done.wait()
    await waiting


def our_steps(app: OursApp, rows: list[Sample]) -> list[Step]:
    """The steps of the virtual table."""
    table = app.table
    poll = [replace(row) for row in rows]
    poll[3] = replace(poll[3], used=poll[3].used + 1)
    return [
        ("show", lambda: table.show(rows)),
        ("show again, one row differs", lambda: table.show(poll)),
        ("sort by text", lambda: table.sort_by("name")),
        ("sort by figure", lambda: table.sort_by("used", True)),
        ("filter, 1st key", lambda: table.filter_by("1")),
        ("filter, 2nd key", lambda: table.filter_by("12")),
        ("filter, 3rd key", lambda: table.filter_by("123")),
        ("filter by a column", lambda: table.filter_by("used>5000 -expired")),
        ("filter off", lambda: table.filter_by("")),
        ("page down", lambda: table.leap(1)),
        ("last row", table.to_last),
    ]


def their_steps(app: DataTableApp, rows: list[Sample]) -> list[Step]:
    """The steps of DataTable, which can only filter by being filled again."""
    table = app.table

    def fill(part: str) -> Callable[[], None]:
        return lambda: app.fill([row for row in rows if part in row.name])

    return [
        ("show", lambda: app.fill(rows)),
        ("show again, one row differs", app.key_u),
        ("sort by text", lambda: table.sort("name", key=lambda cell: cell.plain)),
        ("sort by figure", lambda: table.sort("used", key=lambda cell: cell.plain, reverse=True)),
        ("filter, 1st key", fill("1")),
        ("filter, 2nd key", fill("12")),
        ("filter, 3rd key", fill("123")),
        ("filter off", fill("")),
        ("page down", table.action_page_down),
        ("last row", table.action_scroll_bottom),
    ]


async def run(count: int) -> tuple[dict[str, float], dict[str, float]]:
    rows = samples(count)
    ours, theirs = OursApp(0), DataTableApp(0)
    ours.rows, theirs.rows = [], []
    mine = await measure(ours, lambda: our_steps(ours, rows))
    theirs.rows = list(rows)
    other = await measure(theirs, lambda: their_steps(theirs, rows))
    return other, mine


def main() -> None:
    """Measure both and print medians and ratios."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=20_000)
    parser.add_argument("--runs", type=int, default=5)
    options = parser.parse_args()
    results = [asyncio.run(run(options.rows)) for _ in range(options.runs)]
    print(f"{f'{options.rows:,} rows; ms':30}{'DataTable':>12}{'ours':>10}{'ratio':>8}")
    worst = 0.0
    for title in results[0][1]:
        ours = statistics.median(mine[title] for _, mine in results)
        line = f"{ours * 1000:>10.1f}"
        if title.startswith("filter"):
            worst = max(worst, ours)
        if title in results[0][0]:
            theirs = statistics.median(other[title] for other, _ in results)
            print(f"{title:30}{theirs * 1000:>12.1f}{line}{ours / theirs:>8.2f}")
        else:
            print(f"{title:30}{'-':>12}{line}{'-':>8}")
    verdict = "met" if worst <= GOAL else "MISSED"
    print(f"\nslowest filter key: {worst * 1000:.1f} ms, goal {GOAL * 1000:.0f} ms: {verdict}")


if __name__ == "__main__":
    main()
