"""Upkeep over simulated time: nothing is lost or counted twice, and what is old goes.

``GWTUI_HISTORY_DAYS`` is how many days the long simulation runs (default 40, a year takes about a
minute), ``GWTUI_SOAK_TICKS`` how many readings the soak takes (default 1,000; the full proof is
20,000).
"""

from __future__ import annotations

import gc
import os
import random
import sqlite3
import tracemalloc
from collections.abc import Callable, Iterator
from datetime import datetime, timedelta
from decimal import Decimal
from pathlib import Path

import pytest

from gwtui.watch.history import compaction
from gwtui.watch.history.compaction import step
from gwtui.watch.history.model import Retention, SeriesKey, Subject
from history_kit import START, USED, Desk, desk, minutes

DAYS = int(os.environ.get("GWTUI_HISTORY_DAYS", "40"))
TICKS = int(os.environ.get("GWTUI_SOAK_TICKS", "1000"))

LATENCY = SeriesKey("endpoint", "lab/model lab", "latency_p50")
UPTIME = SeriesKey("endpoint", "lab/model lab", "uptime_last_5m")
LIMIT = SeriesKey("key", "h", "limit")
HOUR, DAY = timedelta(hours=1), timedelta(days=1)
ROW_BYTES = 60
"""What a bucket whose figures differ takes in the file at most, its share of the tree included."""

Reading = dict[SeriesKey, Decimal | int | str | None]


class World:
    """Made-up figures, the same in every run; remembers all of them."""

    def __init__(self) -> None:
        self.random = random.Random(5)
        self.used = Decimal(0)
        self.told: list[tuple[datetime, Reading]] = []

    def at(self, moment: datetime) -> Reading:
        self.used += Decimal(self.random.randint(0, 400)) / 10_000
        quiet = moment.hour < 4
        found: Reading = {
            USED: self.used,
            LATENCY: None if quiet else self.random.randint(180, 900),
            UPTIME: None if quiet else Decimal(self.random.randint(9000, 10000)) / 100,
            LIMIT: 50,
        }
        self.told.append((moment, found))
        return found

    def values(self, key: SeriesKey, since: datetime, until: datetime) -> list[Decimal | None]:
        found = [reading[key] for at, reading in self.told if since <= at < until]
        return [None if value is None else Decimal(value) for value in found]


@pytest.fixture
def history(tmp_path: Path) -> Iterator[Desk]:
    with desk(tmp_path / "h" / "one.sqlite3") as opened:
        yield opened


def run(
    history: Desk, world: World, until: datetime, every: timedelta, each: timedelta = HOUR
) -> None:
    """Read, and keep up every now and then."""
    moment, kept = START, START
    while moment < until:
        history.see(moment, world.at(moment), every=int(every.total_seconds()))
        moment += every
        if moment - kept >= each:
            history.keep_up(moment)
            kept = moment
    history.keep_up(until + minutes(2))


def check_exact(history: Desk, world: World, since: datetime, until: datetime, width: int) -> None:
    """Every slot of every curve says what the samples in it say."""
    for key in (USED, LATENCY, UPTIME, LIMIT):
        curve = history.reader.points(key, since, until, resolution=width)
        assert curve is not None
        assert curve.width == timedelta(seconds=width)
        for point in curve.points:
            samples = world.values(key, point.at, point.at + curve.width)
            figures = [value for value in samples if value is not None]
            assert (point.samples, point.nulls) == (len(figures), len(samples) - len(figures))
            if figures:
                assert (point.low, point.high) == (min(figures), max(figures))
                assert point.mean is not None
                assert abs(point.mean - sum(figures) / len(figures)) < Decimal("1e-20")
                assert point.last == samples[-1]


def test_a_week_is_exact_in_every_tier(history: Desk) -> None:
    world, end = World(), START + 7 * DAY
    run(history, world, end, minutes(10))
    for width in (300, 3600, 86400):
        assert history.sums(width) == (
            sum(value is not None for _, told in world.told for value in told.values()),
            sum(value is None for _, told in world.told for value in told.values()),
        )
    check_exact(history, world, START, end, 3600)
    check_exact(history, world, START, end, 14_400)
    check_exact(history, world, START + 5 * HOUR, end, 86_400)
    check_exact(history, world, end - 30 * HOUR, end, 600)


