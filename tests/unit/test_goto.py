"""Text typed after a colon: its screen or command, and completion."""

from __future__ import annotations

from collections import Counter

import pytest

from gwtui.domain.lookup import all_names, completed
from gwtui.resources.registry import ALIASES, PARENTS, PLACES
from gwtui.ui.goto import commands, first_words, parse_goto


def test_every_word_has_one_meaning() -> None:
    assert [word for word, count in Counter(first_words()).items() if count > 1] == []
    assert set(first_words()) == {*PLACES, *PARENTS, *ALIASES, *commands()}
    assert all(
        word == word.lower() and " " not in word and "/" not in word for word in first_words()
    )


@pytest.mark.parametrize(
    ("text", "route"),
    [
        ("keys", "keys"),
        (" keys/ ", "keys"),
        ("Keys/Voice Hotline", "keys/Voice Hotline"),
        ("keys voice hotline", "keys/voice hotline"),
        ("ws", "workspaces"),
        ("ws/production", "workspaces/production"),
        ("ws production", "workspaces/production"),
        ("members/production/ana@example.com", "members/production/ana@example.com"),
        ("models/a/b", "models/a/b"),
        ("people", "organization"),
        ("gr", "guardrails"),
        ("ep/a/b", "endpoints/a/b"),
        ("ep", "all-endpoints"),
        ("endpoints/", "all-endpoints"),
    ],
)
def test_places_are_found_by_name_and_alias(text: str, route: str) -> None:
    assert parse_goto(text).route == route


@pytest.mark.parametrize(
    ("text", "action", "argument"),
    [
        ("q", "app.quit", ""),
        ("quit", "app.quit", ""),
        ("help", "app.help", ""),
        ("?", "app.help", ""),
        ("theme", "app.theme", ""),
        ("theme light", "app.theme", "light"),
        ("ctx", "app.profile", ""),
        ("ctx staging", "app.profile", "staging"),
        ("ctx/staging", "app.profile", "staging"),
        ("context  two words ", "app.profile", "two words"),
    ],
)
def test_commands_are_parsed_by_name(text: str, action: str, argument: str) -> None:
    result = parse_goto(text)
    assert (result.command.id, result.argument) == (action, argument)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("kyes/x", "No place or command is called “kyes”; did you mean 'keys'?"),
        ("hlep", "did you mean 'help'?"),
        ("zzzzzz", "there are credits, keys, models"),
        ("members", "members needs a name of workspaces: members/NAME"),
        ("quit now", "“quit” is a command without arguments"),
    ],
)
def test_unknown_words_are_refused_with_a_suggestion(text: str, message: str) -> None:
    result = parse_goto(text)
    assert message in result.problem
    assert not result.route
    assert result.command is None


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("k", "keys"),
        ("W", "workspaces"),
        ("ct", "ctx"),
        ("key", None),
        ("keys", None),
        ("", None),
        ("nothing", None),
    ],
)
def test_a_prefix_completes_to_the_first_match(text: str, expected: str | None) -> None:
    assert completed(text, first_words()) == expected


def test_names_are_completed_from_a_to_z_then_identities() -> None:
    rows = [("id-2", "Beta", "b-slug"), ("id-1", "alpha", None), ("id-3", "alpha", "b\x1b[2J")]
    names = all_names(rows, lambda row: row)
    assert names == ("alpha", "b-slug", "Beta", "id-2", "id-1", "id-3")
    assert all_names([("id", " padded", "")], lambda row: row) == ("id",)
    assert completed("B", names) == "b-slug"
    assert completed("be", names) == "Beta"
    assert completed("id", names) == "id-2"
    assert completed("alpha", names) is None
