"""Derived feeds, the limit on concurrent reads, and holding, refreshing, ending all feeds."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from datetime import timedelta
from typing import Any, cast

import pytest

from fake_clock import FakeClock
from gwtui.client.errors import GatewayError, RateLimitedError, ServerError
from gwtui.client.gateway import GatewayClient
from gwtui.client.request_log import ListGaps, count_request, record_list_gaps
from gwtui.watch.cadence import Cadence
from gwtui.watch.feed import Feed, FeedState
from gwtui.watch.hub import MOST_TRANSIENT, READS_AT_A_TIME, FeedHub, FeedReader, single_use_reader
from gwtui.watch.reads import BaseRead, FeedKey

SLOW = Cadence(60, stale_after=240)
FAST = Cadence(20, stale_after=90)


class Account:
    """Replaces the client: numbers the reads, and holds or fails them when a test says so."""

    def __init__(self) -> None:
        self.reads: list[str] = []
        self.pending: dict[int, asyncio.Event] = {}
        self.broken: set[str] = set()
        self.unreadable = 0

    async def read(self, source: str) -> str:
        self.reads.append(source)
        number = len(self.reads)
        count_request()
        if number in self.pending:
            await self.pending[number].wait()
        if source in self.broken:
            raise ServerError(f"{source} on fire", status=500)
        record_list_gaps(self.unreadable, complete=True)
        return f"{source} {number}"


def shared(name: str) -> BaseRead[str]:
    return BaseRead(FeedKey(name), lambda client: cast("Account", client).read(name))


SPACES, KEYS = shared("spaces"), shared("keys")


@pytest.fixture
def account() -> Account:
    return Account()


@pytest.fixture
async def hub(time: FakeClock, account: Account) -> AsyncIterator[FeedHub]:
    feed_hub = FeedHub(cast("GatewayClient", account), time.clock)
    yield feed_hub
    await feed_hub.close()


def spaces_feed(hub: FeedHub, name: str, cadence: Cadence = SLOW) -> Feed[str]:
    return hub.feed(FeedKey(name), lambda reader: reader.get(SPACES), cadence)


def joined_feed(hub: FeedHub) -> Feed[tuple[str, str]]:
    async def both(reader: FeedReader) -> tuple[str, str]:
        return await reader.get(SPACES), await reader.fresh(KEYS)

    return hub.feed(FeedKey("joined"), both, SLOW)


def look(*feeds: Feed[Any]) -> None:
    for feed in feeds:
        feed.watch(lambda _state: None)


async def test_feeds_that_begin_together_read_once(
    hub: FeedHub, account: Account, time: FakeClock
) -> None:
    feeds = [spaces_feed(hub, name) for name in "abc"]
    look(*feeds, joined_feed(hub))
    await time.settle()
    assert sorted(account.reads) == ["keys", "spaces"]
    assert {feed.state.value for feed in feeds} == {"spaces 1"}
    assert all(feed.state.oldest is None for feed in feeds), "read for each of them"


async def test_a_fresh_answer_is_taken_for_half_a_cadence_and_tells_its_age(
    hub: FeedHub, account: Account, time: FakeClock
) -> None:
    look(spaces_feed(hub, "first"))
    await time.advance(30)
    second = spaces_feed(hub, "second")
    look(second)
    await time.settle()
    assert account.reads == ["spaces"]
    assert second.state.fetched_at == time.start + timedelta(seconds=30)
    assert second.state.age(time.now()) == 30
    assert spaces_feed(hub, "eager", FAST).state.value is None
    look(spaces_feed(hub, "eager", FAST))
    await time.settle()
    assert account.reads == ["spaces", "spaces"], "older than half of its own cadence"


async def test_the_age_is_that_of_the_oldest_source(
    hub: FeedHub, account: Account, time: FakeClock
) -> None:
    look(spaces_feed(hub, "spaces"))
    await time.advance(10)
    joined = joined_feed(hub)
    look(joined)
    await time.settle()
    assert joined.state.value == ("spaces 1", "keys 2")
    await time.advance(5)
    assert joined.state.age(time.now()) == 15
    await time.advance(60)
    assert joined.state.value == ("spaces 3", "keys 4"), "read again at its own cadence"
    assert joined.state.age(time.now()) == 15


async def test_values_read_during_a_reading_are_fresh(
    hub: FeedHub, account: Account, time: FakeClock
) -> None:
    account.pending = {1: asyncio.Event()}

    async def twice(reader: FeedReader) -> tuple[str, ...]:
        return await reader.get(KEYS), await reader.get(SPACES), await reader.fresh(SPACES)

    long = hub.feed(FeedKey("long"), twice, SLOW)
    look(long)
    await time.settle()
    look(spaces_feed(hub, "meanwhile"))
    await time.advance(5)
    account.pending[1].set()
    await time.settle()
    assert long.state.value == ("keys 1", "spaces 2", "spaces 2")
    assert long.state.age(time.now()) == 0


async def test_an_answer_from_before_the_machine_slept_is_not_taken(
    hub: FeedHub, account: Account, time: FakeClock
) -> None:
    await spaces_feed(hub, "first").refresh()
    time.suspend(3600)
    second = spaces_feed(hub, "second")
    look(second)
    await time.settle()
    assert second.state.value == "spaces 2"


async def test_a_refresh_reads_again_whatever_is_known_and_refreshes_share(
    hub: FeedHub, account: Account, time: FakeClock
) -> None:
    feeds = [spaces_feed(hub, name) for name in "abc"]
    look(*feeds)
    await time.settle()
    states = await asyncio.gather(*(feed.refresh() for feed in feeds))
    assert [state.value for state in states] == ["spaces 2"] * 3
    assert (await feeds[0].refresh()).value == "spaces 3"
    assert account.reads == ["spaces"] * 3


async def test_an_older_answer_never_follows_a_newer_one(
    hub: FeedHub, account: Account, time: FakeClock
) -> None:
    account.pending = {1: asyncio.Event()}
    early = spaces_feed(hub, "early")
    look(early)
    await time.settle()
    late = asyncio.ensure_future(spaces_feed(hub, "late").refresh())
    await time.settle()
    account.pending[1].set()
    assert (await late).value == "spaces 2"
    assert early.state.value == "spaces 1", "it was requested first"
    assert (await early.refresh()).value == "spaces 3"
    third = spaces_feed(hub, "third")
    look(third)
    await time.settle()
    assert third.state.value == "spaces 3"


async def test_invalidated_feeds_read_again_once_watched(
    hub: FeedHub, account: Account, time: FakeClock
) -> None:
    feed = spaces_feed(hub, "a")
    leave = feed.watch(lambda _state: None)
    await time.settle()
    leave()
    feed.invalidate()
    await time.advance(1)
    look(feed)
    await time.settle()
    assert feed.state.value == "spaces 2"


async def test_values_from_before_a_write_are_not_shared(
    hub: FeedHub, account: Account, time: FakeClock
) -> None:
    look(spaces_feed(hub, "a"))
    await time.settle()
    account.pending = {2: asyncio.Event()}
    waiting = asyncio.ensure_future(spaces_feed(hub, "b").refresh())
    await time.settle()
    await hub.refresh("keys")
    other = spaces_feed(hub, "c")
    look(other)
    await time.settle()
    account.pending[2].set()
    assert (await waiting).value == "spaces 2", "requested before the write"
    await time.settle()
    assert other.state.value == "spaces 3"


async def test_a_read_that_fails_fails_every_feed_that_needs_it_and_is_not_kept(
    hub: FeedHub, account: Account, time: FakeClock
) -> None:
    spaces, joined = spaces_feed(hub, "one"), joined_feed(hub)
    look(spaces, joined)
    await time.settle()
    account.broken = {"spaces"}
    await asyncio.gather(spaces.refresh(), joined.refresh())
    assert account.reads.count("spaces") == 2
    assert isinstance(spaces.state.error, ServerError)
    assert joined.state.error is spaces.state.error
    assert spaces.state.value == "spaces 1"
    assert joined.state.value is not None
    account.broken = set()
    assert (await joined.refresh()).error is None


async def test_a_feed_that_can_do_without_a_source_is_not_failed_by_it(
    hub: FeedHub, account: Account
) -> None:
    async def lenient(reader: FeedReader) -> str:
        try:
            return await reader.get(SPACES)
        except GatewayError:
            return await reader.get(KEYS)

    account.broken = {"spaces"}
    state = await hub.feed(FeedKey("lenient"), lenient, SLOW).refresh()
    assert (state.value, state.error) == ("keys 2", None)


async def test_missing_rows_of_a_source_show_in_every_derived_feed(
    hub: FeedHub, account: Account, time: FakeClock
) -> None:
    account.unreadable = 2
    look(spaces_feed(hub, "first"))
    await time.advance(1)
    second, joined = spaces_feed(hub, "second"), joined_feed(hub)
    look(second, joined)
    await time.settle()
    assert account.reads == ["spaces", "keys"]
    assert second.state.list_gaps == ListGaps(unreadable_rows=2)
    assert joined.state.list_gaps == ListGaps(unreadable_rows=4)
    account.broken = {"keys"}
    await joined.refresh()
    assert joined.state.error is not None
    assert joined.state.list_gaps == ListGaps(unreadable_rows=4), (
        "the last good value still lacks the rows"
    )

    async def closed(reader: FeedReader) -> str:
        record_list_gaps(0, complete=False)
        return await reader.get(SPACES)

    state = await hub.feed(FeedKey("closed"), closed, SLOW).refresh()
    assert state.list_gaps == ListGaps(unreadable_rows=2, incomplete_lists=1)


async def test_own_lists_are_read_at_every_reading(
    hub: FeedHub, account: Account, time: FakeClock
) -> None:
    look(hub.feed(FeedKey("other"), lambda reader: reader.get(KEYS), SLOW))
    await time.advance(1)
    look(joined_feed(hub))
    await time.settle()
    assert account.reads.count("keys") == 2
    other = hub.feed(FeedKey("third"), lambda reader: reader.get(KEYS), SLOW)
    assert (await other.refresh()).value == f"keys {len(account.reads)}"


async def test_a_cancelled_waiter_does_not_stop_a_shared_read(
    hub: FeedHub, account: Account, time: FakeClock
) -> None:
    account.pending = {1: asyncio.Event()}
    first = asyncio.ensure_future(FeedReader(hub).get(SPACES))
    second = asyncio.ensure_future(FeedReader(hub).get(SPACES))
    await time.settle()
    first.cancel()
    account.pending[1].set()
    assert await second == "spaces 1"


async def test_lasting_sources_do_not_age_derived_feeds(
    hub: FeedHub, account: Account, time: FakeClock
) -> None:
    async def names(reader: FeedReader) -> tuple[str, str]:
        return await reader.reusing(300).get(SPACES), await reader.get_cached(KEYS, 600)

    look(hub.feed(FeedKey("names"), names, SLOW))
    await time.advance(245)
    feed = hub.feed(FeedKey("names"), names, SLOW)
    assert account.reads == ["spaces", "keys"]
    assert (feed.state.age(time.now()) or 0) < 60
    await hub.refresh("names")
    assert feed.state.value == ("spaces 3", "keys 2"), "a write affects only one of them"


async def test_a_private_reader_shares_nothing(account: Account) -> None:
    client = cast("GatewayClient", account)
    assert await single_use_reader(client).get(SPACES) == "spaces 1"
    assert await single_use_reader(client).get(SPACES) == "spaces 2"


# The feeds of a hub -------------------------------------------------------------------------------


def feed_of(
    hub: FeedHub, name: str, *parts: str, cadence: Cadence = SLOW, **options: bool
) -> Feed[str]:
    key = FeedKey(name, parts)

    def read(reader: FeedReader) -> Awaitable[str]:
        return cast("Account", reader.client).read(key.name)

    return hub.feed(key, read, cadence, **options)


def read(hub: FeedHub, name: str) -> list[FeedState[str]]:
    states: list[FeedState[str]] = []
    feed_of(hub, name).watch(states.append)
    return states


async def test_the_same_key_is_the_same_feed(hub: FeedHub, account: Account) -> None:
    feed = feed_of(hub, "keys")
    assert feed_of(hub, "keys", cadence=FAST) is feed
    assert feed_of(hub, "keys", "w") is not feed
    assert [item.name for item in hub.feeds] == ["keys", "keys:w"]
    assert feed.cadence is SLOW


async def test_no_more_feeds_read_at_a_time_than_allowed(
    hub: FeedHub, account: Account, time: FakeClock
) -> None:
    account.pending = {number: asyncio.Event() for number in range(1, 11)}
    for number in range(10):
        read(hub, f"endpoints:{number}")
    await time.settle()
    assert len(account.reads) == READS_AT_A_TIME
    account.pending[1].set()
    await time.settle()
    assert len(account.reads) == READS_AT_A_TIME + 1


async def test_a_blurred_terminal_reads_nothing(
    hub: FeedHub, account: Account, time: FakeClock
) -> None:
    read(hub, "credits")
    await time.settle()
    hub.pause_all()
    assert hub.paused
    read(hub, "keys")
    await time.advance(300)
    assert account.reads == ["credits"]
    hub.resume_all()
    await time.settle()
    assert account.reads == ["credits", "credits", "keys"]


async def test_refresh_after_a_write_reads_the_family_and_marks_what_nobody_watches(
    hub: FeedHub, account: Account, time: FakeClock
) -> None:
    unwatched = feed_of(hub, "keys", "away")
    await unwatched.refresh()
    read(hub, "keys")
    read(hub, "keys:w")
    read(hub, "credits")
    await time.settle()
    account.reads.clear()
    await hub.refresh("keys")
    assert sorted(account.reads) == ["keys", "keys:w"]
    unwatched.watch(lambda _state: None)
    await time.settle()
    assert sorted(account.reads) == ["keys", "keys:away", "keys:w"]


async def test_a_write_does_not_wait_for_feeds_in_the_background(
    hub: FeedHub, account: Account, time: FakeClock
) -> None:
    feed_of(hub, "keys").watch(lambda _state: None, background=True, every=300)
    await time.advance(5)
    await hub.refresh("keys")
    assert account.reads == ["keys"]
    await time.settle()
    assert account.reads == ["keys", "keys"]


async def test_a_closed_hub_is_quiet_and_makes_no_feeds(
    hub: FeedHub, account: Account, time: FakeClock
) -> None:
    account.pending[1] = asyncio.Event()
    states = read(hub, "credits")
    await time.settle()
    await hub.close()
    count = len(states)
    await time.advance(100)
    assert account.reads == ["credits"]
    assert len(states) == count
    with pytest.raises(RuntimeError, match="closed"):
        read(hub, "keys")


class Limited:
    """A gateway that answers its first request with 429."""

    def __init__(self) -> None:
        self.calls: list[tuple[str, float]] = []

    def fetch(self, name: str, time: FakeClock) -> Callable[[FeedReader], Awaitable[int]]:
        async def read(_reader: FeedReader) -> int:
            self.calls.append((name, time.elapsed))
            if len(self.calls) == 1:
                raise RateLimitedError("slow down", status=429, retry_after=40)
            return 1

        return read


async def test_retry_after_pauses_all_feeds(hub: FeedHub, time: FakeClock) -> None:
    gateway = Limited()
    for name in ("credits", "keys"):
        hub.feed(FeedKey(name), gateway.fetch(name, time), SLOW).watch(lambda _state: None)
        await time.settle()
    hub.feed(FeedKey("late"), gateway.fetch("late", time), SLOW).watch(lambda _state: None)
    await time.advance(39)
    assert [name for name, _ in gateway.calls] == ["credits"]
    await time.advance(5)
    assert {name for name, _ in gateway.calls[1:]} == {"credits", "keys", "late"}
    assert all(second >= 40 for _, second in gateway.calls[1:])


async def test_a_manual_refresh_works_while_feeds_wait(hub: FeedHub, time: FakeClock) -> None:
    gateway = Limited()
    hub.feed(FeedKey("credits"), gateway.fetch("credits", time), SLOW).watch(lambda _state: None)
    await time.settle()
    other = hub.feed(FeedKey("keys"), gateway.fetch("keys", time), SLOW)
    assert (await other.refresh()).value == 1
    assert [name for name, _ in gateway.calls] == ["credits", "keys"]


async def test_only_recent_and_used_feeds_of_rows_are_kept(hub: FeedHub) -> None:
    lasting = [feed_of(hub, "lasting", str(number)).name for number in range(30)]
    used = feed_of(hub, "row", "used", transient=True)
    leave = used.watch(lambda _state: None)
    for number in range(100):
        feed_of(hub, "row", str(number), transient=True)
    names = {feed.name for feed in hub.feeds}
    assert names >= {*lasting, "row:used", "row:99"}
    assert len(names) <= len(lasting) + 1 + MOST_TRANSIENT
    assert feed_of(hub, "row", "used", transient=True) is used
    leave()
