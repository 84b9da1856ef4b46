"""``gwtui audit``: the log as a table, and in machine-readable formats."""

from __future__ import annotations

import json
import re
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from gwtui.cli.main import main
from gwtui.local.ledger import AuditedChange, Ledger, LedgerEntry
from gwtui.resources.audit import AUDIT


@pytest.fixture
def log(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Ledger:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    log = Ledger(tmp_path / "gwtui" / "audit.jsonl")
    now = datetime.now(UTC)
    changes = (AuditedChange("State", "enabled", "disabled"),)
    lines: tuple[dict[str, Any], ...] = (
        {"outcome": "applied", "action": "keys.toggle", "title": "=cmd()", "changes": changes},
        {"outcome": "refused", "action": "keys.delete", "title": "two", "message": "no\x1b[31m"},
        {"outcome": "unknown", "action": "byok.edit", "title": "three", "profile": "demo"},
    )
    for number, line in enumerate(lines):
        moment = now - timedelta(days=8 - 3 * number)
        facts = {"key": "gw-v1-a...b", "user": "ann", "host": "desk", "profile": "work", **line}
        log.record(LedgerEntry(id=f"p{number}", at=moment, **facts))
    return log


def printed(capsys: pytest.CaptureFixture[str], *options: str) -> str:
    assert main(["audit", *options]) == 0
    out, err = capsys.readouterr()
    assert "\x1b" not in out + err
    assert re.search(r"\d audit entr(y|ies)\b", err)
    return out


def test_the_table_reads_from_the_newest_on(
    log: Ledger, capsys: pytest.CaptureFixture[str]
) -> None:
    head, *rows = printed(capsys).splitlines()
    assert head.startswith("Change")
    assert [row.split()[0] for row in rows] == ["three", "two", "=cmd()"]
    assert "applied" in rows[2]
    assert "ann@desk" in rows[2]
    assert "State: enabled → disabled" in rows[2]
    assert "no␛[31m" in rows[1]
    assert printed(capsys, "--filter", "outcome:refused").count("\n") == 2


def test_ndjson_and_json_hold_every_field(log: Ledger, capsys: pytest.CaptureFixture[str]) -> None:
    rows = [AUDIT.raw(entry) for entry in log.entries()]
    assert rows[0]["key_label"] == "gw-v1-a...b"
    assert [json.loads(row) for row in printed(capsys, "--output", "ndjson").splitlines()] == rows
    assert json.loads(printed(capsys, "--output", "json")) == rows


@pytest.mark.parametrize(
    ("options", "ids"),
    [
        (["--since", "6d"], ["p1", "p2"]),
        (["--until", "6d"], ["p0"]),
        (["--since", "6d", "--until", "3d"], ["p1"]),
        (["--since", "2000-01-01"], ["p0", "p1", "p2"]),
        (["--filter", "outcome:unknown"], ["p2"]),
        (["--filter", "action:keys"], ["p0", "p1"]),
        (["--profile", "demo"], ["p2"]),
        (["--demo"], ["p2"]),
    ],
)
def test_the_audit_log_is_filtered(
    log: Ledger, capsys: pytest.CaptureFixture[str], options: list[str], ids: list[str]
) -> None:
    rows = printed(capsys, "--output", "ndjson", *options).splitlines()
    assert [json.loads(row)["id"] for row in rows] == ids[::-1]


def test_an_invalid_time_is_a_usage_error(log: Ledger, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["audit", "--since", "the other day"]) == 2
    assert "expected a moment" in capsys.readouterr().err


def test_a_missing_audit_log_is_reported(
    log: Ledger, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["audit", "--file", str(tmp_path / "nowhere.jsonl")]) == 1
    log.path.unlink()
    assert printed(capsys, "--output", "ndjson") == ""


def test_one_change_is_printed_in_full(log: Ledger, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["audit", "get", "p1"]) == 0
    out = capsys.readouterr().out
    assert out.splitlines()[0] == "two"
    assert "no␛[31m" in out
    assert main(["audit", "get", "p1", "--output", "json"]) == 0
    assert [line["id"] for line in json.loads(capsys.readouterr().out)] == ["p1"]
    assert main(["audit", "get", "nothing"]) == 1
    with pytest.raises(SystemExit, match="2"):
        main(["audit", "get"])
    assert main(["audit", "list", "--output", "ndjson"]) == 0
    assert capsys.readouterr().out.count("\n") == 3
