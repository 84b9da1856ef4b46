"""One verb of the command line for several rows: named, filtered or from a file."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from gwtui.cli import exits
from headless_kit import YES, Gwtui, Site, done, log

JSON = ("--output", "json")


def made(gwtui: Gwtui, *names: str) -> list[str]:
    """Keys of these names; their hashes."""
    for name in names:
        done(gwtui, "keys", "create", "--set", f"name={name}")
    return [gwtui.json("keys", "get", name)["hash"] for name in names]


def disabled(place: Site, hashes: list[str]) -> list[bool]:
    return [place.get(f"/keys/{one}")["disabled"] for one in hashes]


def lines(out: str) -> list[Any]:
    return [json.loads(line) for line in out.splitlines()]


def test_several_keys_are_disabled_and_each_has_its_line(
    gwtui: Gwtui, place: Site, state: Path
) -> None:
    names = ("many-a", "many-b", "many-c")
    hashes = made(gwtui, *names)
    done(gwtui, "keys", "disable", "many-b")
    before = len(log(state))
    code, out, err = gwtui("keys", "disable", *names, "--plan", *JSON)
    plan = json.loads(out)
    assert (code, plan["title"], len(plan["requests"])) == (exits.OK, "Disable 2 keys", 2)
    assert [row["identity"] for row in plan["rows"]] == [hashes[0], hashes[2]]
    [change] = plan["rows"][0]["changes"]
    assert (change["before"], change["after"]) == ("enabled", "disabled")
    assert [(one["identity"], one["outcome"]) for one in plan["left_out"]] == [
        (hashes[1], "already")
    ]
    assert len(log(state)) == before, "a plan sends nothing"
    code, out, err = gwtui("keys", "disable", *names, YES, *JSON)
    assert code == exits.OK, err
    assert [(one["identity"], one["outcome"]) for one in lines(out)] == [
        (hashes[0], "applied"),
        (hashes[2], "applied"),
        (hashes[1], "already"),
    ]
    assert "2 applied" in err
    assert disabled(place, hashes) == [True] * 3
    assert [entry.outcome for entry in log(state)[before:]] == ["applied"] * 2
    code, _, err = gwtui("keys", "disable", *names, YES)
    assert (code, "nothing to do" in err) == (exits.OK, True)


def test_a_filter_chooses_what_a_list_of_it_shows(gwtui: Gwtui, place: Site) -> None:
    hashes = made(gwtui, "pick-a", "pick-b", "pack-c")
    code, out, _ = gwtui("keys", "disable", "--filter", "name:pick- -state:disabled", "--plan")
    assert (code, "Disable 2 keys" in out, "pack-c" in out) == (exits.OK, True, False)
    assert gwtui("keys", "disable", "--filter", "name:pick-", YES)[0] == exits.OK
    assert disabled(place, hashes) == [True, True, False]
    assert gwtui("keys", "delete", "--filter", "name:pick-", YES)[0] == exits.OK
    assert gwtui("keys", "get", "pick-a")[0] == exits.FAILED
    code, _, err = gwtui("keys", "delete", "--filter", "name:pick-", YES)
    assert (code, "nothing to do" in err) == (exits.OK, True)


@pytest.mark.parametrize(
    "query", ["", "  ", "nosuch>3", "used>abc", "ci or bot", "(ci or bot", "name~["]
)
def test_a_filter_that_is_not_understood_changes_nothing(
    gwtui: Gwtui, state: Path, query: str
) -> None:
    code, _, err = gwtui("keys", "disable", "--filter", query, YES)
    assert (code, "--filter" in err) == (exits.USAGE, True)
    assert not log(state)


def test_names_come_from_stdin_and_fields_are_set_for_all(gwtui: Gwtui, place: Site) -> None:
    hashes = made(gwtui, "file-a", "file-b")
    words = ("keys", "update", "--from-file", "-", "--set", "limit=12", "--set")
    code, _, err = gwtui(*words, "limit_reset=monthly", YES, stdin=f"file-a\n\n{hashes[1]}\n")
    assert code == exits.OK, err
    found = [place.get(f"/keys/{one}") for one in hashes]
    assert [(one["limit"], one["limit_reset"]) for one in found] == [(12, "monthly")] * 2
    code, _, err = gwtui("keys", "update", "file-a", "file-b", "--set", "name=same", YES)
    assert (code, "must be unique" in err) == (exits.USAGE, True)


def test_names_that_are_not_clear_are_all_told_and_nothing_is_sent(
    gwtui: Gwtui, place: Site
) -> None:
    hashes = made(gwtui, "left-alone")
    code, _, err = gwtui("keys", "disable", "left-alone", "nobody", "nothing", YES)
    assert code == exits.FAILED
    assert all(text in err for text in ("'nobody'", "'nothing'", "2 of 3 names match no single"))
    assert disabled(place, hashes) == [False]


@pytest.mark.parametrize(
    "words", [(), ("a", "--filter", "name:a"), ("--filter", "name:a", "--from-file", "-")]
)
def test_it_must_be_said_which_and_only_in_one_way(gwtui: Gwtui, words: tuple[str, ...]) -> None:
    code, _, err = gwtui("keys", "disable", *words, YES)
    assert (code, "name at least one" in err) == (exits.USAGE, True)


@pytest.mark.parametrize(
    ("fault", "outcomes", "code"),
    [
        ("409:writes x1", ["refused", "applied", "applied"], exits.INCOMPLETE),
        ("502:writes x1", ["unknown", "not sent", "not sent"], exits.UNKNOWN),
        ("429:writes x9", ["refused", "not sent", "not sent"], exits.FAILED),
    ],
    ids=["one is refused", "an answer is lost", "all would be refused"],
)
def test_each_has_its_outcome_when_something_fails(
    gwtui: Gwtui, place: Site, fault: str, outcomes: list[str], code: int
) -> None:
    names = [f"{code}-{letter}" for letter in "abc"]
    hashes = made(gwtui, *names)
    place.faults.arm(fault)
    found, out, err = gwtui("keys", "disable", *names, YES, *JSON)
    assert (found, [one["outcome"] for one in lines(out)]) == (code, outcomes)
    if code != exits.UNKNOWN:
        assert disabled(place, hashes) == [one == "applied" for one in outcomes]
    assert ("The request is not sent again" in err) is (code == exits.UNKNOWN)
