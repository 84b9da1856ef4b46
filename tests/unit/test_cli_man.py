"""Manual pages: every command, verb and option is in them, and roff takes them as text."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import pytest

from gwtui.cli import exits
from gwtui.cli.command_tree import TreeCommand, command_tree
from gwtui.cli.commands import COMMANDS
from gwtui.cli.main import main
from gwtui.cli.man import page_name, pages
from gwtui.cli.resources import RESOURCES


def _walk(command: TreeCommand) -> list[TreeCommand]:
    return [command, *(below for child in command.children for below in _walk(child))]


def test_every_command_verb_and_option_is_on_its_page() -> None:
    found = {page_name(one): (one, text) for one, text in pages(command_tree())}
    assert set(found) == {"gwtui", *(f"gwtui-{one}" for one in {**COMMANDS, **RESOURCES})}
    for command, text in found.values():
        plain = text.replace("\\-", "-")
        below = [one for one in _walk(command) if one.words[:1] == command.words[:1]]
        for one in below:
            assert " ".join(("gwtui", *one.words)) in plain or one.children
            for option in one.options:
                assert f"\\fB{option.names[-1]}\\fR" in plain
        assert ".SH EXIT STATUS" in text
        # No line is a request of roff by accident, and no value is lost in an escape.
        for line in text.splitlines():
            request = re.match(r"\.(TH|SH|SS|TP|PP|B|BR|I|br|nf|fi)\b", line)
            assert request or not line.startswith((".", "'")), line
            assert not re.search(r"\\(?![-efR&])", line), line


def test_pages_are_printed_and_written(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["man", "kyes"]) == exits.USAGE
    assert "did you mean 'keys'" in capsys.readouterr().err
    assert main(["man", "keys"]) == exits.OK
    page = capsys.readouterr().out
    assert page.startswith(".TH GWTUI-KEYS 1")
    assert main(["man", "--directory", str(tmp_path / "man1")]) == exits.OK
    written = {one.name for one in (tmp_path / "man1").iterdir()}
    assert {"gwtui.1", "gwtui-keys.1", "gwtui-doctor.1"} <= written
    assert (tmp_path / "man1" / "gwtui-keys.1").read_text() == page
    if groff := shutil.which("groff"):
        done = subprocess.run(
            [groff, "-man", "-ww", "-z", "-Tutf8", str(tmp_path / "man1" / "gwtui.1")],
            capture_output=True,
            text=True,
            check=True,
        )
        assert done.stderr == ""
