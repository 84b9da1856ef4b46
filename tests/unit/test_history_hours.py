"""Roll-up into hours over years, metrics at a time, and the past credits."""

from __future__ import annotations

import random
from collections.abc import Callable
from datetime import datetime, timedelta
from decimal import Decimal
from pathlib import Path
from sqlite3 import OperationalError

import pytest

from gwtui.domain.runway import WINDOWS
from gwtui.watch.history.model import ACCOUNT, Point, SeriesKey, Subject
from gwtui.watch.history.reader import BALANCE, TOTAL_USAGE, credits_state
from history_kit import START, USED, HistoryFile, minutes, open_history
from thoroughness import FULL

HOUR, DAY = timedelta(hours=1), timedelta(days=1)
LATENCY = SeriesKey("endpoint", "lab/m e", "latency_p50")
UPTIME = SeriesKey("endpoint", "lab/m e", "uptime_last_5m")
LIMIT = SeriesKey("key", "k", "limit")


class World:
    """Metrics that grow, jump, come and go, and stay."""

    def __init__(self) -> None:
        self._random = random.Random(7)
        self._used = Decimal(0)
        self.readings: list[tuple[datetime, dict[SeriesKey, Decimal | None]]] = []

    def read(self, moment: datetime) -> dict[SeriesKey, Decimal | None]:
        self._used += Decimal(self._random.randint(0, 900)) / 1000
        uptime = self._random.choice([None, None, 0, 50, 100])
        results = {
            USED: self._used,
            LATENCY: Decimal(self._random.randint(100, 999)),
            UPTIME: None if uptime is None else Decimal(uptime),
            LIMIT: Decimal(50),
        }
        self.readings.append((moment, results))
        return results

    def values(self, key: SeriesKey, since: datetime, width: timedelta) -> list[Decimal | None]:
        return [item[key] for moment, item in self.readings if since <= moment < since + width]


def live(history: HistoryFile, world: World, days: int) -> datetime:
    """Read every ten minutes for some days, and tidy as the recorder does."""
    end = START + DAY * days
    moment = START
    while moment < end:
        history.see(moment, world.read(moment), every=600)
        history.tidy(moment)
        moment += minutes(10)
    history.tidy(end + minutes(6))
    return end


def points(
    history: HistoryFile, key: SeriesKey, since: datetime, until: datetime, width: int
) -> list[Point]:
    curve = history.reader.points(key, since, until, resolution=width)
    assert curve is not None
    assert curve.width == timedelta(seconds=width)
    return list(curve.points)


def check(history: HistoryFile, world: World, since: datetime, until: datetime, width: int) -> None:
    """Check that every slot summarizes its readings."""
    for key in (USED, LATENCY, UPTIME, LIMIT):
        for point in points(history, key, since, until, width):
            values = world.values(key, point.at, timedelta(seconds=width))
            numbers = [value for value in values if value is not None]
            assert point.state == ("value" if numbers else "null")
            if numbers:
                assert (point.low, point.high) == (min(numbers), max(numbers))
                assert point.last == values[-1]
                assert point.mean is not None
                assert min(numbers) <= point.mean <= max(numbers)


def test_low_high_and_last_are_exact_at_every_width(history: HistoryFile) -> None:
    world = World()
    end = live(history, world, 7 if FULL else 3)
    check(history, world, START, end, 3600)
    check(history, world, START, end, 14_400 + 7200)
    check(history, world, START, end, 86_400)
    check(history, world, end - 30 * HOUR, end, 600)


def test_the_mean_of_an_hour_weighs_each_reading_alike(history: HistoryFile) -> None:
    world = World()
    live(history, world, 1)
    for point in points(history, LATENCY, START, START + DAY, 3600):
        values = [value or 0 for value in world.values(LATENCY, point.at, HOUR)]
        assert float(point.mean or 0) == pytest.approx(float(sum(values)) / len(values))


def test_finer_slots_repeat_the_hourly_values(history: HistoryFile) -> None:
    world = World()
    live(history, world, 4)
    slots = points(history, LATENCY, START + 5 * HOUR, START + 6 * HOUR, 60)
    assert len(slots) == 60
    values = [value for value in world.values(LATENCY, slots[0].at, HOUR) if value is not None]
    assert {(slot.low, slot.high) for slot in slots[:50]} == {(min(values), max(values))}


def test_readings_are_kept_for_two_days_and_hours_for_a_year(history: HistoryFile) -> None:
    for hour in (*range(0, 24 * 396, 24), *range(24 * 396, 24 * 400)):
        history.see(START + HOUR * hour, {USED: hour}, every=3600)
        history.tidy(START + HOUR * hour + minutes(6))
    oldest = [
        history.connection.execute(f"SELECT min({column}) FROM {table}").fetchone()[0]  # noqa: S608
        for table, column in (("runs", "start"), ("hours", "hour"))
    ]
    end = (START + 400 * DAY).timestamp()
    ages = [timedelta(seconds=end - timestamp) for timestamp in oldest]
    assert timedelta(days=2) <= ages[0] <= timedelta(days=2, hours=2)
    assert timedelta(days=364) <= ages[1] <= timedelta(days=365, hours=2)


