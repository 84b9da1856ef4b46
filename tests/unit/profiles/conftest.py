"""What every test of profiles starts from: a gateway, a keyring or none, the file of profiles."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import keyring
import keyring.backends.fail
import pytest

from login_kit import Commands, DictRing, ServedGateway, served_gateway


@pytest.fixture(scope="module")
def gateway() -> Iterator[ServedGateway]:
    with served_gateway() as served:
        yield served


@pytest.fixture
def ring(monkeypatch: pytest.MonkeyPatch) -> DictRing:
    ring = DictRing()
    monkeypatch.setattr(keyring, "get_keyring", lambda: ring)
    return ring


@pytest.fixture
def no_ring(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(keyring, "get_keyring", keyring.backends.fail.Keyring)


@pytest.fixture
def gwtui(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Commands:
    return Commands(monkeypatch, capsys)


@pytest.fixture
def file(private_home: Path) -> Path:
    return private_home / "config" / "gwtui" / "profiles.toml"
