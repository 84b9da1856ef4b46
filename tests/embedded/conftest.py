"""The gateway that most of these tests use."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest
from gateway_kit import Bench, bench


@pytest.fixture
async def gate(request: pytest.FixtureRequest) -> AsyncIterator[Bench]:
    """A gateway with an empty account; ``CONTENT`` in the module selects the simulated world."""
    async with bench(content=getattr(request.module, "CONTENT", "empty")) as opened:
        yield opened
