"""Keys that were never acknowledged: sealed, private, offered again, wiped; whatever is on disk."""

from __future__ import annotations

import errno
import json
import os
import stat
from datetime import timedelta
from pathlib import Path

import pytest
from pydantic import SecretStr

from gwtui.local import private_file
from gwtui.local.sealed_keys import (
    LIFETIME,
    DamagedSealError,
    ForeignSealError,
    SealedKeysFound,
    SealError,
    label_of,
    unseal,
)
from sealed_keys_kit import NOW, PLAN, TOKEN, URL, VALUE, Desk, reopened


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    return Desk(tmp_path / "state" / "gwtui" / "sealed-keys")


def test_a_sealed_key_is_found_again_by_whoever_has_the_token(desk: Desk) -> None:
    desk.seal().close()
    (key,) = reopened(desk).keys
    assert key.value.get_secret_value() == VALUE
    assert (key.name, key.label.key_hash, key.made_at) == ("ci", "hash-1", NOW)
    assert key.label.until == NOW + LIFETIME
    assert key.id == PLAN


def test_the_file_is_private_and_never_holds_value_or_token(desk: Desk) -> None:
    desk.seal(name="a telling name")
    assert stat.S_IMODE(desk.file.stat().st_mode) == 0o600
    for folder in (desk.folder, desk.folder.parent):
        assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    content = desk.file.read_bytes()
    for secret in (VALUE, VALUE[6:20], TOKEN.get_secret_value(), "a telling name"):
        assert secret.encode() not in content
        assert secret.encode().hex().encode() not in content


def test_no_two_seals_are_alike(desk: Desk) -> None:
    desk.seal().seal(PLAN[::-1], SecretStr(VALUE), name="ci", key_hash="hash-1", made_at=NOW)
    one, other = (json.loads(file.read_bytes()) for file in desk.files)
    for part in ("salt", "nonce", "mark", "sealed"):
        assert one[part] != other[part]


def test_no_repr_and_no_error_shows_a_secret(desk: Desk) -> None:
    keys = desk.seal()
    shown = f"{keys!r} {vars(keys)!r} {keys.find()!r}"
    with pytest.raises(ForeignSealError) as foreign:
        unseal(desk.file.read_bytes(), SecretStr("another-token"))
    shown += repr(foreign.value) + repr(foreign.value.__cause__)
    assert VALUE not in shown
    assert TOKEN.get_secret_value() not in shown


def test_sealing_twice_leaves_one_file(desk: Desk) -> None:
    desk.seal().seal(PLAN, SecretStr(VALUE), name="ci", key_hash="hash-1", made_at=NOW)
    assert desk.file.name == f"{PLAN}.sealed"


# What is changed, torn or foreign ---------------------------------------------------------------


def test_another_token_or_gateway_cannot_open_it_and_leaves_it_alone(desk: Desk) -> None:
    desk.seal().close()
    before = desk.file.read_bytes()
    assert reopened(desk, token=SecretStr("rotated")) == SealedKeysFound(foreign=1)
    assert reopened(desk, token=None) == SealedKeysFound(foreign=1)
    assert reopened(desk, gateway="https://other.example/api/v1") == SealedKeysFound(
        other_gateways=(URL,)
    )
    assert desk.keys(token=SecretStr("rotated")).sweep() == ()
    assert desk.file.read_bytes() == before


@pytest.mark.parametrize("field", ["gateway", "plan", "hash", "until", "nonce", "sealed"])
def test_whatever_is_changed_breaks_the_seal(desk: Desk, field: str) -> None:
    desk.seal().close()
    outside = json.loads(desk.file.read_bytes())
    other = {"until": "2031-01-01T00:00:00Z", "plan": PLAN[::-1]}
    # Digits: one case of hexadecimal letters is as good as the other.
    flipped = "0" if outside[field][0] != "0" else "1"
    outside[field] = other.get(field, flipped + outside[field][1:])
    with pytest.raises(DamagedSealError):
        unseal(json.dumps(outside).encode(), TOKEN)
    desk.file.write_text(json.dumps(outside))
    assert reopened(desk).keys == ()


def test_a_file_of_another_name_is_not_offered(desk: Desk) -> None:
    desk.seal().close()
    desk.file.rename(desk.folder / f"{PLAN[::-1]}.sealed")
    assert reopened(desk) == SealedKeysFound(damaged=1)


def test_a_file_cut_anywhere_crashes_nothing(desk: Desk) -> None:
    desk.seal().close()
    whole = desk.file.read_bytes()
    for length in range(len(whole) - 1):
        with pytest.raises(SealError):
            unseal(whole[:length], TOKEN)
    desk.file.write_bytes(whole[:100])
    assert reopened(desk) == SealedKeysFound(damaged=1)
    assert desk.keys().sweep() == ()


