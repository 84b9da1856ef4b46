"""Command lines: mistyped words, options in any position, and man pages for all commands."""

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


@pytest.mark.parametrize(
    "words",
    [
        ("gateway", "generations", "--columns", "id"),
        ("profiles", "default", "work"),
        ("alerts", "--columns", "all", "history"),
        ("keys", "list"),
    ],
)
def test_log_level_is_accepted_anywhere(
    words: tuple[str, ...], capsys: pytest.CaptureFixture[str]
) -> None:
    level = ("--log-level", "debug")
    for line in ((*level, *words), (*words, *level), (words[0], *level, *words[1:])):
        with pytest.raises(SystemExit) as exited:
            main((*line, "--help"))
        assert exited.value.code == exits.OK
        assert f"usage: gwtui {words[0]} " in capsys.readouterr().out


def test_an_invalid_log_level_is_refused_after_subcommands(
    capsys: pytest.CaptureFixture[str],
) -> None:
    with pytest.raises(SystemExit) as exited:
        main(["gateway", "serve", "--log-level", "loud"])
    assert exited.value.code == exits.USAGE
    assert "invalid choice: 'loud'" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (("chek",), "no command or resource 'chek'; did you mean 'check'?"),
        (("chek", "--help"), "did you mean 'check'?"),
        (("chek", "--credits-warning", "5"), "did you mean 'check'?"),
        (("kyes", "list"), "no command or resource 'kyes'; did you mean 'keys'?"),
        (("guardrail", "create", "--set", "name=x"), "did you mean 'guardrails'?"),
        (("modles/author/slug",), "no command or resource 'modles'; did you mean 'models'?"),
        (("bord",), "did you mean 'board'?"),
        (("zzzz",), "there is no command or resource 'zzzz': 'gwtui --help' lists them"),
        (("keys", "lst"), "unknown verb 'lst' for keys; did you mean 'list'? (known: list, get,"),
        (("keys", "edit", "x"), "unknown verb 'edit' for keys; did you mean 'update'?"),
        (("--dmeo",), "unrecognized arguments: --dmeo; did you mean '--demo'?"),
        (("--theem", "gwtui-dark"), "did you mean '--theme'?"),
        (("keys", "list", "--fliter", "x"), "--fliter x; did you mean '--filter'?"),
        (("keys", "list", "--fliter=x"), "did you mean '--filter'?"),
        (("keys", "list", "--output", "jsn"), "'jsn'; did you mean 'json'?"),
        (("keys", "list", "--output", "jsn"), "did you mean 'json'?"),
        (("keys", "create", "--sett", "name=x"), "did you mean '--set'?"),
        (("keys", "create", "--name", "x"), "did you mean '--set name=VALUE'?"),
        (("--theme", "dark", "keys", "list"), "keys needs a verb before '--theme'"),
        (("members", "add", "w", "p", "--persn=x"), "unrecognized arguments: --persn=x\n"),
        (("keys", "create", "--set", "limit=x"), "limit: expected a number"),
        (("keys", "enable"), "give names or ids, or --filter QUERY"),
        (("keys", "list", "--dialect", "opnrouter"), "did you mean 'openrouter'?"),
        (("keys", "list", "--sort", "nmae", "--demo"), "'nmae'; did you mean 'name'?"),
        (("keys", "list", "--columns", "name,usde", "--demo"), "'usde'; did you mean 'used'?"),
        (
            ("profiles", "defualt", "x"),
            "for profiles; did you mean 'default'?",
        ),
        (("gateway", "serv"), "did you mean 'serve'?"),
        (("gateway", "serve", "--prot", "1"), "--prot 1; did you mean '--port'?"),
        (("alerts", "histroy"), "did you mean 'history'?"),
    ],
)
def test_a_mistyped_word_is_refused_with_a_suggestion(
    words: tuple[str, ...], says: str, capsys: pytest.CaptureFixture[str]
) -> None:
    try:
        code = main(words)
    except SystemExit as exited:
        code = exited.code  # type: ignore[assignment]
    output = capsys.readouterr()
    assert (code, output.out) == (exits.USAGE, "")
    assert says in output.err


def test_a_mistyped_profile_is_refused_with_a_suggestion(
    private_home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = private_home / "config" / "gwtui" / "profiles.toml"
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text('[profiles.production]\nbase_url = "https://gateway.example/api/v1"\n')
    for words in (("--profile", "prodution", "whoami"), ("profiles", "default", "prodution")):
        assert main(words) == exits.USAGE
        assert "'prodution'; did you mean 'production'? (known: production)" in (
            capsys.readouterr().err
        )


# Manual pages -------------------------------------------------------------------------------------


def test_every_command_verb_and_option_is_on_its_page() -> None:
    commands = {page_name(item): item for item in every_command()}
    assert set(commands) == {
        "gwtui",
        *(f"gwtui-{item}" for item in {**COMMANDS, **COMMAND_RESOURCES}),
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
        # No line is an accidental roff request, and no value is lost in an escape.
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
    files = {item.name for item in (tmp_path / "man1").iterdir()}
    assert {"gwtui.1", "gwtui-keys.1", "gwtui-doctor.1"} <= files
    assert (tmp_path / "man1" / "gwtui-keys.1").read_text() == page
    if groff := shutil.which("groff"):
        result = subprocess.run(
            [groff, "-man", "-ww", "-z", "-Tutf8", str(tmp_path / "man1" / "gwtui.1")],
            capture_output=True,
            text=True,
            check=True,
        )
        assert result.stderr == ""
