"""How long questions to a year of recorded history take, and what a year weighs on the disk.

Fills a file as a year of recording leaves it: readings of 48 hours and hours of a year, for as many
series that never rest as asked for, beside many that hardly move. Prints milliseconds and sizes.

    python benchmarks/history.py [--busy 150] [--quiet 850]
"""

from __future__ import annotations

import argparse
import random
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import closing
from datetime import UTC, datetime, timedelta
from pathlib import Path
from sqlite3 import Connection

from gwtui.watch.board import recorded
from gwtui.watch.history.file import open_writable, transaction
from gwtui.watch.history.model import Observation, SeriesKey, Subject
from gwtui.watch.history.reader import TOTAL_USAGE, HistoryReader, credits_state
from gwtui.watch.history.writer import DAY, HOUR, HOURS_KEPT, RUNS_KEPT, observe, tidy

NOW = datetime(2026, 11, 26, 0, 6, tzinfo=UTC)
END = int(NOW.timestamp()) // HOUR * HOUR
CHANGES = 20_000
MODELS = tuple(f"lab/model-{number}" for number in range(20))
ROUNDS = 5


def fill(db: Connection, busy: int, quiet: int) -> list[SeriesKey]:
    """Record a year of ``busy`` series that change with every reading, and ``quiet`` ones."""
    chance = random.Random(1)  # noqa: S311 - made-up figures
    keys = [TOTAL_USAGE] + [
        SeriesKey("endpoint", f"{MODELS[number % 20]} e{number}", "latency_p50")
        for number in range(1, busy)
    ]
    keys += [SeriesKey("key", f"key-{number}", "limit_remaining") for number in range(quiet)]
    for number, key in enumerate(keys, 1):
        db.execute("INSERT INTO series VALUES (?, ?, ?, ?, 60)", (number, *key))
        db.executemany("INSERT INTO hours VALUES (?, ?, ?, ?, ?, ?, ?)", hours(number, chance))
        apart = 60 if number <= busy else HOUR
        db.executemany(
            "INSERT INTO runs VALUES (?, ?, ?, ?)",
            (
                (number, at, at + apart - 60, str(chance.randint(200, 900)))
                for at in range(END - RUNS_KEPT, END, apart)
            ),
        )
    db.execute("INSERT INTO settings VALUES ('rolled', ?)", (str(END - HOUR),))
    db.executemany(
        "INSERT INTO changes (at, kind, resource, identity, name, field, before, after) "
        "VALUES (?, 'endpoint.price', 'endpoint', ?, 'x', 'price_prompt', '\"1\"', '\"2\"')",
        [(END - number * 1500, f"lab/model e{number % 50}") for number in range(CHANGES)],
    )
    db.executemany(
        "INSERT INTO facts (resource, identity, since, fields) VALUES ('key', ?, ?, '{}')",
        [(f"key-{number}", END - HOURS_KEPT + number) for number in range(5_000)],
    )
    return keys


def hours(number: int, chance: random.Random) -> Iterator[tuple[object, ...]]:
    for hour in range(END - HOURS_KEPT, END - HOUR, HOUR):
        low = chance.randint(200, 900)
        yield (number, hour, hour + HOUR - 60, str(low), str(low + 9), low + 4.5, str(low + 3))


def fastest(work: Callable[[], object]) -> float:
    """Return the milliseconds of the fastest of some rounds."""
    times = []
    for _ in range(ROUNDS):
        begun = time.perf_counter()
        work()
        times.append(time.perf_counter() - begun)
    return min(times) * 1000


def questions(db: Connection, latency: SeriesKey) -> dict[str, Callable[[], object]]:
    """The queries of screens and alerts."""
    reader, day = HistoryReader(db), timedelta(seconds=DAY)
    return {
        "curve of a year": lambda: reader.points(latency, NOW - 365 * day, NOW),
        "curve of 30 days": lambda: reader.points(latency, NOW - 30 * day, NOW),
        "curve of 24 hours": lambda: reader.points(latency, NOW - day, NOW),
        "figure 200 days ago": lambda: reader.value_at(latency, NOW - 200 * day),
        "changes of a year, newest 1000": lambda: reader.changes(NOW - 365 * day, NOW),
        "credits: burn and runway": lambda: credits_state(reader, NOW),
        "endpoints as of 100 days ago": lambda: recorded(reader, NOW - 100 * day, MODELS),
    }


def writing(db: Connection, keys: list[SeriesKey]) -> dict[str, Callable[[], object]]:
    """Record one reading of every series, and roll up an hour."""
    minute = iter(range(1, ROUNDS + 1))
    hour = iter(range(1, ROUNDS + 1))
    values = {Subject(key.resource, key.identity): {key.figure: None} for key in keys}

    def write() -> None:
        at = NOW + timedelta(minutes=next(minute))
        with transaction(db):
            observe(db, Observation("all", at, 60, values))

    def sum_up() -> None:
        with transaction(db):
            tidy(db, NOW + timedelta(hours=next(hour)))

    return {"writing a reading of every series": write, "summing up an hour": sum_up}


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--busy", type=int, default=150)
    parser.add_argument("--quiet", type=int, default=850)
    chosen = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "h" / "history.sqlite3"
        with closing(open_writable(path, NOW, locked=True).connection) as db:
            with transaction(db):
                keys = fill(db, chosen.busy, chosen.quiet)
            db.execute("PRAGMA wal_checkpoint(TRUNCATE)")
            print(f"{len(keys)} series, {path.stat().st_size / 1e6:.0f} MB")
            for name, work in (questions(db, keys[1]) | writing(db, keys)).items():
                print(f"{fastest(work):8.1f} ms  {name}")


if __name__ == "__main__":
    main()
