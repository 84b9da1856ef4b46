"""Files that a person asks for: private, whole, and nothing is overwritten unasked."""

from __future__ import annotations

import os
import stat
from datetime import datetime, timedelta, timezone
from pathlib import Path

import pytest

from gwtui.local.private_file import ExportError, export_name, export_path, write_export

NAME = "gwtui-keys-20261121T083000Z.csv"


def test_the_usual_name_tells_what_and_when_utc() -> None:
    moment = datetime(2026, 11, 21, 9, 30, tzinfo=timezone(timedelta(hours=1)))
    assert export_name("keys", moment, "csv") == NAME


def test_a_path_is_whole(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.chdir(tmp_path)
    assert export_path("~/a.csv", NAME) == tmp_path / "a.csv"
    assert export_path("  a.csv ", NAME) == tmp_path / "a.csv"
    for folder in (".", "~", str(tmp_path), f"{tmp_path}/"):
        assert export_path(folder, NAME) == tmp_path / NAME, folder


def test_unusable_paths_are_refused(tmp_path: Path) -> None:
    file, link = tmp_path / "a", tmp_path / "link"
    file.write_text("x")
    link.symlink_to(file)
    os.mkfifo(tmp_path / "pipe")
    for path, why in {
        "": "a path is needed",
        " ": "a path is needed",
        "a\0b": "a path is needed",
        "/nowhere/at/all": "there is no directory /nowhere/at",
        str(file / "b"): "there is no directory",
        str(link): "no plain file",
        str(tmp_path / "pipe"): "no plain file",
        "/dev/null": "no plain file",
        "~nobody-of-that-name/x": "nobody has that home directory",
        "x" * 5000: "too long",
    }.items():
        with pytest.raises(ExportError, match=f"(?i){why}"):
            export_path(path, NAME)


def test_a_file_is_new_private_and_replaced_only_when_asked(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    before = os.umask(0)
    try:
        write_export(path, "one\n")
        with pytest.raises(FileExistsError):
            write_export(path, "two\n")
        assert path.read_text() == "one\n"
        path.chmod(0o644)
        write_export(path, "two ü\ud800\n", replace=True)
    finally:
        os.umask(before)
    assert path.read_text() == "two ü?\n"
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert [one.name for one in tmp_path.iterdir()] == ["a.csv"]


def test_a_link_that_came_meanwhile_is_not_followed(tmp_path: Path) -> None:
    other, path = tmp_path / "other", tmp_path / "a.csv"
    other.write_text("kept")
    path.symlink_to(other)
    with pytest.raises(FileExistsError):
        write_export(path, "x", replace=True)
    assert other.read_text() == "kept"


def test_a_failed_export_says_why_and_leaves_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def no_space(_descriptor: int, _data: bytes) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("gwtui.local.private_file.write_all", no_space)
    with pytest.raises(ExportError, match="space"):
        write_export(tmp_path / "a", "x")
    assert not list(tmp_path.iterdir())
