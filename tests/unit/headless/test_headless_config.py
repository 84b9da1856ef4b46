"""``gwtui config``: settings shown and changed without a dashboard."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from gwtui.cli import exits
from gwtui.cli.main import main


@pytest.fixture
def file(private_home: Path) -> Path:
    return private_home / "config" / "gwtui" / "preferences.toml"


def test_set_get_unset(file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["config", "path"]) == exits.OK
    assert capsys.readouterr().out == f"{file}\n"
    assert main(["config", "get", "lists.keys.columns"]) == exits.FAILED
    answer = capsys.readouterr()
    assert (answer.out, "is not set: what matters most" in answer.err) == ("", True)
    assert main(["config", "set", "lists.keys.columns", "name, used"]) == exits.OK
    assert main(["config", "set", "lists.keys.detail", "no"]) == exits.OK
    assert main(["config", "set", "lists.keys.detail_width", "35"]) == exits.OK
    assert file.read_text() == (
        '[lists.keys]\ncolumns = ["name", "used"]\ndetail = false\ndetail_width = 35\n'
    )
    capsys.readouterr()
    assert main(["config", "get", "lists.keys.columns"]) == exits.OK
    assert capsys.readouterr().out == "name,used\n"
    assert main(["config", "list", "--output", "json"]) == exits.OK
    rows = {row["setting"]: row["value"] for row in json.loads(capsys.readouterr().out)}
    assert (rows["lists.keys.detail_width"], rows["lists.LIST.sort"]) == ("35", None)
    assert main(["config", "unset", "lists.keys.detail"]) == exits.OK
    assert main(["config", "unset", "lists.keys"]) == exits.OK
    assert main(["config", "unset", "lists.keys"]) == exits.OK
    assert file.read_text() == ""


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("set", "lists.keys.sort", "usde"), "there is no column 'usde'; did you mean 'used'?"),
        (("set", "lists.keys.detial", "no"), "did you mean 'detail'?"),
        (("set", "lists.keys.detail", "maybe"), "must be true or false"),
        (("set", "lists.keys.widths.name", "wide"), "must be a whole number"),
        (("get", "thme"), "did you mean 'theme'?"),
        (("unset", "lists.kyes"), "did you mean 'keys'?"),
        (("edit",), "no editor: set EDITOR"),
    ],
)
def test_refused(
    words: tuple[str, ...],
    message: str,
    file: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.delenv("EDITOR", raising=False)
    monkeypatch.delenv("VISUAL", raising=False)
    assert main(["config", *words]) == exits.USAGE
    assert message in capsys.readouterr().err
    assert not file.exists()


def test_edit_checks_what_was_written(
    file: Path,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    editor = tmp_path / "an editor"
    editor.write_text('#!/bin/sh\ntest -z "$GWTUI_TOKEN" && echo "them = 1" >> "$1"\n')
    editor.chmod(0o700)
    monkeypatch.setenv("GWTUI_TOKEN", "sk-mgmt-1")
    monkeypatch.setenv("EDITOR", "true")
    assert main(["config", "edit"]) == exits.OK
    assert "# theme: colours" in file.read_text()
    monkeypatch.setenv("VISUAL", f"'{editor}'")
    assert main(["config", "edit"]) == exits.USAGE
    assert "them: is not a known setting; did you mean 'theme'?" in capsys.readouterr().err
    assert main(["config", "list"]) == exits.USAGE
    monkeypatch.setenv("VISUAL", "false")
    file.write_text("")
    assert main(["config", "edit"]) == exits.FAILED


def test_views(file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    def said(*words: str, code: int = exits.OK) -> str:
        assert main([*words]) == code
        answer = capsys.readouterr()
        return answer.out + answer.err

    wrong = said("config", "set", "views.worst.filter", "used>1", code=exits.USAGE)
    assert "views.worst: needs a list" in wrong
    said("config", "set", "views.worst.list", "models")
    wrong = said("config", "set", "views.worst.columns", "name,nope", code=exits.USAGE)
    assert "views.worst.columns: there is no column 'nope'" in wrong
    said("config", "set", "views.worst.columns", "name,context")
    said("config", "set", "views.worst.filter", "context>=1M")
    said("config", "set", "views.worst.sort", "context:desc")
    seen = said("models", "list", "--demo", "--view", "worst", "--output", "csv")
    assert seen.splitlines()[0] == "name,context"
    most = [int(line.rpartition(",")[2]) for line in seen.splitlines()[1:]]
    assert most == sorted(most, reverse=True)
    assert min(most) >= 1_000_000
    fewer = said(
        "models", "list", "--demo", "--view", "worst", "--columns", "context", "--output=csv"
    )
    assert fewer.splitlines()[0] == "context"
    refused = said("keys", "list", "--demo", "--view", "worst", code=exits.USAGE)
    assert "--view: worst is a view of models" in refused
    refused = said("models", "list", "--demo", "--view", "wrost", code=exits.USAGE)
    assert "--view: there is no view 'wrost'; did you mean 'worst'?" in refused
    said("config", "unset", "views.worst")
    assert "views" not in file.read_text()