def test_where_only_coarse_data_is_left_its_slots_repeat_it(history: Desk) -> None:
    world = World()
    run(history, world, START + 4 * DAY, minutes(2), 3 * HOUR)
    curve = history.reader.points(LATENCY, START + 5 * HOUR, START + 6 * HOUR, resolution=60)
    assert curve is not None
    assert len(curve.points) == 60
    for left in range(0, 60, 5):
        slots = curve.points[left : left + 5]
        samples = world.values(LATENCY, slots[0].at, slots[0].at + minutes(5))
        assert {(slot.low, slot.high) for slot in slots} == {(min(samples), max(samples))}  # type: ignore[type-var]
        assert sum(slot.samples for slot in slots) == len(samples)


def test_what_never_changes_takes_a_row_an_hour_then_a_row_a_day(history: Desk) -> None:
    for minute in range(0, 3 * 24 * 60, 5):
        history.see(START + minutes(minute), {LIMIT: 50}, every=300)
    history.keep_up(START + 3 * DAY + HOUR)
    assert history.rows(300) == 72
    assert history.rows(3600) == 3
    for width, samples in ((300, 1), (600, 2), (3600, 12), (86400, 288)):
        curve = history.reader.points(LIMIT, START, START + 3 * DAY, resolution=width)
        assert curve is not None
        assert {(point.state, point.samples) for point in curve.points} == {("value", samples)}


def test_a_long_time_keeps_what_it_should_and_no_more(tmp_path: Path) -> None:
    """Also a year: retention by tier, and growth at the rate that is stated."""
    path = tmp_path / "h" / "long.sqlite3"
    retention = Retention()
    with desk(path, retention) as history:
        world, end = World(), START + DAYS * DAY
        every = minutes(15)
        run(history, world, end, every, 6 * HOUR)
        kept = {
            width: history.reader.points(USED, START, end, resolution=width)
            for width in (900, 86400)
        }
        assert all(curve is not None for curve in kept.values())
        (oldest_raw,) = history.connection.execute(
            "SELECT min(start) FROM stretches WHERE width = 0"
        ).fetchone()
        age = end.timestamp() - oldest_raw
        assert retention.raw.total_seconds() <= age <= retention.raw.total_seconds() + 7200
        if DAYS > 31:
            (oldest,) = history.connection.execute(
                "SELECT min(start) FROM stretches WHERE width = 300"
            ).fetchone()
            assert 30 <= (end.timestamp() - oldest) / 86400 <= 31.1
        counted = sum(point.samples for point in kept[86400].points)  # type: ignore[union-attr]
        days_kept = min(DAYS, 366)
        assert counted >= (days_kept - 1) * DAY / every
        check_exact(history, world, max(START, end - 300 * DAY), end, 86400)
        rows = sum(history.rows(width) for width in (0, 300, 3600, 86400))
        history.connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        assert path.stat().st_size <= rows * ROW_BYTES + 300_000
        # Per changing series: 96 buckets a day for 30 days, 24 an hour tier's for a year.
        assert rows <= 3 * (48 * 4 + 31 * 96 + min(DAYS, 372) * 25) * 1.2 + 2_000


def test_the_file_shrinks_when_much_of_it_goes(tmp_path: Path) -> None:
    path = tmp_path / "h" / "one.sqlite3"
    with desk(path) as history:
        keys = [SeriesKey("key", f"k{number}", "usage") for number in range(1000)]
        for minute in range(40):
            history.see(START + minutes(minute), dict.fromkeys(keys, minute))
        history.connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        before = path.stat().st_size
        history.keep_up(START + 400 * DAY)
        history.connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        assert history.reader.series() == ()
        assert path.stat().st_size < before / 2


