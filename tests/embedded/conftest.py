"""The gateways that most of these tests use."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator

import pytest
from gateway_kit import GatewayHarness, gateway_harness
from inference_gateway_kit import Caller, SharedGateway, caller, shared_gateway


@pytest.fixture
async def gate(request: pytest.FixtureRequest) -> AsyncIterator[GatewayHarness]:
    """A gateway with an empty account; ``CONTENT`` in the module selects the simulated world."""
    async with gateway_harness(content=getattr(request.module, "CONTENT", "empty")) as opened:
        yield opened


@pytest.fixture(scope="module")
def place() -> Iterator[SharedGateway]:
    """A gateway for requests to models that the tests of a module share."""
    with shared_gateway() as opened:
        yield opened


@pytest.fixture
async def me(place: SharedGateway) -> AsyncIterator[Caller]:
    """A key in a workspace of its own."""
    async with caller(place) as sender:
        yield sender
