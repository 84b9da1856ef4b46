"""What tests of writes share: a gateway that is put back after each one, and a quick disk."""

from __future__ import annotations

import os
from collections.abc import Iterator

import pytest

from writes_kit import FaultWorld


@pytest.fixture(scope="module")
def world() -> Iterator[FaultWorld]:
    """A gateway with one of everything."""
    made = FaultWorld()
    yield made
    made.close()


@pytest.fixture
def quick_disk(monkeypatch: pytest.MonkeyPatch) -> None:
    """Durability is proved elsewhere; here it would be three waits per write."""
    monkeypatch.setattr(os, "fsync", lambda _: None)
