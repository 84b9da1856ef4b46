"""A recorder in a world whose clock is moved by hand, on a file of its own."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from recorder_kit import instance

from fake_clock import FakeClock
from gwtui.watch.history import archive as archive_module
from gwtui.watch.history.recorder import Recorder
from recorded_gateway_kit import Inline, World


@pytest.fixture(autouse=True)
def no_threads(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(archive_module, "ThreadPoolExecutor", Inline)


@pytest.fixture
def world() -> World:
    return World()


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "history" / "one.sqlite3"


@pytest.fixture
async def recorder(path: Path, world: World, time: FakeClock) -> AsyncIterator[Recorder]:
    async with instance(path, world, time) as running:
        yield running
