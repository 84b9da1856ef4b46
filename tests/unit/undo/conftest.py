"""The gateway that what is undone was done at."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from writes_kit import FaultWorld


@pytest.fixture(scope="module")
def shared() -> Iterator[FaultWorld]:
    world = FaultWorld()
    yield world
    world.close()


@pytest.fixture
def world(shared: FaultWorld) -> FaultWorld:
    shared.begin()
    return shared
