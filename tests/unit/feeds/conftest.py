"""One feed on a scripted source, and time that a test moves."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest
from feed_kit import CADENCE, Source

from fake_clock import FakeClock
from gwtui.watch.feed import Feed


@pytest.fixture
def source() -> Source:
    return Source()


@pytest.fixture
async def feed(time: FakeClock, source: Source) -> AsyncIterator[Feed[int]]:
    made = Feed("credits", source, CADENCE, clock=time.clock)
    yield made
    await made.close()
