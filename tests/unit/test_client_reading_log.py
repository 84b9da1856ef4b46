"""What a list lacked reaches the screen, whoever joined it with others on the way."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from fake_clock import START, FakeClock
from gwtui.client.answers import Rows
from gwtui.client.errors import ConnectFailedError
from gwtui.client.paging import listing_of
from gwtui.client.request_log import ReadingLog, Shortfall, list_read, reading_log, request_sent
from gwtui.contract.models import Provider
from gwtui.ui.connection_health import ConnectionHealth
from gwtui.watch.cadence import Cadence
from gwtui.watch.feed import Feed, FeedState

GOOD: Any = {"slug": "a"}


async def _joined() -> int:
    """Two lists read side by side: a row is no object, and one list ends before its total."""

    async def one(rows: Rows) -> int:
        await asyncio.sleep(0)
        return len(listing_of(rows, Provider, "slug").items)

    lists = (Rows([GOOD, "rubbish", 7], 3), Rows([GOOD], 5))
    return sum(await asyncio.gather(*(one(rows) for rows in lists)))


async def test_whatever_is_read_inside_is_gathered_and_nothing_else() -> None:
    with reading_log() as before:
        with reading_log() as inner:
            assert await _joined() == 2
            request_sent()
        list_read(0, complete=True)
    assert inner == ReadingLog(1, Shortfall(2, 1))
    assert before == ReadingLog()
    list_read(9, complete=False)
    request_sent()
    assert before == ReadingLog()


async def test_a_feed_keeps_it_with_the_value_it_belongs_to() -> None:
    time, wrong = FakeClock(), False

    async def fetch() -> int:
        if wrong:
            raise ConnectFailedError("away")
        return await _joined()

    feed = Feed("keys", fetch, Cadence(10, stale_after=45), clock=time.clock)
    assert (await feed.refresh()).lacks == Shortfall(2, 1)
    wrong = True
    state = await feed.refresh()
    assert state.error is not None
    assert state.lacks == Shortfall(2, 1), "the last good value is still the one that lacks"
    await feed.close()


@pytest.mark.parametrize(
    ("lacks", "said"),
    [
        (Shortfall(), ""),
        (Shortfall(1), "1 row could not be read and is left out"),
        (Shortfall(1200), "1,200 rows could not be read and are left out"),
        (Shortfall(0, 2), "the list may be incomplete"),
        (
            Shortfall(3, 1),
            "3 rows could not be read and are left out · the list may be incomplete",
        ),
    ],
)
def test_the_banner_says_it_once_nothing_worse_is_to_be_said(lacks: Shortfall, said: str) -> None:
    health, state = ConnectionHealth(), FeedState((), fetched_at=START, lacks=lacks)
    assert health.banner([("keys", state)], START) == said
    failed: FeedState[Any] = FeedState(error=ConnectFailedError("away"))
    assert "unreachable" in health.banner([("keys", state), ("credits", failed)], START)
