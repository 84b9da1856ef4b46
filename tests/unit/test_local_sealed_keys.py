"""Keys that were never acknowledged: sealed, private, offered again, wiped; whatever is on disk."""

from __future__ import annotations

import errno
import json
import os
import resource
import stat
import subprocess
import sys
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from pydantic import SecretStr

from gwtui.local import private_file
from gwtui.local.seal import DamagedSealError, ForeignSealError, SealError, label_of, unseal
from gwtui.local.sealed_keys import LIFETIME, Found, SealedKeys

NOW = datetime(2026, 11, 21, 7, 0, tzinfo=UTC)
URL = "https://gateway.example/api/v1"
TOKEN = SecretStr("management-token-1")
VALUE = "gw-v1-" + "5ec7e7" * 10
PLAN = "0123456789abcdef0123456789abcdef"


class Desk:
    """One person's directory, seen by as many processes as the test likes."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.now = NOW

    def keys(self, token: SecretStr | None = TOKEN, gateway: str = URL) -> SealedKeys:
        return SealedKeys(self.folder, gateway, token, lambda: self.now)

    def seal(self, plan: str = PLAN, name: str = "ci", **where: Any) -> SealedKeys:
        keys = self.keys(**where)
        keys.seal(plan, SecretStr(VALUE), name=name, key_hash="hash-1", made_at=NOW)
        return keys

    @property
    def files(self) -> list[Path]:
        return sorted(self.folder.iterdir())

    @property
    def file(self) -> Path:
        (file,) = self.files
        return file


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    return Desk(tmp_path / "state" / "gwtui" / "sealed-keys")


def reopened(desk: Desk, **where: Any) -> Found:
    return desk.keys(**where).find()


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
    assert reopened(desk, token=SecretStr("rotated")) == Found(foreign=1)
    assert reopened(desk, token=None) == Found(foreign=1)
    assert reopened(desk, gateway="https://other.example/api/v1") == Found(other_gateways=(URL,))
    assert desk.keys(token=SecretStr("rotated")).sweep() == ()
    assert desk.file.read_bytes() == before


@pytest.mark.parametrize("field", ["gateway", "plan", "hash", "until", "nonce", "sealed"])
def test_whatever_is_changed_breaks_the_seal(desk: Desk, field: str) -> None:
    desk.seal().close()
    outside = json.loads(desk.file.read_bytes())
    other = {"until": "2031-01-01T00:00:00Z", "plan": PLAN[::-1]}
    flipped = "A" if outside[field][0] != "A" else "B"
    outside[field] = other.get(field, flipped + outside[field][1:])
    with pytest.raises(DamagedSealError):
        unseal(json.dumps(outside).encode(), TOKEN)
    desk.file.write_text(json.dumps(outside))
    assert reopened(desk).keys == ()


def test_a_file_of_another_name_is_not_offered(desk: Desk) -> None:
    desk.seal().close()
    desk.file.rename(desk.folder / f"{PLAN[::-1]}.sealed")
    assert reopened(desk) == Found(damaged=1)


def test_a_file_cut_anywhere_crashes_nothing(desk: Desk) -> None:
    desk.seal().close()
    whole = desk.file.read_bytes()
    for length in range(len(whole) - 1):
        with pytest.raises(SealError):
            unseal(whole[:length], TOKEN)
    desk.file.write_bytes(whole[:100])
    assert reopened(desk) == Found(damaged=1)
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
    assert reopened(desk) == Found(damaged=1)
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


# When sealing is impossible ---------------------------------------------------------------------


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
    assert reopened(desk) == Found()


def test_an_open_directory_is_closed(desk: Desk) -> None:
    desk.folder.mkdir(parents=True, mode=0o755)
    desk.seal()
    assert stat.S_IMODE(desk.folder.stat().st_mode) == 0o700


@pytest.fixture
def tiny_files() -> Iterator[None]:
    """The kernel lets no file grow beyond 1,000 bytes."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1000, hard))
    yield
    resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


def test_a_trial_finds_out_that_nothing_can_be_written(desk: Desk, tiny_files: None) -> None:
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


# Several processes ------------------------------------------------------------------------------

