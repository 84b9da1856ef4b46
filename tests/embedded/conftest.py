"""The gateway that most of these tests ask."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest
from gateway_kit import Bench, bench


@pytest.fixture
async def gate(request: pytest.FixtureRequest) -> AsyncIterator[Bench]:
    """A gateway with an empty account; a module with ``CONTENT = "simulated"`` gets the world."""
    async with bench(content=getattr(request.module, "CONTENT", "empty")) as opened:
        yield opened
