"""Fixtures of many unit tests: a clock moved by hand, and a history file."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from fake_clock import FakeClock
from history_kit import Desk, desk


@pytest.fixture
def time() -> FakeClock:
    return FakeClock()


@pytest.fixture
def history(tmp_path: Path) -> Iterator[Desk]:
    with desk(tmp_path / "h" / "one.sqlite3") as opened:
        yield opened
