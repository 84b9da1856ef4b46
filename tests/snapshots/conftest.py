"""What every snapshot shares: two sizes, two themes, one gateway per test."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from dashboard_kit import Demo

SIZES = [(80, 24), (120, 40)]
THEMES = ["gwtui-dark", "gwtui-light"]


@pytest.fixture(params=SIZES, ids=lambda size: f"{size[0]}x{size[1]}")
def size(request: pytest.FixtureRequest) -> tuple[int, int]:
    """The size of the terminal."""
    columns, rows = request.param
    return columns, rows


@pytest.fixture(params=THEMES)
def theme(request: pytest.FixtureRequest) -> str:
    """The colours."""
    return str(request.param)


@pytest.fixture
def demo(private_home: Path) -> Iterator[Demo]:
    """A simulated gateway of its own."""
    one = Demo()
    yield one
    one.close()
