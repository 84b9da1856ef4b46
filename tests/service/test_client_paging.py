"""Complete lists from offset pages, while rows come and go."""

from __future__ import annotations

import asyncio
import gc
import random
from collections.abc import Callable
from typing import Any

import httpx
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from service_kit import data, refusal, rig

from gwtui.client import errors, paging, transport
from gwtui.client.answers import read_json
from gwtui.client.call import Answer, Call
from gwtui.client.paging import Listing, Pager
from gwtui.contract.keys import ApiKey


class PagedService:
    """A list in which rows appear and vanish between two pages."""

    def __init__(
        self,
        rows: list[Any],
        *,
        page: int,
        counts: bool = False,
        between: Callable[[PagedService], None] = lambda _: None,
        lag: Callable[[], int] = lambda: 0,
    ) -> None:
        self.rows = rows
        self.page = page
        self.counts = counts
        self.between = between
        self.lag = lag
        self.calls: list[Call] = []

    async def call(self, call: Call) -> Answer:
        await self._wait()
        if self.calls:
            self.between(self)
        self.calls.append(call)
        offset = int(call.query["offset"])
        size = min(self.page, int(call.query.get("limit", self.page)))
        body: dict[str, Any] = {"data": self.rows[offset : offset + size]}
        if self.counts:
            body["total_count"] = len(self.rows)
        await self._wait()
        return Answer(body)

    async def _wait(self) -> None:
        for _ in range(self.lag()):
            await asyncio.sleep(0)


def rows(count: int) -> list[Any]:
    return [{"hash": f"h{number}"} for number in range(count)]


async def read_all(
    service: PagedService, page: int | None = None, *, limit: bool = False
) -> Listing[ApiKey]:
    call = Call("GET", "/keys")
    pager = Pager(service, call, ApiKey, "hash", page=page or service.page, sends_limit=limit)
    return await pager.read_all()


def hashes(listing: Listing[ApiKey]) -> list[str | None]:
    return [key.hash for key in listing.items]


