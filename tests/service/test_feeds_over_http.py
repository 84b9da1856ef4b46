"""The requests of feeds: as few as possible, and long lists page by page."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

import httpx
import pytest
from service_kit import connection, data, refusal

from fake_clock import FakeClock
from gwtui.client.call import Answer, Call
from gwtui.client.connection import Connection, WriteGate
from gwtui.client.errors import NotFoundError, ServerError
from gwtui.client.gateway import GatewayClient
from gwtui.client.request_log import ClockSkew, Traffic
from gwtui.client.transport import Transport
from gwtui.domain.clock import SYSTEM_CLOCK
from gwtui.resources.organization import ORGANIZATION
from gwtui.resources.workspaces import WORKSPACES
from gwtui.watch import cadence
from gwtui.watch.feed import Feed, FeedState
from gwtui.watch.feeds.byok import byok_feed
from gwtui.watch.feeds.guardrails import assignments_feed, bindings_feed, guardrails_feed
from gwtui.watch.feeds.keys import fetch_keys, keys_feed
from gwtui.watch.feeds.workspaces import figures_feed, workspace_figures_feed, workspaces_feed
from gwtui.watch.hub import FeedHub, FeedReader, Scope
from gwtui.watch.reads import FeedKey

FEW, THREE_HUNDRED = 5, 300
TEN_MINUTES = 600


@dataclass
class Counting:
    """An account with this many workspaces, each with a key, a member and a guardrail."""

    workspaces: int
    broken: str = ""
    requests: Counter[str] = field(default_factory=Counter)
    gate: WriteGate = field(init=False)
    skew: ClockSkew = field(default_factory=ClockSkew)
    traffic: Traffic = field(default_factory=lambda: Traffic(SYSTEM_CLOCK))

    def __post_init__(self) -> None:
        self.gate = WriteGate(Connection("https://gateway.test"))

    async def call(self, call: Call) -> Answer:
        self.requests[call.template] += 1
        if call.template == "/guardrails/{id}":
            raise NotFoundError("no default guardrail was made yet", status=404)
        if call.template == self.broken:
            raise ServerError("on fire", status=500)
        rows = self._rows(call)
        offset, limit = int(call.query.get("offset", 0)), int(call.query.get("limit", 100))
        return Answer({"data": rows[offset : offset + limit], "total_count": len(rows)})

    def _rows(self, call: Call) -> list[dict[str, Any]]:
        space = call.query.get("workspace_id") or call.segments.get("id") or "w0"
        match call.template:
            case "/workspaces":
                return [
                    {
                        "id": f"w{n}",
                        "slug": f"s{n}",
                        "name": f"n{n}",
                        "default_guardrail_id": f"d{n}",
                    }
                    for n in range(self.workspaces)
                ]
            case "/keys":
                return [{"hash": f"key of {space}", "workspace_id": space}]
            case "/guardrails":
                return [{"id": f"g of {space}", "workspace_id": space}]
            case _:
                return []

    async def aclose(self) -> None:
        pass


@asynccontextmanager
async def watching(
    account: Counting, feeds: Callable[[FeedHub], list[Feed[Any] | None]]
) -> AsyncIterator[tuple[FakeClock, FeedHub]]:
    """Keep the feeds active."""
    time = FakeClock()
    transport: Any = account
    client = GatewayClient(
        Connection("https://gateway.test"), clock=time.clock, transport=transport
    )
    hub = FeedHub(client, time.clock)
    for feed in feeds(hub):
        feed.watch(lambda _state: None)
    try:
        yield time, hub
    finally:
        await hub.close()


async def landed(time: FakeClock, hub: FeedHub) -> None:
    """Wait for the reads in progress: many turns of the event loop, but no time."""
    await time.settle()
    while any(feed.state.refreshing for feed in hub.feeds):
        await time.settle()


async def requests_in_ten_minutes(
    workspaces: int, feeds: Callable[[FeedHub], list[Feed[Any] | None]], broken: str = ""
) -> Counting:
    account = Counting(workspaces, broken)
    async with watching(account, feeds) as (time, hub):
        for _ in range(60):
            await landed(time, hub)
            await time.advance(TEN_MINUTES / 60)
        await landed(time, hub)
    return account


def looking_at_keys(hub: FeedHub) -> list[Feed[Any] | None]:
    return [keys_feed(hub, Scope()), bindings_feed(hub)]


async def test_a_small_account_keeps_its_cadence() -> None:
    account = await requests_in_ten_minutes(FEW, looking_at_keys)
    assert account.requests["/keys"] == pytest.approx(FEW * TEN_MINUTES / 20, rel=0.1)
    assert account.requests["/guardrails/assignments/keys"] == pytest.approx(10, abs=1)
    assert account.requests["/guardrails"] == FEW * 2, "cached for five minutes"


async def test_the_keys_of_hundreds_of_workspaces_cost_two_requests_a_second_at_most() -> None:
    account = await requests_in_ten_minutes(THREE_HUNDRED, looking_at_keys)
    first = 2 * THREE_HUNDRED
    assert first <= account.requests.total() <= first + 2 * TEN_MINUTES
    assert account.requests["/keys"] <= THREE_HUNDRED * 3
    assert account.requests["/guardrails"] <= THREE_HUNDRED * 3


async def test_the_figures_of_workspaces_in_view_cost_the_same_however_many_there_are() -> None:
    def looking(hub: FeedHub) -> list[Feed[Any] | None]:
        rows = [workspace_figures_feed(hub, space) for space in spaces[:20]]
        return [WORKSPACES.feed(hub, Scope()), *rows]

    costs = []
    for count in (20, THREE_HUNDRED):
        account = Counting(count)
        async with watching(account, lambda hub: [workspaces_feed(hub, Scope())]) as (time, hub):
            await landed(time, hub)
            spaces = list(workspaces_feed(hub, Scope()).state.value or ())
        assert len(spaces) == count
        requests = (await requests_in_ten_minutes(count, looking)).requests
        costs.append({name: requests[name] for name in requests if name != "/workspaces"})
    assert costs[0] == costs[1]
    assert sum(costs[1].values()) <= 11 * 20 * 4 + 11


@pytest.mark.parametrize(
    "feeds",
    [
        lambda hub: [guardrails_feed(hub, Scope())],
        lambda hub: [ORGANIZATION.feed(hub, Scope()), ORGANIZATION.completion.feed(hub, Scope())],
    ],
    ids=["guardrails", "people"],
)
async def test_other_lists_of_a_large_account_stay_within_a_request_a_second(feeds: Any) -> None:
    account = await requests_in_ten_minutes(THREE_HUNDRED, feeds)
    once = 2 * THREE_HUNDRED + 10
    assert account.requests.total() <= once + TEN_MINUTES


async def test_a_long_list_that_fails_at_its_end_is_not_tried_again_and_again() -> None:
    """A failing feed retries soon, except where each attempt costs hundreds of requests."""

    def looking(hub: FeedHub) -> list[Feed[Any] | None]:
        return [hub.feed(FeedKey("long"), read_all, cadence.KEYS)]

    async def read_all(reader: FeedReader) -> None:
        await fetch_keys(reader.client, None)
        await reader.client.credits.get()

    account = await requests_in_ten_minutes(THREE_HUNDRED, looking, broken="/credits")
    assert account.requests["/keys"] <= THREE_HUNDRED * 3


FOUR_LISTS = (keys_feed, WORKSPACES.feed, byok_feed, guardrails_feed)


def looking_at_four_lists(hub: FeedHub) -> list[Feed[Any] | None]:
    feeds = [feed(hub, Scope()) for feed in FOUR_LISTS]
    return [*feeds, figures_feed(hub, Scope()), bindings_feed(hub), workspaces_feed(hub, Scope())]


async def test_lists_that_are_opened_together_read_the_workspaces_once() -> None:
    account = Counting(FEW)
    async with watching(account, looking_at_four_lists) as (time, hub):
        await landed(time, hub)
        assert account.requests["/workspaces"] == 1
        assert account.requests["/keys"] == FEW + 1, "once each, and which one is the default"
        assert account.requests["/guardrails"] == FEW
        assert account.requests["/byok"] == FEW
        states = [feed(hub, Scope()).state for feed in FOUR_LISTS]
        assert [len(state.value or ()) for state in states] == [FEW, FEW, 0, 2 * FEW]
        await hub.refresh("")
        assert account.requests["/workspaces"] == 2, "once more after a write, for all of them"


# Lists that grow ----------------------------------------------------------------------------------


WORKSPACE = "0b9a4f6e-7c5d-4f1a-8a51-0d6f3a1c2b3d"
COUNT = 1_050
A_PAGE = 0.4
"""Seconds that the gateway takes for a page."""


class Account:
    """Answers each page after a delay; fails at the offset ``fails_at``."""

    def __init__(self, time: FakeClock) -> None:
        self.fails_at: int | None = None
        self.takes = A_PAGE
        self._time = time

    async def __call__(self, request: httpx.Request) -> httpx.Response:
        path, query = request.url.path, request.url.params
        if path.endswith("/workspaces"):
            return data([{"id": WORKSPACE, "name": "Main"}], total_count=1)
        offset = int(query.get("offset", 0))
        await self._time.sleep(self.takes)
        if offset and offset == self.fails_at:
            return refusal(500)
        if path.endswith("/assignments/keys"):
            rows = [_assignment(number) for number in range(COUNT)]
            return data(rows[offset : offset + 100], total_count=COUNT)
        if path.endswith("/keys"):
            return data([_key(number) for number in range(COUNT)][offset : offset + 100])
        return data([], total_count=0)


def _key(number: int) -> dict[str, Any]:
    return {"hash": f"{number:064x}", "name": f"key {number}", "workspace_id": WORKSPACE}


def _assignment(number: int) -> dict[str, Any]:
    return {"id": f"a{number}", "key_hash": f"{number:064x}", "guardrail_id": "g"}


class Viewer:
    def __init__(self) -> None:
        self.states: list[FeedState[Any]] = []

    def parts(self) -> list[int]:
        """The numbers of rows that were shown before the list was complete."""
        results = [len(state.part) for state in self.states if state.part is not None]
        return sorted(set(results))

    def progress(self) -> list[str]:
        return [state.progress for state in self.states if state.progress]


@pytest.fixture
def time() -> FakeClock:
    return FakeClock()


@pytest.fixture
def account(time: FakeClock) -> Account:
    return Account(time)


@pytest.fixture
async def hub(time: FakeClock, account: Account) -> AsyncIterator[FeedHub]:
    where = connection()
    transport = Transport(where, clock=time.clock, http=httpx.MockTransport(account))
    client = GatewayClient(where, clock=time.clock, transport=transport)
    feed_hub = FeedHub(client, time.clock)
    yield feed_hub
    await feed_hub.close()


async def test_keys_are_shown_as_they_come_and_counted(hub: FeedHub, time: FakeClock) -> None:
    viewer, feed = Viewer(), keys_feed(hub, Scope())
    feed.watch(viewer.states.append)
    for _ in range(30):
        await time.advance(A_PAGE)
    last = viewer.states[-1]
    assert (len(last.value), last.part, last.progress) == (COUNT, None, "")
    parts = viewer.parts()
    assert parts[0] == 100
    assert len(parts) > 2
    assert all(later >= 2 * earlier for earlier, later in pairwise(parts))
    assert viewer.progress()[0] == "reading, 100 keys so far"
    # A partial list never counts as read: it has neither a value nor a time.
    assert {(state.value, state.fetched_at) for state in viewer.states if state.part} == {
        (None, None)
    }
    result = len(viewer.states)
    again = asyncio.create_task(feed.refresh())
    for _ in range(30):
        await time.advance(A_PAGE)
    assert len((await again).value or ()) == COUNT
    assert not any(state.progress for state in viewer.states[result:])


async def test_a_list_that_is_read_at_once_is_shown_whole(
    hub: FeedHub, account: Account, time: FakeClock
) -> None:
    account.takes = 0.02
    viewer, feed = Viewer(), keys_feed(hub, Scope())
    feed.watch(viewer.states.append)
    await time.advance(1)
    assert len(viewer.states[-1].value) == COUNT
    assert viewer.parts() == []


async def test_progress_shows_the_total_where_it_is_known(hub: FeedHub, time: FakeClock) -> None:
    viewer, feed = Viewer(), assignments_feed(hub, Scope())
    feed.watch(viewer.states.append)
    for _ in range(30):
        await time.advance(A_PAGE)
    assert len(viewer.states[-1].value) == COUNT
    assert viewer.progress()[-1].endswith(f"of {COUNT:,} assignments")
    assert viewer.parts()[0] == 100


async def test_rows_read_before_a_fault_stay_visible(
    hub: FeedHub, account: Account, time: FakeClock
) -> None:
    account.fails_at = 99 * 6
    viewer, feed = Viewer(), keys_feed(hub, Scope())
    feed.watch(viewer.states.append)
    for _ in range(20):
        await time.advance(A_PAGE)
    state = viewer.states[-1]
    assert state.error is not None
    assert state.value is None
    assert len(state.shown) >= 100
    assert state.phase(time.clock.now()) != "failed"
    account.fails_at = None
    for _ in range(60):
        await time.advance(A_PAGE)
    assert len(viewer.states[-1].value) == COUNT
