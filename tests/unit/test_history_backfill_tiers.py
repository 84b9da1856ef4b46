"""A long span told afterwards: rows of every tier as readings at the time would have left them."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator
from datetime import timedelta
from decimal import Decimal
from pathlib import Path

import pytest

from gwtui.watch.history.backfill_tiers import Gap, SeriesColumn, open_tiers, write_columns
from gwtui.watch.history.file import transaction
from gwtui.watch.history.model import SeriesKey, kept, seconds_of
from gwtui.watch.history.tiers import DAY, FIVE_MINUTES, HOUR, RAW
from history_kit import START, USED, Desk, desk, series

SPAN = timedelta(days=2, hours=3, minutes=32)
GAP = Gap(seconds_of(START), seconds_of(START + SPAN))
STEADY = SeriesKey("key", "h", "limit")
UNSAID = SeriesKey("key", "other", "limit")
UPTIME = SeriesKey("endpoint", "lab/model lab", "uptime_last_5m")
COUNT = len(GAP.seconds)
OLD = bisect_left(GAP.seconds, GAP.five_minutes_from)
"""Readings that are only kept by the hour."""
RECENT = COUNT - bisect_left(GAP.seconds, GAP.raw_from)
"""Readings that are kept one by one."""


def used() -> list[Decimal | None]:
    return [Decimal(number) / 100 for number in range(COUNT)]


def uptime() -> list[Decimal | None]:
    """Nobody asks the endpoint in the first half of each quarter of a day."""
    return [
        None if second % (6 * HOUR) < 3 * HOUR else Decimal(99) - second % 7
        for second in GAP.seconds
    ]


@pytest.fixture
def told(tmp_path: Path) -> Iterator[Desk]:
    with desk(tmp_path / "h" / "one.sqlite3", now=START + SPAN) as opened:
        opened.keep_up(START + SPAN)
        columns = [
            SeriesColumn(series(USED), used()),
            SeriesColumn(series(UPTIME), uptime()),
            SeriesColumn(series(STEADY), [Decimal(50)], constant=True),
            SeriesColumn(series(UNSAID), [None], constant=True),
        ]
        write_columns(opened.writer, GAP, columns)
        with transaction(opened.connection):
            open_tiers(opened.connection, GAP)
        yield opened


def rows(history: Desk, key: SeriesKey, width: int) -> list[tuple[object, ...]]:
    numbers = {each.key: number for number, each in history.reader.numbered()}
    found = history.connection.execute(
        "SELECT start, until, count, nulls, total, low, high, last FROM stretches "
        "WHERE width = ? AND series = ? ORDER BY start",
        (width, numbers[key]),
    )
    return [tuple(row) for row in found]


def counted(history: Desk, key: SeriesKey, width: int) -> tuple[int, int]:
    found = rows(history, key, width)
    return sum(int(str(row[2])) for row in found), sum(int(str(row[3])) for row in found)


def test_every_reading_is_counted_once_in_each_tier_that_reaches_it(told: Desk) -> None:
    silent = [value is None for value in uptime()]
    assert sum(silent[-RECENT:]), "some of the last readings say nothing"
    assert counted(told, USED, RAW) == (RECENT, 0)
    assert counted(told, UPTIME, RAW) == (RECENT - sum(silent[-RECENT:]), sum(silent[-RECENT:]))
    for key, nulls in ((USED, 0), (STEADY, 0), (UPTIME, sum(silent[:OLD]))):
        early = [row for row in rows(told, key, HOUR) if int(str(row[0])) < GAP.five_minutes_from]
        assert sum(int(str(row[2])) for row in early) == OLD - nulls, key
        assert sum(int(str(row[3])) for row in early) == nulls, key
    assert counted(told, STEADY, RAW) == (RECENT, 0)
    assert counted(told, UNSAID, RAW) == (0, RECENT), "a figure that was never said, either"
    told.keep_up(START + SPAN)
    closed = bisect_left(GAP.seconds, GAP.until // HOUR * HOUR) - OLD
    assert sum(counted(told, USED, FIVE_MINUTES)) >= closed
    assert sum(counted(told, USED, HOUR)) == OLD + closed, "the hours that are over, once"


def test_what_stays_the_same_is_one_row_told_as_one_value_or_one_by_one(
    told: Desk, tmp_path: Path
) -> None:
    told.keep_up(START + SPAN)
    with desk(tmp_path / "h" / "other.sqlite3", now=START + SPAN) as other:
        other.keep_up(START + SPAN)
        one_by_one = SeriesColumn(series(STEADY), [Decimal(50)] * COUNT)
        write_columns(other.writer, GAP, [one_by_one])
        with transaction(other.connection):
            open_tiers(other.connection, GAP)
        other.keep_up(START + SPAN)
        for width in (RAW, FIVE_MINUTES, HOUR, DAY):
            assert rows(told, STEADY, width) == rows(other, STEADY, width), width
    assert len(rows(told, STEADY, HOUR)) <= SPAN.days + 2, "a row a day, and one where tiers meet"
    assert len(rows(told, STEADY, RAW)) <= RECENT / 5 + 1


def test_what_is_read_back_is_what_was_told(told: Desk) -> None:
    for key, values in ((USED, used()), (UPTIME, uptime())):
        for moment, value in list(zip(GAP.moments, values, strict=True))[-RECENT:]:
            found = told.reader.value_at(key, moment).value
            assert found == (None if value is None else kept(value)), (key, moment)
    early = GAP.moments[OLD // 2]
    assert told.reader.value_at(STEADY, early).value == 50
    last = START + timedelta(minutes=30)
    assert told.reader.value_at(USED, last).value == used()[1], "an hour says its last reading"


def test_each_tier_answers_from_where_it_begins(told: Desk) -> None:
    tiers = dict(told.connection.execute("SELECT width, kept_from FROM tiers").fetchall())
    assert tiers[RAW] == GAP.raw_from
    assert tiers[FIVE_MINUTES] == GAP.five_minutes_from
    assert tiers[HOUR] <= GAP.since
    assert tiers[DAY] == GAP.until // DAY * DAY, "days before are told by their hours"


def test_what_was_recorded_before_a_short_gap_still_answers(tmp_path: Path) -> None:
    now = START + timedelta(hours=5, minutes=50)
    with desk(tmp_path / "h" / "one.sqlite3", now=now) as opened:
        opened.keep_up(now)
        before = dict(opened.connection.execute("SELECT width, kept_from FROM tiers").fetchall())
        with transaction(opened.connection):
            open_tiers(opened.connection, Gap(seconds_of(now) // HOUR * HOUR, seconds_of(now)))
        after = dict(opened.connection.execute("SELECT width, kept_from FROM tiers").fetchall())
    assert after == {**before, DAY: seconds_of(START)}


def test_figures_are_written_as_they_are_made(tmp_path: Path) -> None:
    with desk(tmp_path / "h" / "one.sqlite3", now=START + SPAN) as opened:
        opened.keep_up(START + SPAN)
        written = []

        def columns() -> Iterator[SeriesColumn]:
            for key in (USED, UPTIME, STEADY):
                count = opened.connection.execute(
                    "SELECT count(DISTINCT series) FROM stretches"
                ).fetchone()[0]
                written.append(count)
                yield SeriesColumn(series(key), used())

        write_columns(opened.writer, GAP, columns())
        assert written == [0, 1, 2], "at no time there is more than one in memory"


def test_figures_that_cannot_be_made_leave_nothing(tmp_path: Path) -> None:
    def broken() -> Iterator[SeriesColumn]:
        yield SeriesColumn(series(UPTIME), uptime())
        raise ValueError("the past is not known")

    with desk(tmp_path / "h" / "one.sqlite3", now=START + SPAN) as opened:
        opened.keep_up(START + SPAN)
        with pytest.raises(ValueError, match="not known"):
            write_columns(opened.writer, GAP, broken())
        for table in ("stretches", "series"):
            assert opened.connection.execute(f"SELECT count(*) FROM {table}").fetchone() == (0,)  # noqa: S608 - constants
        # Another series gets the number that was given in vain.
        write_columns(opened.writer, GAP, [SeriesColumn(series(USED), used())])
        write_columns(opened.writer, GAP, [SeriesColumn(series(UPTIME), uptime())])
        assert counted(opened, USED, RAW) == (RECENT, 0)
        silent = sum(value is None for value in uptime()[-RECENT:])
        assert counted(opened, UPTIME, RAW) == (RECENT - silent, silent)
