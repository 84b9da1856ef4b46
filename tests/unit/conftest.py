"""Fixtures of many unit tests: a manual clock, a history file, a keyring in memory."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import keyring
import pytest

from fake_clock import FakeClock
from history_kit import HistoryFile, open_history
from login_kit import DictRing
from writes_kit import FaultWorld


@pytest.fixture
def time() -> FakeClock:
    return FakeClock()


@pytest.fixture
def history(tmp_path: Path) -> Iterator[HistoryFile]:
    with open_history(tmp_path / "h" / "one.sqlite3") as opened:
        yield opened


@pytest.fixture(scope="module")
def fault_world() -> Iterator[FaultWorld]:
    """A gateway with one resource of each kind."""
    world = FaultWorld()
    yield world
    world.close()


@pytest.fixture
def ring(monkeypatch: pytest.MonkeyPatch) -> DictRing:
    ring = DictRing()
    monkeypatch.setattr(keyring, "get_keyring", lambda: ring)
    return ring
