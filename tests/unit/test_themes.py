"""Names of themes: every offered one exists, and any other is refused."""

from __future__ import annotations

import re
from contextlib import AbstractAsyncContextManager
from pathlib import Path
from typing import Any

import pytest

from gwtui.cli import exits
from gwtui.cli.commands import DASHBOARD
from gwtui.cli.main import main
from gwtui.ui.app import GwtuiApp
from gwtui.ui.themes import THEMES, TITLES

PROJECT = Path(__file__).parents[2]
PAGES = [PROJECT / "README.md", *sorted((PROJECT / "docs").glob("*.md"))]
NAMES = [theme.name for theme in THEMES]
LIKE_A_THEME = re.compile(r"`(gwtui-[a-z-]+)`|--theme[= ]`?(gwtui-[a-z-]+)")


def themes_in(text: str) -> set[str]:
    return {name for item in LIKE_A_THEME.findall(text) for name in item if name}


def never() -> AbstractAsyncContextManager[Any]:
    raise AssertionError("nobody asked for a connection")


def test_every_theme_that_the_manual_names_can_be_asked_for() -> None:
    names = themes_in("".join(page.read_text() for page in PAGES))
    assert "gwtui-terminal" in names
    for name in names:
        assert DASHBOARD.parse(["--theme", name]).theme == name
        assert GwtuiApp(never, theme=name).theme == name


def test_help_names_every_theme_and_so_does_the_chooser() -> None:
    [help_text] = [argument.help for argument in DASHBOARD.arguments if "--theme" in argument.names]
    assert set(re.findall(r"gwtui-[a-z]+", help_text)) == set(NAMES) == set(TITLES)


@pytest.mark.parametrize("command", [(), ("watch",), ("keys",)])
@pytest.mark.parametrize(
    ("name", "says"),
    [
        ("gwtui-termnal", "did you mean 'terminal'?"),
        ("termnal", "did you mean 'terminal'?"),
        ("gwtui-ansi", "(known: dark, light, contrast, terminal)"),
        ("nord", "there is no theme 'nord'"),
        ("", "there is no theme ''"),
    ],
)
def test_a_theme_that_is_not_there_is_refused(
    command: tuple[str, ...], name: str, says: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as exited:
        main([*command, "--demo", "--theme", name])
    assert exited.value.code == exits.USAGE
    assert says in capsys.readouterr().err
    with pytest.raises(ValueError, match="there is no theme"):
        GwtuiApp(never, theme=name)
