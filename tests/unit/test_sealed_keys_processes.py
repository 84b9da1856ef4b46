"""Keys sealed by several processes, killed at any moment: none is lost, nothing is left lying."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from pydantic import SecretStr

from gwtui.local.sealed_keys import LIFETIME, SealedKeysFound
from sealed_keys_kit import NOW, PLAN, TOKEN, URL, VALUE, Desk, reopened


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    return Desk(tmp_path / "state" / "gwtui" / "sealed-keys")


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
        assert keys.find() == SealedKeysFound(elsewhere=1)
        process.kill()
        process.wait(10)
    (key,) = keys.find().keys
    assert key.value.get_secret_value() == "value p 0"
    assert keys.claim(key)
    other = desk.keys()
    assert other.find() == SealedKeysFound(elsewhere=1)
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
