"""Manual pages: every command, verb and option is in them, and roff takes them as text."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import pytest

from gwtui.cli import exits
from gwtui.cli.commands import COMMANDS, every_command
from gwtui.cli.main import main
from gwtui.cli.shell import page, page_name
from gwtui.resources.registry import COMMAND_RESOURCES


def test_every_command_verb_and_option_is_on_its_page() -> None:
    commands = {page_name(one): one for one in every_command()}
    assert set(commands) == {
        "gwtui",
        *(f"gwtui-{one}" for one in {**COMMANDS, **COMMAND_RESOURCES}),
    }
    for name, command in commands.items():
        text = page(command)
        plain = text.replace("\\-", "-")
        for verb in (command, *command.verbs):
            above = " ".join(["gwtui", command.name] if verb is not command else ["gwtui"])
            assert f"usage: {above} {verb.name}".strip() in plain
            for argument in verb.arguments:
                assert (argument.names[-1] if argument.is_option else argument.title) in plain
        assert ".SH EXIT STATUS" in text
        # No line is a request of roff by accident, and no value is lost in an escape.
        for line in text.splitlines():
            request = re.match(r"\.(TH|SH|TP|B|nf|fi)\b", line)
            assert request or not line.startswith((".", "'")), f"{name}: {line}"
            assert not re.search(r"\\(?![-e&])", line), f"{name}: {line}"


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