GARBAGE = [
    b"",
    b"\0" * 300,
    b"\xff\xfe",
    b"null",
    b"[1]",
    b"{}",
    b'{"v": 1}',
    b'{"v": 2, "gateway": "x"}',
    b'{"v": 1, "gateway": 3, "plan": [], "hash": null, "until": 5}',
    b'{"v": 1, "gateway": "' + URL.encode() + b'", "plan": "p", "hash": "", "until": "soon"}',
    b'{"v": 1, "gateway": "' + URL.encode() + b'", "plan": "p", "hash": "",'
    b' "until": "2027-01-01T00:00:00Z", "salt": 7, "nonce": "", "mark": "zz", "sealed": {}}',
    b"[" * 100_000,
]


@pytest.mark.parametrize("content", GARBAGE, ids=range(len(GARBAGE)))
def test_garbage_is_counted_and_wiped_only_when_its_time_is_over(
    desk: Desk, content: bytes
) -> None:
    desk.seal().close()
    odd = desk.folder / "odd.sealed"
    odd.write_bytes(content)
    os.utime(odd, (NOW.timestamp(), NOW.timestamp()))
    found = reopened(desk)
    assert (len(found.keys), found.damaged) == (1, 1)
    assert desk.keys().sweep() == ()
    assert odd.exists()
    desk.now = NOW + timedelta(days=365)
    desk.keys().sweep()
    assert desk.files == []


def test_what_is_not_a_file_of_ours_is_never_touched(desk: Desk, tmp_path: Path) -> None:
    desk.seal().close()
    precious = tmp_path / "precious"
    precious.write_text("keep me")
    (desk.folder / "notes.txt").write_text("mine")
    (desk.folder / "link.sealed").symlink_to(precious)
    (desk.folder / "folder.sealed").mkdir()
    os.mkfifo(desk.folder / "pipe.sealed")
    assert len(reopened(desk).keys) == 1
    desk.now = NOW + timedelta(days=365)
    desk.keys().sweep()
    assert [file.name for file in desk.files] == [
        "folder.sealed",
        "link.sealed",
        "notes.txt",
        "pipe.sealed",
    ]
    assert precious.read_text() == "keep me"


def test_an_unreadable_file_is_damaged(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    desk.seal().close()

    def refuse(_path: Path) -> bytes:
        raise PermissionError(errno.EACCES, "Permission denied")

    monkeypatch.setattr(private_file, "read", refuse)
    assert reopened(desk) == SealedKeysFound(damaged=1)
    assert desk.keys().sweep() == ()


# Its end ----------------------------------------------------------------------------------------


def test_acknowledging_overwrites_and_removes(desk: Desk) -> None:
    keys = desk.seal()
    content = desk.file.read_bytes()
    witness = os.open(desk.file, os.O_RDONLY)
    keys.wipe(PLAN)
    assert desk.files == []
    assert os.fstat(witness).st_size == 0, "whoever holds the file open has nothing of it"
    os.close(witness)
    assert content
    keys.wipe(PLAN)
    assert keys.until(PLAN) is None


def test_what_is_overwritten_is_the_old_content(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    keys = desk.seal()
    size = desk.file.stat().st_size
    seen: list[bytes] = []
    cut = os.ftruncate

    def ftruncate(descriptor: int, length: int) -> None:
        seen.append(os.pread(descriptor, 10_000, 0))
        cut(descriptor, length)

    monkeypatch.setattr(os, "ftruncate", ftruncate)
    keys.wipe(PLAN)
    assert seen == [bytes(size)]


def test_a_day_later_it_is_wiped_and_named(desk: Desk) -> None:
    desk.seal(name="ci").close()
    desk.seal(plan="a" * 32, token=SecretStr("rotated")).close()
    desk.seal(plan="b" * 32, gateway="https://other.example/api/v1").close()
    desk.now = NOW + LIFETIME - timedelta(seconds=1)
    assert desk.keys().sweep() == ()
    assert len(desk.files) == 3
    desk.now = NOW + LIFETIME
    assert sorted(desk.keys().sweep()) == ["ci", "hash-1"]
    assert desk.files == []


def test_a_label_can_be_read_without_the_token(desk: Desk) -> None:
    desk.seal()
    label = label_of(desk.file.read_bytes())
    assert (label.gateway, label.plan, label.key_hash) == (URL, PLAN, "hash-1")


@pytest.mark.parametrize("field", ["gateway", "plan", "hash", "until"])
def test_a_label_has_no_field_that_is_no_text(desk: Desk, field: str) -> None:
    desk.seal()
    whole = json.loads(desk.file.read_bytes())
    with pytest.raises(DamagedSealError):
        label_of(json.dumps({**whole, field: 5}).encode())
