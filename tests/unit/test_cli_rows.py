"""Lists that no declaration describes: forms and columns as every other list has them."""

from __future__ import annotations

import json
from argparse import Namespace
from pathlib import Path
from typing import Any

import pytest

from gwtui.cli import exits
from gwtui.cli.main import main
from gwtui.cli.output import print_rows

KNOWN = ("name", "on", "size")
ROWS: tuple[dict[str, Any], ...] = (
    {"name": "=1+1\x1b[2J", "on": True, "size": 7},
    {"name": "b", "on": False, "size": None},
)


def printed(
    capsys: pytest.CaptureFixture[str], form: str, columns: str | None = None, rows: Any = ROWS
) -> str:
    print_rows(rows, Namespace(output=form, columns=columns), KNOWN)
    return capsys.readouterr().out


def test_forms_and_columns(capsys: pytest.CaptureFixture[str]) -> None:
    assert printed(capsys, "table").split()[:3] == ["name", "on", "size"]
    assert printed(capsys, "table", "on,name").split()[:4] == ["on", "name", "yes", "=1+1␛[2J"]
    assert printed(capsys, "csv").splitlines() == ["name,on,size", "'=1+1␛[2J,true,7", "b,false,"]
    assert printed(capsys, "csv", "size").splitlines() == ["size", "7", '""']
    assert printed(capsys, "csv", "name", ()) == "name\n"
    assert printed(capsys, "table", None, ()) == ""
    assert printed(capsys, "csv", "all").startswith("name,on,size\n")
    found = json.loads(printed(capsys, "json"))
    assert found == [*ROWS]
    assert [json.loads(line) for line in printed(capsys, "ndjson").splitlines()] == found


def test_a_column_that_there_is_not_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(exits.CommandError, match="did you mean 'name'") as refused:
        printed(capsys, "table", "nmae")
    assert refused.value.code == exits.USAGE
    with pytest.raises(exits.CommandError, match="requires --output table or csv"):
        printed(capsys, "json", "name")


def test_commands_take_columns(private_home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    config = private_home / "config" / "gwtui"
    config.mkdir(parents=True, mode=0o700)
    (config / "profiles.toml").write_text('[profiles.work]\nbase_url = "https://a.example"\n')
    for words, expected in (
        (("profiles", "--columns", "name,host", "--output", "csv"), "name,host\nwork,a.example\n"),
        (("profiles", "--columns", "name"), "name\nwork\n"),
        (("audit", "--columns", "what", "--output", "csv"), "what\n"),
        (("alerts", "rules", "--columns", "id", "--output", "csv"), "id\n"),
    ):
        assert main(words) == exits.OK
        assert capsys.readouterr().out.startswith(expected)
    for words in (("audit", "--columns", "x"), ("alerts", "--columns", "x", "rules")):
        assert main(words) == exits.USAGE
        assert "there is no column 'x'" in capsys.readouterr().err