CHILD = """
import sys, time
from datetime import datetime, UTC
from pathlib import Path
from pydantic import SecretStr
from gwtui.local.sealed_keys import SealedKeys

now = datetime.fromisoformat(sys.argv[2])
keys = SealedKeys(Path(sys.argv[1]), sys.argv[3], SecretStr(sys.argv[4]), lambda: now)
for number in range(int(sys.argv[5])):
    keys.seal(f"{sys.argv[6]}{number:03}", SecretStr(f"value {sys.argv[6]} {number}"),
              name="x", key_hash="h", made_at=now)
    if sys.argv[7] == "wipe" and number % 2:
        keys.wipe(f"{sys.argv[6]}{number:03}")
        keys.sweep()
        assert keys.find().damaged == 0
print("sealed", flush=True)
if sys.argv[7] == "wait":
    time.sleep(60)
"""


def child(desk: Desk, count: int, prefix: str, end: str) -> subprocess.Popen[str]:
    given = [str(desk.folder), NOW.isoformat(), URL, TOKEN.get_secret_value(), str(count)]
    return subprocess.Popen(
        [sys.executable, "-c", CHILD, *given, prefix, end], stdout=subprocess.PIPE, text=True
    )


def test_a_key_that_another_process_shows_is_offered_when_that_is_killed(desk: Desk) -> None:
    process = child(desk, 1, "p", "wait")
    assert process.stdout is not None
    with process.stdout:
        assert process.stdout.readline() == "sealed\n"
        keys = desk.keys()
        assert keys.find() == Found(elsewhere=1)
        process.kill()
        process.wait(10)
    (key,) = keys.find().keys
    assert key.value.get_secret_value() == "value p 0"
    assert keys.claim(key)
    other = desk.keys()
    assert other.find() == Found(elsewhere=1)
    assert not other.claim(key)
    assert len(keys.find().keys) == 1, "its own process still finds it"
    keys.release(key.id)
    assert other.claim(key)
    assert other.until(key.id) == NOW + LIFETIME
    other.wipe(key.id)
    assert not keys.claim(key)


def test_processes_that_seal_and_wipe_at_once_lose_nothing(desk: Desk) -> None:
    processes = [child(desk, 20, prefix, "wipe") for prefix in "abc"]
    said = [process.communicate(timeout=60)[0] for process in processes]
    assert said == ["sealed\n"] * 3
    found = reopened(desk)
    assert found.damaged == found.foreign == found.elsewhere == 0
    assert {key.id for key in found.keys} == {
        f"{prefix}{number:03}" for prefix in "abc" for number in range(0, 20, 2)
    }


def test_a_kill_between_writing_and_renaming_loses_nothing(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    def killed(_self: Path, _target: Path) -> Path:
        raise KeyboardInterrupt

    keys = desk.keys()
    with monkeypatch.context() as patch:
        patch.setattr(Path, "rename", killed)
        with pytest.raises(KeyboardInterrupt):
            keys.seal(PLAN, SecretStr(VALUE), name="ci", key_hash="h", made_at=NOW)
    keys.close()
    assert desk.file.suffix == ".part"
    (key,) = reopened(desk).keys
    assert key.value.get_secret_value() == VALUE
    desk.keys().wipe(key.id)
    assert desk.files == []


def test_what_a_killed_trial_or_wiping_left_is_cleared_away(
    desk: Desk,
) -> None:
    desk.seal().close()
    for name in ("trial-1.trial", "0123abcd.gone"):
        (desk.folder / name).write_bytes((desk.folder / f"{PLAN}.sealed").read_bytes())
    assert len(reopened(desk).keys) == 1
    desk.keys().sweep()
    assert desk.file.name == f"{PLAN}.sealed"


def test_the_library_is_loaded_only_when_something_is_sealed(tmp_path: Path) -> None:
    program = (
        "import sys; from pathlib import Path; from gwtui.local.sealed_keys import SealedKeys;"
        "keys = SealedKeys(Path(sys.argv[1]), 'x', None, None); keys.find(); keys.sweep();"
        "print('cryptography' in sys.modules)"
    )
    done = subprocess.run(
        [sys.executable, "-c", program, str(tmp_path)], capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == "False"


def test_a_label_can_be_read_without_the_token(desk: Desk) -> None:
    desk.seal()
    label = label_of(desk.file.read_bytes())
    assert (label.gateway, label.plan, label.key_hash) == (URL, PLAN, "hash-1")
