"""Instances that share a history lose nothing; one that ends leaves all of a reading or nothing."""

from __future__ import annotations

import asyncio
import multiprocessing
import sys
import threading
from collections.abc import Sequence
from contextlib import closing
from dataclasses import replace
from datetime import datetime, timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any, cast

import pytest

from gwtui.domain.clock import Clock
from gwtui.watch.history.archive import Archive
from gwtui.watch.history.file import open_writable
from gwtui.watch.history.lease import Lease
from gwtui.watch.history.model import (
    HistoryEndedError,
    LeaseLostError,
    Observation,
    Sample,
    Series,
    SeriesKey,
)
from gwtui.watch.history.queries import BALANCE
from gwtui.watch.history.reader import HistoryReader
from gwtui.watch.history.writer import HistoryWriter
from history_kit import START, desk, series

INSTANCES = 3
ROUNDS = 40
EVERY = 10
"""Seconds between two readings: few enough that no clock seems to go back."""


def key_of(instance: int) -> SeriesKey:
    return SeriesKey("credits", f"account {instance}", "total_usage")


def moment(round: int) -> datetime:
    return START + timedelta(seconds=EVERY * round)


def _record(path: Path, instance: int, told: Any) -> None:
    """Open, try to hold, write whether held or not, let go; as fast as it goes."""
    written: list[int] = []
    held = 0
    for round in range(ROUNDS):
        with closing(open_writable(path, START).connection) as connection:
            lease = Lease(Clock(now=lambda: START, monotonic=lambda: 0.0))
            is_ours = lease.hold(connection)
            held += is_ours
            sample = Sample(series(key_of(instance), every=EVERY), Decimal(round))
            seen = Observation("credits", moment(round), EVERY, (sample,), {}, None)
            try:
                HistoryWriter(connection, lease.id).observe(seen)
                assert is_ours, "nobody writes without the lease"
                written.append(round)
            except LeaseLostError:
                assert not is_ours, "nobody else took it"
            finally:
                lease.release(connection)
    told.put((instance, written, held))


def test_instances_take_turns_and_lose_nothing(tmp_path: Path) -> None:
    path = tmp_path / "history" / "work.sqlite3"
    context = multiprocessing.get_context("fork")
    told = context.Queue()
    children = [
        context.Process(target=_record, args=(path, instance, told))
        for instance in range(INSTANCES)
    ]
    for child in children:
        child.start()
    stories = [told.get(timeout=60) for _ in children]
    for child in children:
        child.join(30)
        assert child.exitcode == 0
    assert all(held == len(written) for _, written, held in stories)
    assert sum(held for _, _, held in stories) > INSTANCES
    with desk(path, now=moment(ROUNDS)) as history:
        assert history.connection.execute("PRAGMA integrity_check").fetchone() == ("ok",)
        reader = HistoryReader(history.connection)
        for instance, written, _ in stories:
            for round in written:
                value = reader.value_at(key_of(instance), moment(round)).value
                assert value == round, (instance, round)


class Endless(Sequence[Sample]):
    """Samples without end; ``begun`` is set once some were taken."""

    def __init__(self, begun: threading.Event) -> None:
        self._begun = begun

    def __len__(self) -> int:
        return sys.maxsize

    def __getitem__(self, place: Any) -> Any:
        if place == 10:
            self._begun.set()
        return Sample(Series(SeriesKey("key", f"{place % 50:064x}", "usage")), Decimal(place))


async def test_the_end_waits_for_no_long_write_and_nothing_of_it_is_there(tmp_path: Path) -> None:
    path, begun = tmp_path / "history.sqlite3", threading.Event()
    archive = await Archive.open(path)
    assert await archive.hold()
    small = Observation("credits", START, 60, (Sample(Series(BALANCE), Decimal(7)),))
    await archive.write(lambda writer: writer.observe(small))
    large = replace(small, source="keys", samples=cast("Any", Endless(begun)))
    writing = asyncio.create_task(archive.write(lambda writer: writer.observe(large)))
    await asyncio.to_thread(begun.wait, 10)
    archive.end_within(0.01)
    with pytest.raises(HistoryEndedError):
        await writing
    with pytest.raises(HistoryEndedError):  # what waited is not begun
        await archive.write(lambda writer: writer.observe(small))
    await archive.close()

    again = await Archive.open(path)  # the lease was given back
    assert await again.hold()
    assert await again.read(lambda history: [one.key for one in history.series()]) == [BALANCE]
    assert (await again.read(lambda history: history.latest(BALANCE))).value == 7
    await again.close()
