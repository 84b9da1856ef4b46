"""What every snapshot shares: two sizes, one run for several looks, one gateway per test."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partialmethod
from pathlib import Path

import pytest
from rich.console import Console
from shared_runs import SIZES, group_of, keep_groups_together, picture_taker

from dashboard_kit import Demo


def pytest_configure(config: pytest.Config) -> None:
    """Name the marker of this folder."""
    config.addinivalue_line(
        "markers", "one_app(places): one app can draw these: name -> (what to open, what to do)"
    )


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """One worker draws what differs only in its look."""
    keep_groups_together(items)


@pytest.fixture(autouse=True)
def one_run_for_all_looks(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """An app that is drawn in several themes or sizes is started once."""
    if group_of(request.node):
        monkeypatch.setattr("textual._doc.take_svg_screenshot", picture_taker(request.node))


@pytest.fixture(autouse=True)
def pictures_unnumbered(monkeypatch: pytest.MonkeyPatch) -> None:
    """A picture has no number of its own: it is made of a text of every segment, and left out."""
    export = partialmethod(Console.export_svg, unique_id="terminal-0")
    monkeypatch.setattr(Console, "export_svg", export)


@pytest.fixture(params=SIZES, ids=lambda size: f"{size[0]}x{size[1]}")
def size(request: pytest.FixtureRequest) -> tuple[int, int]:
    """The size of the terminal."""
    columns, rows = request.param
    return columns, rows


@pytest.fixture
def demo(private_home: Path) -> Iterator[Demo]:
    """A simulated gateway of its own."""
    one = Demo()
    yield one
    one.close()
