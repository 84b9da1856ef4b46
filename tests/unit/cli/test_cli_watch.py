"""gwtui watch: a line for each reading, and a clean end."""

from __future__ import annotations

import argparse
import json
from datetime import UTC, datetime
from decimal import Decimal

import pytest

from gwtui.cli import dashboard, exits
from gwtui.cli.main import main
from gwtui.cli.watch import reading_lines
from gwtui.contract.keys import ApiKey
from gwtui.watch.feeds.keys import KeyRow
from gwtui.watch.history.sources import ObservedReading, observe_keys
from headless_kit import FaultyGateway, Gwtui

MODEL = "helioscope/corona-code"


def test_one_line_is_printed_for_each_reading(gwtui: Gwtui) -> None:
    words = ("watch", "--ndjson", "--count", "1", "--model", MODEL, "--nearest", "2")
    code, out, err = gwtui(*words)
    assert (code, err) == (exits.OK, "")
    results = [json.loads(line) for line in out.splitlines()]
    assert {row["resource"] for row in results} == {"credits", "endpoint", "key", "workspace"}
    assert sum(row["resource"] == "key" for row in results) == 2
    (balance,) = (row for row in results if row["resource"] == "credits")
    assert balance["figures"]["balance"] > 0
    endpoints = [row for row in results if row["resource"] == "endpoint"]
    assert {endpoint["identity"].partition(" ")[0] for endpoint in endpoints} == {MODEL}
    assert len(endpoints) == 3


def test_a_reading_that_fails_is_told_and_counts(gwtui: Gwtui, place: FaultyGateway) -> None:
    place.faults.arm("403:GET /credits")
    words = ("watch", "--ndjson", "--count", "1", "--nearest", "0", "--model", MODEL)
    out, err = gwtui.expect(exits.INCOMPLETE, *words)
    assert "credits: " in err
    assert all(json.loads(line)["resource"] == "endpoint" for line in out.splitlines())


@pytest.mark.parametrize("words", [("--interval", "0"), ("--count", "x"), ("--nearest", "-1")])
def test_a_wrong_command_line(gwtui: Gwtui, words: tuple[str, ...]) -> None:
    assert gwtui("watch", "--ndjson", *words)[0] == exits.USAGE


def test_keys_nearest_to_their_limits_come_first() -> None:
    def key(name: str, limit: int | None, remaining: int | None) -> KeyRow:
        facts = {"hash": name, "name": name, "limit": limit, "limit_remaining": remaining}
        return KeyRow(ApiKey.model_validate(facts))

    rows = [key("free", None, None), key("half", 10, 5), key("over", 10, -1), key("new", 10, 10)]
    result = observe_keys(rows, ObservedReading(datetime(2026, 11, 21, tzinfo=UTC), 60))
    results = [*reading_lines(result, 2)]
    assert [row["name"] for row in results] == ["over", "half"]
    assert results[0]["at"] == "2026-11-21T00:00:00Z"
    assert results[0]["figures"]["limit_remaining"] == Decimal(-1)


# Options ------------------------------------------------------------------------------------------


@pytest.fixture
def runs(monkeypatch: pytest.MonkeyPatch) -> list[argparse.Namespace]:
    results: list[argparse.Namespace] = []

    def run(arguments: argparse.Namespace) -> int:
        results.append(arguments)
        return exits.OK

    monkeypatch.setattr(dashboard, "run", run)
    return results


def test_it_opens_the_board_read_only(runs: list[argparse.Namespace]) -> None:
    assert main(["watch", "--demo", "--theme", "gwtui-light"]) == exits.OK
    (arguments,) = runs
    assert (arguments.route, arguments.read_only) == ("board", True)
    assert (arguments.demo, arguments.theme, arguments.no_mouse) == (True, "gwtui-light", False)


@pytest.mark.parametrize(
    "words", [("--count", "3"), ("--model", "a/b"), ("--interval", "5"), ("--nearest", "2")]
)
def test_options_of_ndjson_are_refused_for_the_board(
    words: tuple[str, ...], runs: list[argparse.Namespace], capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["watch", *words]) == exits.USAGE
    assert "requires --ndjson" in capsys.readouterr().err
    assert runs == []


@pytest.mark.parametrize("route", ["board", "changes", "audit"])
def test_places_without_a_tab_can_be_opened_from_the_command_line(route: str) -> None:
    assert dashboard._unknown_route(route) is None
