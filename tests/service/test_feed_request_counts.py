"""What it costs the gateway that screens are looked at, in a small account and in a large one.

Requests are counted where they leave the service layer, on feeds that run for ten minutes of a
clock moved by hand.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

import pytest

from fake_clock import FakeClock
from gwtui.client.call import Answer, Call
from gwtui.client.connection import Connection, WriteGate
from gwtui.client.errors import NotFoundError, ServerError
from gwtui.client.gateway import GatewayClient
from gwtui.client.request_log import ClockSkew, Traffic
from gwtui.crud.resource import Scope
from gwtui.domain.clock import SYSTEM_CLOCK
from gwtui.resources.organization import ORGANIZATION
from gwtui.resources.workspaces.resource import WORKSPACES
from gwtui.watch import cadence
from gwtui.watch.base_reads import FeedKey
from gwtui.watch.feed import Feed
from gwtui.watch.feeds.byok import byok_feed
from gwtui.watch.feeds.guardrails import bindings_feed, guardrails_feed
from gwtui.watch.feeds.keys import fetch_keys, keys_feed
from gwtui.watch.feeds.workspaces import figures_feed, workspace_figures_feed, workspaces_feed
from gwtui.watch.hub import FeedHub

FEW, MANY = 5, 300
TEN_MINUTES = 600


@dataclass
class Counting:
    """An account of so many workspaces, each with a key, a member, a guardrail; counts requests."""

    workspaces: int
    broken: str = ""
    asked: Counter[str] = field(default_factory=Counter)
    gate: WriteGate = field(init=False)
    skew: ClockSkew = field(default_factory=ClockSkew)
    traffic: Traffic = field(default_factory=lambda: Traffic(SYSTEM_CLOCK))

    def __post_init__(self) -> None:
        self.gate = WriteGate(Connection("https://gateway.test"))

    async def call(self, call: Call) -> Answer:
        self.asked[call.template] += 1
        if call.template == "/guardrails/{id}":
            raise NotFoundError("no default guardrail was made yet", status=404)
        if call.template == self.broken:
            raise ServerError("on fire", status=500)
        rows = self._rows(call)
        offset, limit = int(call.query.get("offset", 0)), int(call.query.get("limit", 100))
        return Answer(200, {"data": rows[offset : offset + limit], "total_count": len(rows)})

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
    """The feeds are looked at."""
    time = FakeClock()
    transport: Any = account
    client = GatewayClient(
        Connection("https://gateway.test"), clock=time.clock, transport=transport
    )
    hub = FeedHub(client, time.clock)
    for feed in feeds(hub):
        assert feed is not None
        feed.watch(lambda _state: None)
    try:
        yield time, hub
    finally:
        await hub.close()


async def landed(time: FakeClock, hub: FeedHub) -> None:
    """Wait for the reads under way: they take many turns of the event loop, but no time."""
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


async def test_a_small_account_is_read_as_often_as_ever() -> None:
    account = await requests_in_ten_minutes(FEW, looking_at_keys)
    assert account.asked["/keys"] == pytest.approx(FEW * TEN_MINUTES / 20, rel=0.1)
    assert account.asked["/guardrails/assignments/keys"] == pytest.approx(10, abs=1)
    assert account.asked["/guardrails"] == FEW * 2, "their names may be five minutes old"


async def test_the_keys_of_hundreds_of_workspaces_cost_two_requests_a_second_at_most() -> None:
    account = await requests_in_ten_minutes(MANY, looking_at_keys)
    first = 2 * MANY
    assert first <= account.asked.total() <= first + 2 * TEN_MINUTES
    assert account.asked["/keys"] <= MANY * 3
    assert account.asked["/guardrails"] <= MANY * 3


async def test_the_figures_of_workspaces_in_view_cost_the_same_however_many_there_are() -> None:
    def looking(hub: FeedHub) -> list[Feed[Any] | None]:
        rows = [workspace_figures_feed(hub, space) for space in spaces[:20]]
        return [WORKSPACES.feed(hub, Scope()), *rows]

    costs = []
    for count in (20, MANY):
        account = Counting(count)
        async with watching(account, lambda hub: [workspaces_feed(hub, Scope())]) as (time, hub):
            await landed(time, hub)
            spaces = list(workspaces_feed(hub, Scope()).state.value or ())
        assert len(spaces) == count
        asked = (await requests_in_ten_minutes(count, looking)).asked
        costs.append({name: asked[name] for name in asked if name != "/workspaces"})
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
    account = await requests_in_ten_minutes(MANY, feeds)
    once = 2 * MANY + 10
    assert account.asked.total() <= once + TEN_MINUTES


async def test_a_long_list_that_fails_at_its_end_is_not_tried_again_and_again() -> None:
    """A feed that fails tries again soon, but not where each try costs hundreds of requests."""

    def looking(hub: FeedHub) -> list[Feed[Any] | None]:
        return [hub.feed(FeedKey("long"), read_all, cadence.KEYS)]

    async def read_all(client: GatewayClient) -> None:
        await fetch_keys(client, None)
        await client.credits.get()

    account = await requests_in_ten_minutes(MANY, looking, broken="/credits")
    assert account.asked["/keys"] <= MANY * 3


FOUR_LISTS = (keys_feed, WORKSPACES.feed, byok_feed, guardrails_feed)


def looking_at_four_lists(hub: FeedHub) -> list[Feed[Any] | None]:
    feeds = [feed(hub, Scope()) for feed in FOUR_LISTS]
    return [*feeds, figures_feed(hub, Scope()), bindings_feed(hub), workspaces_feed(hub, Scope())]


async def test_lists_that_are_opened_together_read_the_workspaces_once() -> None:
    account = Counting(FEW)
    async with watching(account, looking_at_four_lists) as (time, hub):
        await landed(time, hub)
        assert account.asked["/workspaces"] == 1
        assert account.asked["/keys"] == FEW + 1, "once each, and which one is the default"
        assert account.asked["/guardrails"] == FEW
        assert account.asked["/byok"] == FEW
        states = [feed(hub, Scope()).state for feed in FOUR_LISTS]
        assert [len(state.value or ()) for state in states] == [FEW, FEW, 0, 2 * FEW]
        await hub.refresh("")
        assert account.asked["/workspaces"] == 2, "once more after a write, for all of them"
