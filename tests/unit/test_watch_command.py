"""gwtui watch without --ndjson: the dashboard on its board, read-only whatever else is said."""

from __future__ import annotations

import argparse

import pytest

from gwtui.cli import dashboard, exits
from gwtui.cli.main import main


@pytest.fixture
def runs(monkeypatch: pytest.MonkeyPatch) -> list[argparse.Namespace]:
    seen: list[argparse.Namespace] = []

    def run(arguments: argparse.Namespace) -> int:
        seen.append(arguments)
        return exits.OK

    monkeypatch.setattr(dashboard, "run", run)
    return seen


def test_it_opens_the_board_read_only(runs: list[argparse.Namespace]) -> None:
    assert main(["watch", "--demo", "--theme", "gwtui-light"]) == exits.OK
    (arguments,) = runs
    assert (arguments.route, arguments.read_only) == ("board", True)
    assert (arguments.demo, arguments.theme, arguments.no_mouse) == (True, "gwtui-light", False)


@pytest.mark.parametrize(
    "words", [("--count", "3"), ("--model", "a/b"), ("--interval", "5"), ("--nearest", "2")]
)
def test_what_belongs_to_lines_is_refused_for_the_board(
    words: tuple[str, ...], runs: list[argparse.Namespace], capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["watch", *words]) == exits.USAGE
    assert "requires --ndjson" in capsys.readouterr().err
    assert runs == []


@pytest.mark.parametrize("route", ["board", "changes", "audit"])
def test_places_without_a_tab_can_be_opened_from_the_command_line(route: str) -> None:
    assert dashboard._unknown_route(route) is None
