"""Killed before any step of sealing or wiping: a key is whole or absent, never half."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

CHILD = """
import json, os, sys
from datetime import UTC, datetime, timedelta
from pathlib import Path
from pydantic import SecretStr
from gwtui.local.sealed_keys import SealedKeys

base, deed, torn = Path(sys.argv[1]), sys.argv[2], sys.argv[3] == "torn"
NOW = datetime(2026, 11, 21, tzinfo=UTC)
CALLS = ("open", "write", "fchmod", "fsync", "ftruncate", "rename", "unlink", "close")

def keys(folder):
    return SealedKeys(folder, "http://g/api/v1", SecretStr("token"), lambda: NOW)

def seal(where):
    where.seal("plan", SecretStr("the value"), name="ci", key_hash="h", made_at=NOW)

def arm(step):
    left = [step]
    def wrap(name, call):
        def counted(*given, **named):
            left[0] -= 1
            if left[0] == 0:
                if torn and name == "write":
                    call(given[0], given[1][: len(given[1]) // 2])
                os._exit(9)
            done = call(*given, **named)
            if name == "fsync":
                os.set_inheritable(log, True)
                plain_write(log, b"fsync ")
            return done
        return counted
    for name in CALLS:
        setattr(os, name, wrap(name, getattr(os, name)))

plain_write = os.write
report = []
for step in range(1, 60):
    folder = base / str(step)
    if deed == "wipe":
        first = keys(folder)
        seal(first)
        first.close()
    log = os.open(base / f"{step}.log", os.O_WRONLY | os.O_CREAT)
    pid = os.fork()
    if pid == 0:
        arm(step)
        seal(keys(folder)) if deed == "seal" else keys(folder).wipe("plan")
        os._exit(0)
    status = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
    os.close(log)
    found = keys(folder).find()
    keys(folder).sweep()
    report.append({
        "killed": status == 9,
        "synced": b"fsync" in (base / f"{step}.log").read_bytes(),
        "values": [key.value.get_secret_value() for key in found.keys],
        "damaged": found.damaged,
        "names": sorted(p.suffix for p in folder.iterdir()) if folder.exists() else [],
    })
    if status == 0:
        break
print(json.dumps(report))
"""


def every_kill(folder: Path, deed: str, how: str) -> list[dict[str, object]]:
    done = subprocess.run(
        [sys.executable, "-c", CHILD, str(folder), deed, how],
        capture_output=True,
        text=True,
        check=True,
        timeout=60,
    )
    report: list[dict[str, object]] = json.loads(done.stdout)
    assert [one["killed"] for one in report] == [True] * (len(report) - 1) + [False]
    assert [one["damaged"] for one in report] == [0] * len(report)
    return report


@pytest.mark.parametrize("how", ["before", "torn"])
def test_a_kill_at_any_step_of_sealing(tmp_path: Path, how: str) -> None:
    report = every_kill(tmp_path, "seal", how)
    assert len(report) > 8
    for one in report:
        if one["synced"]:
            assert one["values"] == ["the value"], "what was synced is found"
        assert one["values"] in ([], ["the value"])
    assert report[-1]["names"] == [".sealed"]


def test_a_kill_at_any_step_of_wiping(tmp_path: Path) -> None:
    report = every_kill(tmp_path, "wipe", "torn")
    assert len(report) > 8
    for one in report:
        kept = one["values"] == ["the value"]
        assert one["names"] == ([".sealed"] if kept else []), "offered still, or cleared away"
    assert report[-1]["names"] == []
