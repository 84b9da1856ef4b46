"""How long questions to a year of recorded history take, and what a year weighs on the disk.

Fills a file as a year of recording leaves it: raw samples of 48 hours, buckets of five minutes of
30 days and of an hour of a year, for as many series that never rest as asked for, beside many that
hardly move. Prints milliseconds and sizes.

    python benchmarks/history.py [--busy 150] [--quiet 850]
"""

from __future__ import annotations

import argparse
import random
import tempfile
import time
from collections.abc import Callable
from contextlib import closing
from datetime import UTC, datetime, timedelta
from pathlib import Path
from sqlite3 import Connection

from gwtui.domain.clock import SYSTEM_CLOCK
from gwtui.watch.history.compaction import step
from gwtui.watch.history.file import open_writable, transaction
from gwtui.watch.history.lease import Lease
from gwtui.watch.history.model import Observation, Sample, Series, SeriesKey, Subject
from gwtui.watch.history.queries import TOTAL_USAGE, credits_state
from gwtui.watch.history.reader import HistoryReader
from gwtui.watch.history.replay import differences, figures_at
from gwtui.watch.history.writer import HistoryWriter

NOW = datetime(2026, 11, 26, 0, 5, tzinfo=UTC)
END = int(NOW.timestamp()) // (7 * 86400) * 7 * 86400
TIERS = (
    (0, 60, 48 * 3600),
    (300, 300, 30 * 86400),
    (3600, 3600, 365 * 86400),
    (86400, 86400, 365 * 86400),
)
"""Width, seconds between rows, how far back."""
CHANGES = 20_000
ROUNDS = 5


def fill(connection: Connection, busy: int, quiet: int) -> list[SeriesKey]:
    """A year of ``busy`` series that change with every sample, and ``quiet`` ones."""
    chance = random.Random(1)  # noqa: S311 - made-up figures
    keys = [TOTAL_USAGE] + [
        SeriesKey("endpoint", f"lab/model-{number % 20} e{number}", "latency_p50")
        for number in range(1, busy)
    ]
    keys += [SeriesKey("key", f"key-{number}", "limit_remaining") for number in range(quiet)]
    with transaction(connection):
        for number, key in enumerate(keys, 1):
            connection.execute("INSERT INTO series VALUES (?, ?, ?, ?, 'ms', 60)", (number, *key))
            connection.executemany(
                "INSERT INTO stretches VALUES (?, ?, ?, ?, ?, 0, ?, ?, ?, ?)",
                busy_rows(number, chance) if number <= busy else quiet_rows(number),
            )
        for width, _, back in TIERS:
            connection.execute(
                "INSERT INTO tiers VALUES (?, ?, ?)", (width, END - back, END if width else 0)
            )
        connection.executemany(
            "INSERT INTO changes (at, kind, resource, identity, name, field, before, after) "
            "VALUES (?, 'endpoint.price', 'endpoint', ?, 'x', 'price_prompt', '\"1\"', '\"2\"')",
            [(END - number * 1500, f"lab/model e{number % 50}") for number in range(CHANGES)],
        )
        connection.executemany(
            "INSERT INTO versions (resource, identity, since, until, fields) "
            "VALUES (?, ?, ?, ?, ?)",
            [
                ("key", f"key-{number % 1000}", END - 40_000_000 + number, until, '{"name":"k"}')
                for number in range(6_000)
                for until in [None if number >= 5_000 else END - 9_000_000]
            ],
        )
    return keys


def busy_rows(number: int, chance: random.Random) -> list[tuple[object, ...]]:
    """Every row differs."""
    rows: list[tuple[object, ...]] = []
    for width, apart, back in TIERS:
        total = 0.0
        for at in range(END - back, END, apart):
            total += chance.random()
            low = f"{total:.3f}" if number == 1 else str(chance.randint(200, 900))
            bucket = (f"{total * 5:.3f}", low, f"{total + 1:.3f}", low)
            rows.append(
                (width, number, at, at + apart - 60, 5, *bucket)
                if width
                else (0, number, at, at, 1, None, low, None, None)
            )
    return rows


def quiet_rows(number: int) -> list[tuple[object, ...]]:
    """One value throughout: a row for each stretch that may be one."""
    return [
        (width, number, at, at + whole - 60, whole // 60, None, "50", None, None)
        for (width, _, back), whole in zip(TIERS, (300, 3600, 86400, 7 * 86400), strict=True)
        for at in range(END - back, END, whole)
    ]


def fastest(work: Callable[[], object]) -> float:
    """Milliseconds, the best of some rounds."""
    times = []
    for _ in range(ROUNDS):
        begun = time.perf_counter()
        work()
        times.append(time.perf_counter() - begun)
    return min(times) * 1000


def questions(connection: Connection, keys: list[SeriesKey]) -> dict[str, Callable[[], object]]:
    """What screens and alerts ask."""
    reader = HistoryReader(connection)
    day, latency = timedelta(days=1), keys[1]
    return {
        "curve of a year": lambda: reader.points(latency, NOW - 365 * day, NOW),
        "curve of a year, by the hour": lambda: reader.points(
            latency, NOW - 365 * day, NOW, resolution=3600
        ),
        "curve of 30 days": lambda: reader.points(latency, NOW - 30 * day, NOW),
        "curve of 24 hours": lambda: reader.points(latency, NOW - day, NOW),
        "figure 200 days ago": lambda: reader.value_at(latency, NOW - 200 * day),
        "changes of a year, newest 1000": lambda: reader.changes(NOW - 365 * day, NOW),
        "changes of one subject in a year": lambda: reader.changes(
            NOW - 365 * day, NOW, subject=Subject("endpoint", "lab/model e7")
        ),
        "credits: burn and runway": lambda: credits_state(reader, NOW),
        "endpoints as of 100 days ago": lambda: figures_at(reader, NOW - 100 * day, {"endpoint"}),
        "what differs from a month ago": lambda: differences(reader, NOW - 30 * day, NOW),
    }


def writing(connection: Connection, keys: list[SeriesKey]) -> tuple[float, float]:
    """Milliseconds for one reading of every series, and for the longest step of upkeep after it."""
    lease = Lease(SYSTEM_CLOCK)
    lease.hold(connection)
    writer = HistoryWriter(connection, lease.id)
    samples = tuple(Sample(Series(key), None) for key in keys)
    seen = [Observation("all", NOW + timedelta(minutes=minute), 60, samples) for minute in range(7)]
    observing = []
    for each in seen:
        begun = time.perf_counter()
        writer.observe(each)
        observing.append(time.perf_counter() - begun)
    longest, more = 0.0, True
    while more:
        begun = time.perf_counter()
        more = step(writer, NOW + timedelta(minutes=10))
        longest = max(longest, time.perf_counter() - begun)
    return min(observing) * 1000, longest * 1000


def main() -> None:
    """Fill, ask, print."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--busy", type=int, default=150)
    parser.add_argument("--quiet", type=int, default=850)
    chosen = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "h" / "history.sqlite3"
        with closing(open_writable(path, NOW).connection) as connection:
            keys = fill(connection, chosen.busy, chosen.quiet)
            connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
            (rows,) = connection.execute("SELECT count(*) FROM stretches").fetchone()
            print(f"{len(keys)} series, {rows:,} rows, {path.stat().st_size / 1e6:.0f} MB")
            for name, work in questions(connection, keys).items():
                print(f"{fastest(work):8.1f} ms  {name}")
            observing, longest = writing(connection, keys)
            print(f"{observing:8.1f} ms  writing a sample of every series")
            print(f"{longest:8.1f} ms  the longest step of upkeep")


if __name__ == "__main__":
    main()
