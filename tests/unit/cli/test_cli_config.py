"""``gwtui config``: showing and changing settings without a dashboard."""

from __future__ import annotations

import json
import tomllib
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
    assert (answer.out, "is not set: the most important ones" in answer.err) == ("", True)
    assert main(["config", "set", "lists.keys.columns", "name, used"]) == exits.OK
    assert main(["config", "set", "lists.keys.detail", "no"]) == exits.OK
    assert file.read_text() == '[lists.keys]\ncolumns = ["name", "used"]\ndetail = false\n'
    capsys.readouterr()
    assert main(["config", "get", "lists.keys.columns"]) == exits.OK
    assert capsys.readouterr().out == "name,used\n"
    assert main(["config", "list", "--output", "json"]) == exits.OK
    rows = {row["setting"]: row["value"] for row in json.loads(capsys.readouterr().out)}
    assert (rows["lists.keys.detail"], rows["lists.LIST.sort"]) == ("false", None)
    assert main(["config", "unset", "lists.keys.detail"]) == exits.OK
    assert main(["config", "unset", "lists.keys"]) == exits.OK
    assert main(["config", "unset", "lists.keys"]) == exits.OK
    assert not tomllib.loads(file.read_text())["lists"]["keys"]


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("set", "lists.keys.sort", "usde"), "there is no column 'usde'; did you mean 'used'?"),
        (("set", "lists.keys.detial", "no"), "did you mean 'lists.keys.detail'?"),
        (("set", "lists.keys.detail", "maybe"), "must be true or false"),
        (("get", "thme"), "did you mean 'theme'?"),
        (("unset", "lists.kyes"), "did you mean 'lists.keys'?"),
    ],
)
def test_refused(
    words: tuple[str, ...], message: str, file: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["config", *words]) == exits.USAGE
    assert message in capsys.readouterr().err
    assert not file.exists()


def test_a_list_names_what_is_wrong_in_the_file(
    file: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file.parent.mkdir(parents=True, mode=0o700)
    file.write_text("them = 1\n")
    assert main(["config", "list"]) == exits.OK
    assert "them: unknown setting; did you mean 'theme'?" in capsys.readouterr().err
    file.write_text("theme = 1\n")
    assert main(["config", "list"]) == exits.USAGE
    assert "theme: must be text" in capsys.readouterr().err
