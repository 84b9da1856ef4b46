"""What every snapshot shares: two sizes, two themes, one gateway per test."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from both_themes import THEMES, keep_pairs_together, picture_taker, theme_of

from dashboard_kit import Demo

SIZES = [(80, 24), (120, 40)]


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """One worker draws what differs only in the theme."""
    keep_pairs_together(items)


@pytest.fixture(autouse=True)
def one_run_for_both_themes(
    request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An app that is drawn in both themes is started once."""
    if theme_of(request.node):
        monkeypatch.setattr("textual._doc.take_svg_screenshot", picture_taker(request.node))


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
