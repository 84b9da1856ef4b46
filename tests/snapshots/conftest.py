"""What every snapshot shares: the accepted pictures, and one gateway per test."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from pictures import Pictures
from rich.console import Console
from syrupy.extensions.image import SVGImageSnapshotExtension

from gwtui.ui.terminal.app import Notice
from harness import Harness


@pytest.fixture
def pictures(snapshot: Any, monkeypatch: pytest.MonkeyPatch) -> Iterator[Pictures]:
    """The accepted pictures; one that differs fails the test at its end."""
    # By default a picture has a number of its own, made of a text of every segment.
    export = Console.export_svg
    monkeypatch.setattr(
        Console, "export_svg", lambda *args, **kw: export(*args, **{**kw, "unique_id": "terminal"})
    )
    # Notices stay, however long the steps take.
    monkeypatch.setattr(Notice, "time_left", 60.0)
    taken = Pictures(snapshot.use_extension(SVGImageSnapshotExtension))
    yield taken
    assert taken.differing == []


@pytest.fixture
def demo(private_home: Path) -> Iterator[Harness]:
    """A simulated gateway of its own."""
    one = Harness()
    yield one
    one.close()


@pytest.fixture
def empty(private_home: Path) -> Iterator[Harness]:
    """A gateway that holds nothing."""
    one = Harness(content="empty")
    yield one
    one.close()
