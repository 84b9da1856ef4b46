"""Where nothing can be sealed: it is found out before, said in words, and leaves nothing behind."""

from __future__ import annotations

import errno
import os
import resource
import stat
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from pydantic import SecretStr

from gwtui.local.sealed_keys import SealedKeysFound, SealError
from sealed_keys_kit import PLAN, VALUE, Desk, reopened


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    return Desk(tmp_path / "state" / "gwtui" / "sealed-keys")


def test_a_trial_leaves_nothing_behind(desk: Desk) -> None:
    assert desk.keys().trouble() is None
    assert desk.files == []


def test_without_a_token_nothing_can_be_sealed(desk: Desk) -> None:
    assert desk.keys(token=None).trouble() == "there is no token to seal it with"
    with pytest.raises(SealError):
        desk.seal(token=None)


def test_without_the_library_nothing_can_be_sealed(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    desk.seal().close()
    monkeypatch.delitem(sys.modules, "gwtui.local.seal_cipher")
    monkeypatch.setitem(sys.modules, "cryptography.hazmat.primitives.ciphers.aead", None)
    assert "cryptography" in (desk.keys().trouble() or "")
    with pytest.raises(SealError, match="cryptography"):
        desk.seal(plan="a" * 32)
    assert reopened(desk).damaged == 1


@pytest.mark.skipif(os.geteuid() != 0, reason="needs to give a file away")
def test_a_directory_of_somebody_else_is_not_used(desk: Desk) -> None:
    desk.folder.mkdir(parents=True)
    os.chown(desk.folder, 12345, 12345)
    assert "another user" in (desk.keys().trouble() or "")


def test_a_file_in_the_directory_s_place_is_said(desk: Desk) -> None:
    desk.folder.parent.mkdir(parents=True)
    desk.folder.write_text("")
    assert str(desk.folder) in (desk.keys().trouble() or "")
    assert reopened(desk) == SealedKeysFound()


def test_an_open_directory_is_closed(desk: Desk) -> None:
    desk.folder.mkdir(parents=True, mode=0o755)
    desk.seal()
    assert stat.S_IMODE(desk.folder.stat().st_mode) == 0o700


@contextmanager
def tiny_files() -> Iterator[None]:
    """The kernel lets no file of this process grow beyond 1,000 bytes.

    Not the one either that the outcomes of the tests may go to: no report is due meanwhile.
    """
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1000, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


def test_a_trial_finds_out_that_nothing_can_be_written(desk: Desk) -> None:
    with tiny_files():
        trouble = desk.keys().trouble()
    left = desk.files
    assert trouble == "File too large"
    assert left == []


@pytest.mark.parametrize("call", ["write", "fsync"])
def test_a_full_disk_is_an_error_in_words_and_leaves_no_torn_file(
    desk: Desk, monkeypatch: pytest.MonkeyPatch, call: str
) -> None:
    def full(*_given: object) -> int:
        raise OSError(errno.ENOSPC, "No space left on device")

    desk.folder.mkdir(parents=True)
    with monkeypatch.context() as patch:
        patch.setattr(os, call, full)
        assert desk.keys().trouble() == "No space left on device"
        with pytest.raises(SealError, match="No space left on device") as error:
            desk.seal()
    assert VALUE not in repr(error.value)
    assert desk.files == []


def test_a_value_that_is_far_too_long_is_refused(desk: Desk) -> None:
    with pytest.raises(SealError, match="too long"):
        desk.keys().seal(PLAN, SecretStr("x" * 400_000), name="", key_hash="", made_at=None)


@pytest.mark.parametrize("plan", ["../../evil", "", "a/b", "x" * 65, "a\0b"])
def test_an_id_is_no_path(desk: Desk, plan: str) -> None:
    with pytest.raises(SealError):
        desk.seal(plan=plan)