def test_constant_series_take_one_row_a_day(history: HistoryFile) -> None:
    for minute in range(0, 24 * 60, 2):
        history.see(START + minutes(minute), {LIMIT: 50}, every=120)
        history.tidy(START + minutes(minute))
    assert history.rows("runs") == 24
    history.tidy(START + DAY + minutes(6))
    assert history.rows("hours") == 1
    for since in (0, 7, 22):
        for width in (300, 3600):
            result = points(history, LIMIT, START + HOUR * since, START + DAY, width)
            assert {(point.state, point.low, point.mean) for point in result} == {("value", 50, 50)}
    for hour in range(3):
        history.tidy(START + 3 * DAY + HOUR * hour)
    assert history.rows("runs") == 0
    assert history.reader.value_at(LIMIT, START + 13 * HOUR).value == 50
    assert {point.state for point in points(history, LIMIT, START, START + DAY, 300)} == {"value"}


def test_old_facts_and_changes_go_and_present_ones_stay(history: HistoryFile) -> None:
    key, deleted = Subject("key", "a"), Subject("key", "b")
    keys = Subject("key", "")
    history.see(START, facts={key: {"name": "a"}, deleted: {"name": "b"}}, covers=keys)
    history.see(START + HOUR, facts={key: {"name": "a"}}, covers=keys)
    later = START + 400 * DAY
    history.see(later, facts={key: {"name": "a2"}}, covers=keys)
    for hour in range(3):
        history.tidy(later + HOUR * hour)
    assert [change.field for change in history.reader.changes(START, later)] == ["name"]
    assert history.reader.facts_at(later) == {key: {"name": "a2"}}
    assert history.reader.facts_at(START) == {key: {"name": "a"}}


def test_a_clock_that_is_ahead_deletes_nothing_at_once(history: HistoryFile) -> None:
    live(history, World(), 1)
    wrong = START + 800 * DAY
    history.see(wrong, {USED: 1})
    history.tidy(wrong)
    assert len(points(history, USED, START, START + DAY, 3600)) == 24
    assert history.reader.value_at(USED, START + minutes(30)).state == "value"


def test_an_empty_series_is_deleted(history: HistoryFile) -> None:
    history.see(START, {USED: 1})
    history.tidy(START + HOUR)
    for hour in (0, 1):
        history.tidy(START + 400 * DAY + HOUR * hour + minutes(6))
    assert history.reader.series() == ()


def test_interrupted_rollup_loses_and_duplicates_nothing(tmp_path: Path) -> None:
    """Wherever it is interrupted, the result after the next round is the same."""

    def worked(path: Path, dies_at: int | None) -> list[object]:
        with open_history(path) as history:
            world = World()
            for minute in range(0, 9 * 60, 4):
                history.see(START + minutes(minute), world.read(START + minutes(minute)), every=240)
            if dies_at is not None:
                history.connection.set_progress_handler(_cut_at(dies_at), 1)
                with pytest.raises(OperationalError, match="interrupted"):
                    history.tidy(START + 10 * HOUR)
                history.connection.set_progress_handler(None, 0)
            history.tidy(START + 10 * HOUR)
            return history.connection.execute("SELECT * FROM hours ORDER BY 1, 2").fetchall()

    uninterrupted = worked(tmp_path / "whole" / "h.sqlite3", None)
    assert len(uninterrupted) == 9 * 3 + 1
    for place in (50, 500, 3_000, 9_000):
        assert worked(tmp_path / str(place) / "h.sqlite3", place) == uninterrupted


def _cut_at(place: int) -> Callable[[], int]:
    """Interrupt SQLite once, after this many of its instructions."""
    remaining = place

    def handler() -> int:
        nonlocal remaining
        remaining -= 1
        return 1 if remaining == 0 else 0

    return handler


# Moments ------------------------------------------------------------------------------------------


ENDPOINT = Subject("endpoint", "lab/model lab")
TOTAL_CREDITS = SeriesKey("credits", ACCOUNT, "total_credits")
LATEST_UPTIME = SeriesKey(*ENDPOINT, "uptime_last_5m")


def test_old_values_are_known_to_the_hour(history: HistoryFile) -> None:
    for minute in range(0, 60 * 24, 10):
        history.see(START + minutes(minute), {LATEST_UPTIME: minute % 97}, every=600)
        history.tidy(START + minutes(minute))
    for hour in range(3):
        history.tidy(START + 3 * DAY + HOUR * hour)
    assert history.rows("runs") == 0
    assert history.reader.value_at(LATEST_UPTIME, START + 5 * HOUR + minutes(20)).value == 350 % 97


def test_the_credit_status_uses_recorded_values(history: HistoryFile) -> None:
    used, bought = Decimal(0), Decimal(1000)
    for minute in range(0, 8 * 24 * 60, 10):
        if minute == 5 * 24 * 60:
            bought += 500
        history.see(
            START + minutes(minute),
            {TOTAL_USAGE: used, TOTAL_CREDITS: bought, BALANCE: bought - used},
            every=600,
        )
        used += Decimal("0.5")
        if minute % 360 == 0:
            history.tidy(START + minutes(minute))
    now = START + 8 * DAY - minutes(10)
    result = credits_state(history.reader, now)
    assert result.balance.value == bought - used + Decimal("0.5")
    assert [rate and rate.window for rate in result.rates] == list(WINDOWS)
    for rate in result.rates:
        assert rate is not None
        assert abs(rate.usd_per_hour - 3) < Decimal("0.01")
