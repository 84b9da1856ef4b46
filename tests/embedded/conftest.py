"""The gateways that most of these tests use."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator

import pytest
from gateway_kit import Bench, bench
from inference_gateway_kit import Caller, Room, caller, room


@pytest.fixture
async def gate(request: pytest.FixtureRequest) -> AsyncIterator[Bench]:
    """A gateway with an empty account; ``CONTENT`` in the module selects the simulated world."""
    async with bench(content=getattr(request.module, "CONTENT", "empty")) as opened:
        yield opened


@pytest.fixture(scope="module")
def place() -> Iterator[Room]:
    """A gateway for requests to models that the tests of a module share."""
    with room() as opened:
        yield opened


@pytest.fixture
async def me(place: Room) -> AsyncIterator[Caller]:
    """A key in a workspace of its own."""
    async with caller(place) as sender:
        yield sender
