"""The endpoints of every model: shown as they arrive, resumed after an interruption."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from types import SimpleNamespace
from typing import Any, cast

import pytest

from fake_clock import FakeClock
from gwtui.client.errors import InvalidRequestError, NotFoundError, RateLimitedError, StatusError
from gwtui.client.gateway import GatewayClient
from gwtui.client.request_log import count_request
from gwtui.contract.models import ModelEndpoints
from gwtui.contract.request import Problem
from gwtui.watch.feed import Feed, FeedState
from gwtui.watch.feeds.models import EndpointRow, Rows, every_endpoint_feed
from gwtui.watch.hub import FeedHub, Scope
from gwtui.watch.reads import CONCURRENCY
from resource_samples import endpoint_body, model, model_endpoints

MODELS = 12


class Catalog:
    """Replaces the client: each model arrives after a second, or as a test says."""

    def __init__(self, time: FakeClock) -> None:
        self.catalog = self
        self.connection = SimpleNamespace(token="a token")
        self.names = [f"maker/model-{number:02}" for number in range(MODELS)]
        self.requests: list[str] = []
        self.running = self.most = 0
        self.broken: dict[str, Exception] = {}
        self._time = time

    async def models(self) -> Any:
        count_request()
        result = tuple(model(id=name, name=name.upper()) for name in self.names)
        return SimpleNamespace(items=result)

    async def endpoints(self, name: str) -> ModelEndpoints:
        count_request()
        self.requests.append(name)
        self.running += 1
        self.most = max(self.most, self.running)
        await self._time.sleep(1)
        self.running -= 1
        if name in self.broken:
            raise self.broken[name]
        return model_endpoints(endpoint_body(), id=name, name=name.upper())


@pytest.fixture
def catalog(time: FakeClock) -> Catalog:
    return Catalog(time)


@pytest.fixture
async def hub(time: FakeClock, catalog: Catalog) -> AsyncIterator[FeedHub]:
    feed_hub = FeedHub(cast("GatewayClient", catalog), time.clock)
    yield feed_hub
    await feed_hub.close()


class Viewer:
    def __init__(self, feed: Feed[Rows]) -> None:
        self.states: list[FeedState[Rows]] = []
        self.leave = feed.watch(self.states.append)

    @property
    def last(self) -> FeedState[Rows]:
        return self.states[-1]

    @property
    def models(self) -> list[str | None]:
        return [row.model_id for row in self.last.shown or ()]


async def test_rows_appear_as_they_come_a_few_requests_at_a_time(
    hub: FeedHub, catalog: Catalog, time: FakeClock
) -> None:
    viewer = Viewer(every_endpoint_feed(hub, Scope()))
    await time.advance(1.5)
    assert len(viewer.models) < MODELS
    assert viewer.last.refreshing
    assert viewer.last.progress.endswith(f"of {MODELS} models read")
    await time.advance(5)
    assert viewer.models == catalog.names
    assert (viewer.last.progress, viewer.last.refreshing) == ("", False)
    assert catalog.most == CONCURRENCY
    rows = cast("tuple[EndpointRow, ...]", viewer.last.value)
    assert rows[0].model_name == "MAKER/MODEL-00"
    assert rows[-1].read_at is not None
    assert rows[0].read_at < rows[-1].read_at


async def test_reading_pauses_without_viewers_and_resumes(
    hub: FeedHub, catalog: Catalog, time: FakeClock
) -> None:
    feed = every_endpoint_feed(hub, Scope())
    await time.advance(60)
    assert catalog.requests == []
    viewer = Viewer(feed)
    await time.advance(0.5)
    viewer.leave()
    await time.advance(60)
    before = len(catalog.requests)
    assert before == CONCURRENCY  # pending reads
    viewer = Viewer(feed)
    await time.advance(1.5)
    assert viewer.last.progress
    assert len(viewer.models) < MODELS
    await time.advance(10)
    assert sorted(catalog.requests) == catalog.names
    assert viewer.models == catalog.names


async def test_retry_after_is_obeyed_and_answered_models_are_not_read_again(
    hub: FeedHub, catalog: Catalog, time: FakeClock
) -> None:
    stopped = catalog.names[5]
    catalog.broken[stopped] = RateLimitedError("slow down", retry_after=60)
    viewer = Viewer(every_endpoint_feed(hub, Scope()))
    await time.advance(10)
    assert isinstance(viewer.last.error, RateLimitedError)
    assert 0 < len(viewer.models) < MODELS
    assert viewer.last.progress
    before_pause = list(catalog.requests)
    await time.advance(45)
    assert catalog.requests == before_pause
    catalog.broken.clear()
    await time.advance(60)
    assert viewer.models == catalog.names
    assert viewer.last.error is None
    after_pause = catalog.requests[len(before_pause) :]
    answered = set(before_pause) - {stopped}
    assert stopped in after_pause
    assert not answered & set(after_pause)


async def test_a_model_that_is_gone_or_refused_does_not_fail_the_others(
    hub: FeedHub, catalog: Catalog, time: FakeClock
) -> None:
    catalog.broken[catalog.names[0]] = StatusError("not for you", status=403)
    catalog.broken[catalog.names[6]] = NotFoundError("gone", status=404)
    catalog.names.insert(3, "without-a-slash")
    catalog.broken["without-a-slash"] = InvalidRequestError([Problem("model_id", "has no slash")])
    state = await _refreshed(every_endpoint_feed(hub, Scope()), time)
    assert [row.model_id for row in state.value or ()] == [
        name for name in catalog.names if name not in catalog.broken
    ]
    assert state.list_gaps.unreadable_rows == 2
    assert state.error is None


async def test_a_forbidden_key_stops_reading(
    hub: FeedHub, catalog: Catalog, time: FakeClock
) -> None:
    for name in catalog.names:
        catalog.broken[name] = StatusError("not for you", status=403)
    state = await _refreshed(every_endpoint_feed(hub, Scope()), time)
    assert isinstance(state.error, StatusError)
    assert len(catalog.requests) <= 2 * CONCURRENCY


async def _refreshed(feed: Feed[Rows], time: FakeClock) -> FeedState[Rows]:
    reading = asyncio.ensure_future(feed.refresh())
    await time.advance(20)
    return await reading
