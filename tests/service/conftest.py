"""Tests of writes: a gateway that is reset after each test, and a fast disk."""

from __future__ import annotations

import os
from collections.abc import Iterator

import pytest

from writes_kit import FaultWorld


@pytest.fixture(scope="module")
def world() -> Iterator[FaultWorld]:
    """A gateway with one resource of each kind."""
    fault_world = FaultWorld()
    yield fault_world
    fault_world.close()


@pytest.fixture
def quick_disk(monkeypatch: pytest.MonkeyPatch) -> None:
    """Skip fsync, which would wait three times per write; durability is tested elsewhere."""
    monkeypatch.setattr(os, "fsync", lambda _: None)
