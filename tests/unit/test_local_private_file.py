"""Exports are new private files, and their default names say what and when."""

from __future__ import annotations

import os
import stat
from datetime import datetime, timedelta, timezone
from pathlib import Path

import pytest

from gwtui.local.private_file import create, export_name


def test_default_file_names_contain_title_and_utc_time() -> None:
    moment = datetime(2026, 11, 21, 9, 30, tzinfo=timezone(timedelta(hours=1)))
    assert export_name("keys", moment, "csv") == "gwtui-keys-20261121T083000Z.csv"


def test_a_new_file_is_private_and_replaces_nothing(tmp_path: Path) -> None:
    path, link = tmp_path / "a.csv", tmp_path / "b.csv"
    link.symlink_to(path)
    before = os.umask(0)
    try:
        create(path, b"first")
        for existing in (path, link):
            with pytest.raises(FileExistsError):
                create(existing, b"second")
    finally:
        os.umask(before)
    assert path.read_bytes() == b"first"
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


def test_a_failed_write_leaves_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def no_space(_descriptor: int, _data: bytes) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("gwtui.local.private_file.write_all", no_space)
    with pytest.raises(OSError, match="space"):
        create(tmp_path / "a", b"x")
    assert not list(tmp_path.iterdir())
