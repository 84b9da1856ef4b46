"""The starting state of every test of a headless command."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from headless_kit import FaultyGateway, Gwtui, faulty_gateway


@pytest.fixture
def place() -> FaultyGateway:
    return faulty_gateway()


@pytest.fixture
def gwtui(
    place: FaultyGateway, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Iterator[Gwtui]:
    yield Gwtui(monkeypatch, capsys, place)
    place.faults.clear()


@pytest.fixture
def state(private_home: Path) -> Path:
    return private_home / "state" / "gwtui"