@pytest.mark.parametrize("counts", [False, True])
@pytest.mark.parametrize("count", [0, 1, 9, 10, 11, 19, 20, 21, 95])
async def test_a_still_list_is_read_whole_and_in_order(count: int, counts: bool) -> None:
    service = PagedService(rows(count), page=10, counts=counts)
    listing = await read_all(service, limit=counts)
    assert hashes(listing) == [f"h{number}" for number in range(count)]
    assert listing.complete
    assert listing.total == (count if counts else None)
    pages = count // 9 + 1
    assert len(service.calls) <= pages + (0 if counts else pages // 4)


@settings(max_examples=300)
@given(
    seed=st.integers(0, 2**32),
    count=st.integers(0, 60),
    page=st.integers(2, 12),
    counts=st.booleans(),
    pace=st.integers(1, 6),
    slowest=st.sampled_from([0, 7]),
)
async def test_every_row_that_stays_is_read_once_while_others_come_and_go(
    seed: int, count: int, page: int, counts: bool, pace: int, slowest: int
) -> None:
    chance = random.Random(seed)
    ever = {row["hash"] for row in rows(count)}
    born = 0

    def between(service: PagedService) -> None:
        nonlocal born
        if len(service.calls) > 25:
            return
        for _ in range(chance.randrange(pace + 1)):
            if service.rows and chance.random() < 0.6:
                service.rows.pop(chance.randrange(len(service.rows)))
            else:
                born += 1
                ever.add(f"new{born}")
                service.rows.insert(0, {"hash": f"new{born}"})

    service = PagedService(
        rows(count),
        page=page,
        counts=counts,
        between=between,
        lag=lambda: chance.randrange(slowest + 1),
    )
    listing = await read_all(service, limit=counts)
    result = hashes(listing)
    assert len(result) == len(set(result))
    assert set(result) <= ever
    stayed = {row["hash"] for row in service.rows if row["hash"].startswith("h")}
    if listing.complete:
        assert stayed <= set(result)
    assert len(service.calls) < 200


async def test_a_list_of_more_than_a_thousand_pages_is_read_whole() -> None:
    listing = await read_all(PagedService(rows(2_500), page=3))
    assert (len(listing.items), listing.complete) == (2_500, True)


async def test_the_newer_reading_of_a_row_wins_in_its_first_place() -> None:
    def rename(service: PagedService) -> None:
        service.rows[9] = {"hash": "h9", "name": "newer"}

    listing = await read_all(PagedService(rows(12), page=10, between=rename))
    assert hashes(listing)[9] == "h9"
    assert listing.items[9].name == "newer"


async def test_the_pages_of_a_long_list_are_asked_for_before_their_turn() -> None:
    under_way = most = 0

    class Slow(PagedService):
        async def call(self, call: Call) -> Answer:
            nonlocal under_way, most
            under_way += 1
            most = max(most, under_way)
            await asyncio.sleep(0.01)
            under_way -= 1
            return await super().call(call)

    service = Slow(rows(900), page=10, counts=True)
    first, second = await asyncio.gather(read_all(service, limit=True), read_all(service))
    assert first.items == second.items
    assert paging.MOST_AHEAD <= most <= paging.MOST_AHEAD + 2  # plus one per list
    offsets = [call.query["offset"] for call in service.calls if "limit" in call.query]
    assert sorted(offsets) == list(range(0, 899, 9))


async def test_prefetched_pages_end_with_the_reading() -> None:
    class Failing(PagedService):
        async def call(self, call: Call) -> Answer:
            if int(call.query["offset"]) > 20:
                raise errors.NoAnswerError("gone")
            await asyncio.sleep(0)
            return await super().call(call)

    service = Failing(rows(95), page=10, counts=True)
    with pytest.raises(errors.NoAnswerError):
        await read_all(service, limit=True)
    assert {task.get_name() for task in asyncio.all_tasks()} & {"page ahead"} == set()


async def test_a_page_that_comes_again_byte_for_byte_is_not_read_again(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    world = [{"hash": f"k{number}", "name": "a"} for number in range(250)]
    reads = 0

    def counted(*arguments: Any) -> Any:
        nonlocal reads
        reads += 1
        return read_json(*arguments)

    def answer(request: httpx.Request) -> httpx.Response:
        offset = int(request.url.params["offset"])
        return data(world[offset : offset + 100])

    monkeypatch.setattr(transport, "read_json", counted)
    client = rig(answer, max_answer=100_000).client
    first = await client.keys.list()
    assert reads == 3
    again = await client.keys.list()
    assert reads == 3
    assert all(item is other for item, other in zip(first.items, again.items, strict=True))
    world[150] = {"hash": "k150", "name": "b"}
    changed = await client.keys.list()
    assert reads == 4
    assert [key.name for key in changed.items].index("b") == 150
    assert changed.items[99] is first.items[99]
    del first, again, changed
    gc.collect()
    assert len((await client.keys.list()).items) == 250
    assert reads == 7


async def test_a_service_that_ignores_offset_cannot_hold_the_reader() -> None:
    class Stuck(PagedService):
        async def call(self, call: Call) -> Answer:
            self.calls.append(call)
            return Answer({"data": self.rows[: self.page]})

    service = Stuck(rows(30), page=10)
    listing = await read_all(service)
    assert len(listing.items) == 10
    assert not listing.complete
    assert len(service.calls) <= 5


async def test_a_list_that_moves_for_ever_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(paging, "MAX_REQUESTS", 20)
    fresh = iter(range(10**9))

    def replace(service: PagedService) -> None:
        service.rows = [{"hash": f"x{next(fresh)}"} for _ in range(50)]

    service = PagedService(rows(50), page=10, between=replace)
    listing = await read_all(service)
    assert not listing.complete
    assert len(service.calls) == 20


@pytest.mark.parametrize(
    ("bound", "value", "pages"),
    [("MAX_ROWS", 25, 3), ("MAX_BYTES", 5_000, 5)],
)
async def test_a_list_without_an_end_is_bounded(
    monkeypatch: pytest.MonkeyPatch, bound: str, value: int, pages: int
) -> None:
    class Endless(PagedService):
        async def call(self, call: Call) -> Answer:
            self.calls.append(call)
            offset = int(call.query["offset"])
            return Answer({"data": rows(offset + self.page)[offset:]}, size=1_000)

    monkeypatch.setattr(paging, bound, value)
    service = Endless([], page=10)
    listing = await read_all(service)
    assert len(listing.items) == 10 + 9 * (pages - 1)
    assert not listing.complete
    assert len(service.calls) <= pages + paging.MOST_AHEAD


@pytest.mark.parametrize("claimed", [0, 25, 10**12, True, -1, "35", 35.0, None, [35]])
async def test_a_total_that_lies_is_noticed_and_nothing_is_lost(claimed: Any) -> None:
    class Liar(PagedService):
        async def call(self, call: Call) -> Answer:
            answer = await super().call(call)
            return Answer({**answer.json, "total_count": claimed})

    service = Liar(rows(35), page=10)
    listing = await read_all(service, limit=True)
    is_count = type(claimed) is int and claimed >= 0
    assert len(listing.items) == 35
    assert (listing.complete, listing.total) == (not is_count, claimed if is_count else None)
    assert len(service.calls) < 15


async def test_a_service_with_smaller_pages_than_asked_for_is_read_whole() -> None:
    service = PagedService(rows(95), page=20, counts=True)
    listing = await read_all(service, page=100, limit=True)
    assert len(listing.items) == 95
    assert listing.complete


async def test_a_service_that_sends_everything_at_once_is_believed() -> None:
    service = PagedService(rows(600), page=10_000)
    listing = await read_all(service, page=500)
    assert len(listing.items) == 600
    assert listing.complete
    assert len(service.calls) == 1


async def test_rows_without_identity_are_kept_and_strange_ones_counted() -> None:
    strange: list[Any] = [{"name": "a"}, {"name": "a"}, {"hash": 7}, None, 3, "x", [], {"hash": ""}]
    service = PagedService([*rows(7), *strange, *rows(9)[7:]], page=5)
    listing = await read_all(service)
    expected = [*(f"h{number}" for number in range(7)), None, None, None, "", "h7", "h8"]
    assert hashes(listing) == expected
    assert listing.unreadable == 4
    assert listing.complete


async def test_a_page_that_fails_fails_the_list_instead_of_shortening_it() -> None:
    def answer(request: httpx.Request) -> httpx.Response:
        if request.url.params["offset"] == "0":
            return data(rows(100))
        return refusal(500)

    with pytest.raises(errors.ServerError):
        await rig(answer, max_answer=100_000).client.keys.list()


async def test_providers_come_in_one_answer() -> None:
    answer = data([{"slug": "a"}, {"slug": "a"}, 7, {"slug": "b"}])
    listing = await rig(answer).client.providers.list()
    assert [provider.slug for provider in listing.items] == ["a", "b"]
    assert (listing.unreadable, listing.complete) == (1, True)
