"""The row that a typed name means, and the closest known name for a mistyped one."""

from __future__ import annotations

import pytest

from gwtui.domain.lookup import among, closest, did_you_mean, lookup, lookup_path, nearest

ROWS = (
    ("c0ffee-1111", "ci", "CI runner"),
    ("c0ffee-2222", "web"),
    ("abcdef-3333", "web"),
    ("team/a", "nested/name"),
    ("ci", None),
    ("", "blank"),
)


def names(row: tuple[str | None, ...]) -> tuple[str | None, ...]:
    return row


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("c0ffee-1111", ["c0ffee-1111"]),
        ("CI runner", ["c0ffee-1111"]),
        ("ci runner", []),
        ("ci", ["ci"]),
        ("web", ["c0ffee-2222", "abcdef-3333"]),
        ("c0ffee", ["c0ffee-1111", "c0ffee-2222"]),
        ("c0ffee-1", ["c0ffee-1111"]),
        ("abcde", []),
        ("abcdef", ["abcdef-3333"]),
        ("nested/name", ["team/a"]),
        ("", [""]),
    ],
)
def test_lookup_prefers_ids_then_names_then_prefixes(text: str, expected: list[str]) -> None:
    result = lookup(ROWS, text, names)
    assert [row[0] for row in result.rows] == expected
    assert (result.found is not None) == (len(expected) == 1)


@pytest.mark.parametrize(
    ("path", "expected", "rest"),
    [
        ("team/a", ["team/a"], ""),
        ("team/a/b/c", ["team/a"], "b/c"),
        ("nested/name/x", ["team/a"], "x"),
        ("web/x", ["c0ffee-2222", "abcdef-3333"], "x"),
        ("team/b", [], ""),
    ],
)
def test_lookup_uses_the_longest_path_prefix(path: str, expected: list[str], rest: str) -> None:
    result = lookup_path(ROWS, path, names)
    assert [row[0] for row in result.rows] == expected
    assert result.rest == rest


VOICES = [("1", "voice-hotline"), ("2", "Voice bot"), ("3", "billing"), ("4", None)]
TEAMS = [(f"{number}", f"team {number}") for number in range(9_000)]


@pytest.mark.parametrize(
    ("rows", "typed", "similar"),
    [
        (VOICES, "VOICE-HOTLIN", ("voice-hotline", "Voice bot")),
        (VOICES, "hotline", ("voice-hotline",)),
        (VOICES, "voice", ("Voice bot", "voice-hotline")),
        (VOICES, "x", ()),
        (TEAMS, "team", ("team 9", "team 8", "team 7")),
    ],
    ids=["mistyped", "part", "beginning", "nothing", "many"],
)
def test_similar_names_are_suggested(
    rows: list[tuple[str, str | None]], typed: str, similar: tuple[str, ...]
) -> None:
    assert nearest(rows, typed, names) == similar


# Suggestions --------------------------------------------------------------------------------------


VERBS = ("list", "get", "create", "delete")


@pytest.mark.parametrize(
    ("word", "expected"),
    [
        ("lst", "list"),
        ("LIST", "list"),
        ("craete", "create"),
        ("delet", "delete"),
        ("zzzz", None),
        ("", None),
    ],
)
def test_the_closest_name_is_suggested(word: str, expected: str | None) -> None:
    assert closest(word, VERBS) == expected


def test_suggestions_come_with_and_without_the_known_names() -> None:
    assert did_you_mean("lst", VERBS) == "; did you mean 'list'?"
    assert did_you_mean("zzzz", VERBS) == ""
    assert among("lst", VERBS) == "; did you mean 'list'? (known: list, get, create, delete)"
    assert among("zzzz", VERBS) == " (known: list, get, create, delete)"
    assert among("x", ()) == "; none exist"


def test_suggestions_are_escaped_and_long_lists_cut() -> None:
    assert "\x1b" not in among("opena", ["open\x1b[31ma"])
    choices = [f"n{number}" for number in range(100)]
    assert among("?", choices).endswith("n39 and 60 more)")
    assert closest("a" * 100_000, ["a" * 100_000 + "b"]) is not None
