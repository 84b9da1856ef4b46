"""Options that every command takes stand on either side of what they belong to."""

from __future__ import annotations

import pytest

from gwtui.cli import exits
from gwtui.cli.commands import COMMANDS
from gwtui.cli.main import main
from gwtui.cli.parsing import command_parser

COMMANDS_OF_COMMANDS = (
    ("gateway", ("serve",)),
    ("gateway", ("issue-key",)),
    ("gateway", ("generations",)),
    ("profiles", ("default", "work")),
    ("profiles", ("remove", "work")),
    ("alerts", ("history",)),
)


@pytest.mark.parametrize(("name", "words"), COMMANDS_OF_COMMANDS)
def test_the_level_of_the_log_may_stand_anywhere(name: str, words: tuple[str, ...]) -> None:
    parser = command_parser(f"gwtui {name}", "")
    COMMANDS[name].configure(parser)
    level = ("--log-level", "debug")
    for line in ((*level, *words), (*words, *level), (words[0], *level, *words[1:])):
        assert parser.parse_args(line).log_level == "debug"
    assert parser.parse_args(words).log_level == "info"


def test_a_wrong_level_is_refused_behind_a_command_of_a_command(
    capsys: pytest.CaptureFixture[str],
) -> None:
    with pytest.raises(SystemExit) as left:
        main(["gateway", "serve", "--log-level", "loud"])
    assert left.value.code == exits.USAGE
    assert "invalid choice: 'loud'" in capsys.readouterr().err
