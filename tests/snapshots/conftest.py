"""Snapshots: the accepted pictures, and one gateway per test."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from pictures import Pictures
from pytest_textual_snapshot import SVGImageExtension

from gwtui.ui.terminal.app import Notice
from harness import Harness


@pytest.fixture(autouse=True)
def lasting_notices(monkeypatch: pytest.MonkeyPatch) -> None:
    """Notices stay, however long the steps take."""
    monkeypatch.setattr(Notice, "time_left", 60.0)


@pytest.fixture
def pictures(snapshot: Any) -> Iterator[Pictures]:
    """The accepted pictures; a different one fails the test at its end."""
    pictures = Pictures(snapshot.use_extension(SVGImageExtension))
    yield pictures
    assert pictures.differing == []


@pytest.fixture
def empty(private_home: Path) -> Iterator[Harness]:
    harness = Harness(content="empty")
    yield harness
    harness.close()
