"""The known name that a mistyped one may have been meant to be."""

from __future__ import annotations

import pytest

from gwtui.domain.lookup import among, closest, did_you_mean

NAMES = ("list", "get", "create", "delete")


@pytest.mark.parametrize(
    ("word", "meant"),
    [
        ("lst", "list"),
        ("LIST", "list"),
        ("craete", "create"),
        ("delet", "delete"),
        ("zzzz", None),
        ("", None),
    ],
)
def test_the_nearest_name(word: str, meant: str | None) -> None:
    assert closest(word, NAMES) == meant


def test_it_is_said_with_and_without_all_there_are() -> None:
    assert did_you_mean("lst", NAMES) == "; did you mean 'list'?"
    assert did_you_mean("zzzz", NAMES) == ""
    assert among("lst", NAMES) == "; did you mean 'list'? (known: list, get, create, delete)"
    assert among("zzzz", NAMES) == " (known: list, get, create, delete)"
    assert among("x", ()) == " (known: there are none)"


def test_a_name_from_outside_cannot_disturb_and_a_long_list_is_counted() -> None:
    assert "\x1b" not in among("opena", ["open\x1b[31ma"])
    many = [f"n{number}" for number in range(100)]
    assert among("?", many).endswith("n39 and 60 more)")
    assert closest("a" * 100_000, ["a" * 100_000 + "b"]) is not None
