"""A long list is shown while it is read: its first page at once, then ever more of it."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from itertools import pairwise
from typing import Any

import httpx
import pytest
from service_kit import connection, data, refusal

from fake_clock import FakeClock
from gwtui.client.gateway import GatewayClient
from gwtui.client.transport import Transport
from gwtui.watch.feed import FeedState
from gwtui.watch.feeds.guardrails import assignments_feed
from gwtui.watch.feeds.keys import keys_feed
from gwtui.watch.hub import FeedHub, Scope

WORKSPACE = "0b9a4f6e-7c5d-4f1a-8a51-0d6f3a1c2b3d"
COUNT = 1_050
A_PAGE = 0.4
"""Seconds that the gateway takes for one."""


class Account:
    """Answers each page a while after it was asked for; ``fails_at`` is an offset that does not."""

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
        """How many rows were shown before the list was whole, each number once."""
        found = [len(state.part) for state in self.states if state.part is not None]
        return sorted(set(found))

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
    made = FeedHub(client, time.clock)
    yield made
    await made.close()


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
    # No part is ever taken for the whole: there is neither a value nor a time of reading.
    assert {(state.value, state.fetched_at) for state in viewer.states if state.part} == {
        (None, None)
    }
    seen = len(viewer.states)
    again = asyncio.create_task(feed.refresh())
    for _ in range(30):
        await time.advance(A_PAGE)
    assert len((await again).value or ()) == COUNT
    assert not any(state.progress for state in viewer.states[seen:])


async def test_a_list_that_is_read_at_once_is_shown_whole(
    hub: FeedHub, account: Account, time: FakeClock
) -> None:
    account.takes = 0.02
    viewer, feed = Viewer(), keys_feed(hub, Scope())
    feed.watch(viewer.states.append)
    await time.advance(1)
    assert len(viewer.states[-1].value) == COUNT
    assert viewer.parts() == []


async def test_of_how_many_is_said_where_the_gateway_says_it(hub: FeedHub, time: FakeClock) -> None:
    viewer, feed = Viewer(), assignments_feed(hub, Scope())
    feed.watch(viewer.states.append)
    for _ in range(30):
        await time.advance(A_PAGE)
    assert len(viewer.states[-1].value) == COUNT
    assert viewer.progress()[-1].endswith(f"of {COUNT:,} assignments")
    assert viewer.parts()[0] == 100


async def test_what_has_come_stays_in_sight_beside_the_fault(
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