def test_old_facts_go_and_present_ones_stay(history: Desk) -> None:
    key, gone = Subject("key", "a"), Subject("key", "b")
    history.see(START, facts={key: {"name": "a"}, gone: {"name": "b"}}, covers=Subject("key", ""))
    history.see(START + HOUR, facts={key: {"name": "a"}}, covers=Subject("key", ""))
    later = START + 400 * DAY
    history.see(later, facts={key: {"name": "a2"}}, covers=Subject("key", ""))
    history.keep_up(later)
    assert [change.field for change in history.reader.changes(START, later)] == ["name"]
    assert history.reader.facts_at(later) == {key: {"name": "a2"}}
    assert history.reader.facts_at(START) == {key: {"name": "a"}}
    (count,) = history.connection.execute("SELECT count(*) FROM versions").fetchone()
    assert count == 2


def test_upkeep_that_is_cut_off_anywhere_loses_and_doubles_nothing(tmp_path: Path) -> None:
    """Wherever it ends, what is there after the next round is the same."""

    def worked(path: Path, dies_at: int | None) -> list[object]:
        with desk(path, Retention(raw=2 * HOUR, five_minutes=5 * HOUR)) as history:
            world = World()
            for minute in range(0, 9 * 60, 4):
                history.see(START + minutes(minute), world.at(START + minutes(minute)), every=240)
            if dies_at is not None:
                history.connection.set_progress_handler(_cut_at(dies_at), 1)
                with pytest.raises(sqlite3.OperationalError, match="interrupted"):
                    history.keep_up(START + 10 * HOUR)
                history.connection.set_progress_handler(None, 0)
            history.keep_up(START + 10 * HOUR)
            return history.connection.execute(
                "SELECT * FROM stretches ORDER BY width, series, start"
            ).fetchall()

    whole = worked(tmp_path / "whole" / "h.sqlite3", None)
    for place in (50, 500, 3_000, 9_000, 15_000, 20_000):
        assert worked(tmp_path / str(place) / "h.sqlite3", place) == whole


def _cut_at(place: int) -> Callable[[], int]:
    """Interrupt SQLite once, after so many of its own instructions."""
    left = place

    def handler() -> int:
        nonlocal left
        left -= 1
        return 1 if left == 0 else 0

    return handler


def test_upkeep_works_in_bounded_steps(history: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(compaction, "ROWS_AT_A_TIME", 50)
    world = World()
    for minute in range(0, 12 * 60, 2):
        history.see(START + minutes(minute), world.at(START + minutes(minute)), every=120)
    changes = history.connection.total_changes
    most, steps = 0, 0
    while step(history.writer, START + 4 * DAY):
        most = max(most, history.connection.total_changes - changes)
        changes = history.connection.total_changes
        steps += 1
    assert steps > 20
    assert most < 300
    assert history.rows(0) == 0
    assert history.sums(300)[0] + history.sums(300)[1] == 4 * 360


def test_a_long_pause_of_the_program_costs_no_steps(history: Desk) -> None:
    history.see(START, {USED: 1})
    history.keep_up(START + HOUR)
    history.see(START + 200 * DAY, {USED: 2})
    assert history.keep_up(START + 200 * DAY + 2 * HOUR) < 20


def test_a_soak_keeps_memory_flat_and_the_file_at_its_rate(tmp_path: Path) -> None:
    path = tmp_path / "h" / "soak.sqlite3"
    keys = [SeriesKey("endpoint", f"lab/m e{number}", "latency_p50") for number in range(10)]
    source = random.Random(3)
    with desk(path) as history:

        def tick(number: int) -> None:
            at = START + minutes(number)
            history.see(at, {key: source.randint(100, 999) for key in keys})
            if number % 30 == 0:
                history.keep_up(at)

        for number in range(TICKS // 2):
            tick(number)
        gc.collect()
        tracemalloc.start()
        before = tracemalloc.get_traced_memory()[0]
        for number in range(TICKS // 2, TICKS):
            tick(number)
        gc.collect()
        grown = tracemalloc.get_traced_memory()[0] - before
        tracemalloc.stop()
        assert grown < 200_000
        history.connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        raw = min(TICKS, 50 * 60)
        rows = len(keys) * (raw + TICKS / 5 + TICKS / 60)
        print(f"{TICKS} ticks: {grown} bytes more memory, a file of {path.stat().st_size} bytes")
        assert path.stat().st_size < rows * ROW_BYTES + 200_000
