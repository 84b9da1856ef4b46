"""The lease: one holder, taken over when it dies or falls silent, whatever the wall clock does."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing
from datetime import timedelta
from pathlib import Path
from sqlite3 import Connection

import pytest

from fake_clock import FakeClock
from gwtui.watch.history.errors import LeaseLostError
from gwtui.watch.history.file import open_writable
from gwtui.watch.history.lease import BEAT, TIME_LIMIT, Lease, current, this_host
from gwtui.watch.history.model import Observation
from gwtui.watch.history.writer import HistoryWriter
from history_kit import START


@pytest.fixture
def time() -> FakeClock:
    return FakeClock()


@pytest.fixture
def connection(tmp_path: Path) -> Iterator[Connection]:
    with closing(open_writable(tmp_path / "h" / "one.sqlite3", START).connection) as opened:
        yield opened


async def beats(lease: Lease, connection: Connection, time: FakeClock, seconds: float) -> bool:
    """Call on the lease at its pace; whether it was ours at the end."""
    held = lease.hold(connection)
    for _ in range(int(seconds / BEAT)):
        await time.advance(BEAT)
        held = lease.hold(connection)
    return held


async def test_the_first_holds_it_and_says_who_it_is(
    connection: Connection, time: FakeClock
) -> None:
    lease = Lease(time.clock)
    assert current(connection) is None
    assert lease.hold(connection)
    holder = current(connection)
    assert holder is not None
    assert (holder.id, holder.pid, holder.host) == (lease.id, os.getpid(), this_host())
    assert holder.expires_at > time.now()


async def test_while_one_beats_no_other_gets_it(connection: Connection, time: FakeClock) -> None:
    first, second = Lease(time.clock, host="a"), Lease(time.clock, host="b")
    assert first.hold(connection)
    for _ in range(30):
        await time.advance(BEAT)
        assert first.hold(connection)
        assert not second.hold(connection)


async def test_who_falls_silent_loses_it_and_learns_so(
    connection: Connection, time: FakeClock
) -> None:
    first, second = Lease(time.clock, host="a"), Lease(time.clock, host="b")
    assert first.hold(connection)
    assert not await beats(second, connection, time, TIME_LIMIT - BEAT)
    assert await beats(second, connection, time, 2 * BEAT)
    assert not first.hold(connection)
    with pytest.raises(LeaseLostError):
        HistoryWriter(connection, first.id).observe(Observation("credits", time.now(), 60))
    HistoryWriter(connection, second.id).observe(Observation("credits", time.now(), 60))


async def test_a_wall_clock_that_jumps_ends_no_lease(
    connection: Connection, time: FakeClock
) -> None:
    first, second = Lease(time.clock, host="a"), Lease(time.clock, host="b")
    assert first.hold(connection)
    assert not second.hold(connection)
    for jump in (timedelta(days=400), timedelta(days=-800)):
        time.suspend(jump.total_seconds())
        assert not second.hold(connection)
        await time.advance(BEAT)
        assert first.hold(connection)
        assert not second.hold(connection)


async def test_a_wall_clock_set_back_keeps_nobody_from_taking_it_over(
    connection: Connection, time: FakeClock
) -> None:
    first, second = Lease(time.clock, host="a"), Lease(time.clock, host="b")
    assert first.hold(connection)
    time.suspend(-timedelta(days=400).total_seconds())
    assert await beats(second, connection, time, TIME_LIMIT + BEAT)


def test_a_process_that_is_gone_is_followed_at_once(
    connection: Connection, time: FakeClock
) -> None:
    gone = subprocess.Popen([sys.executable, "-c", ""])
    gone.wait()
    assert Lease(time.clock, pid=gone.pid).hold(connection)
    assert Lease(time.clock).hold(connection)


def test_a_process_of_another_user_is_not_taken_for_gone(
    connection: Connection, time: FakeClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(_pid: int, _signal: int) -> None:
        raise PermissionError(1, "Operation not permitted")

    assert Lease(time.clock, pid=4321).hold(connection)
    monkeypatch.setattr(os, "kill", refuse)
    assert not Lease(time.clock).hold(connection)


def test_the_same_number_elsewhere_is_another_process(
    connection: Connection, time: FakeClock
) -> None:
    gone = subprocess.Popen([sys.executable, "-c", ""])
    gone.wait()
    assert Lease(time.clock, pid=gone.pid, host="elsewhere").hold(connection)
    assert not Lease(time.clock).hold(connection)


async def test_who_gives_it_back_lets_the_next_begin_at_once(
    connection: Connection, time: FakeClock
) -> None:
    first, second = Lease(time.clock), Lease(time.clock)
    assert first.hold(connection)
    second.release(connection)
    assert first.hold(connection)
    first.release(connection)
    assert second.hold(connection)
