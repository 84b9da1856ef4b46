"""Every operation is tried in both dialects."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest
import pytest_asyncio
from management_kit import CLOCK, connected

from gwtui.client.gateway import GatewayClient
from gwtui.contract.dialects import DIALECTS
from seeded_gateways import open_gateway


@pytest_asyncio.fixture(params=list(DIALECTS.values()), ids=list(DIALECTS))
async def client(request: pytest.FixtureRequest) -> AsyncIterator[GatewayClient]:
    """A client with a management key on a fresh gateway that speaks its dialect."""
    gateway = open_gateway(dialect=request.param, clock=CLOCK)
    try:
        async with connected(gateway, request.param) as one:
            yield one
    finally:
        gateway.close()
