"""Shares, lists of numbers and texts of forms: from what is typed to the request."""

from __future__ import annotations

from decimal import Decimal

import pytest

from form_values_kit import body, problem, workspace
from gwtui.crud.typed_values import parse_integers
from gwtui.domain.money import parse_share

# Shares and numbers ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "share"),
    [
        ("0.5", "0.5"),
        (".5", "0.5"),
        ("1", "1"),
        ("1.", "1"),
        ("50 %", "0.5"),
        ("50%", "0.5"),
        (" 0.01 percent ", "0.0001"),
        ("100%", "1"),
        ("-1", "-1"),
    ],
)
def test_shares(text: str, share: str) -> None:
    assert parse_share(text) == Decimal(share)


@pytest.mark.parametrize(
    "text", ["", "%", "half", "0,5", "1e-1", "50 %%", "\u0665 %", "NaN", "1/2"]
)
def test_what_is_no_share(text: str) -> None:
    with pytest.raises(ValueError, match="expected a share"):
        parse_share(text)


@pytest.mark.parametrize("wrong", ["50", "0", "0.00009", "101 %", "-5 %"])
def test_the_bounds_of_a_share_are_those_of_the_model(wrong: str) -> None:
    state = workspace()
    state.put("io_logging_sampling_rate", wrong)
    assert problem(state, "io_logging_sampling_rate") == "must be from 0.0001 to 1"


@pytest.mark.parametrize(("right", "sent"), [("0.01 %", 0.0001), ("100 %", 1), ("12.5%", 0.125)])
def test_shares_within_the_bounds(right: str, sent: float) -> None:
    state = workspace()
    state.put("name", "x")
    state.put("io_logging_sampling_rate", right)
    assert body(state)["io_logging_sampling_rate"] == sent


def test_a_share_is_shown_as_a_percentage() -> None:
    state = workspace({"name": "x", "io_logging_sampling_rate": Decimal("0.125")})
    assert state.typed("io_logging_sampling_rate") == "12.5 %"
    state.put("name", "y")
    assert body(state) == {"name": "y"}


@pytest.mark.parametrize(
    ("text", "numbers"),
    [
        ("1", [1]),
        ("1, 2,3", [1, 2, 3]),
        ("1 2\n3", [1, 2, 3]),
        ("[4; 5]", [4, 5]),
        ("2, 2, 1", [2, 1]),
        ("-7", [-7]),
        ("[]", []),
    ],
)
def test_integer_lists(text: str, numbers: list[int]) -> None:
    assert parse_integers(text) == numbers


@pytest.mark.parametrize("text", ["1, b", "1.5", "1e3", "\u0661", "0x10", "9" * 19])
def test_what_is_no_integer(text: str) -> None:
    with pytest.raises(ValueError, match="expected whole numbers"):
        parse_integers(text)


def test_no_integers_and_no_restriction_are_two_things() -> None:
    state = workspace({"name": "x", "io_logging_api_key_ids": []})
    assert state.typed("io_logging_api_key_ids") == "[]"
    state.put("io_logging_api_key_ids", "")
    assert body(state) == {"io_logging_api_key_ids": None}
    state.put("io_logging_api_key_ids", "7, 8")
    assert body(state) == {"io_logging_api_key_ids": [7, 8]}


# Texts -----------------------------------------------------------------------------------------


def test_a_long_text_keeps_its_lines_and_is_counted_as_it_is_sent() -> None:
    state = workspace({"name": "x", "description": None})
    state.put("description", "one\n\n  two \n")
    assert body(state) == {"description": "one\n\n  two"}
    counter = state.counter("description")
    assert counter.text == "10/500"
    state.put("description", "x" * 501)
    assert problem(state, "description") == "must have at most 500 characters"
    state.put("description", " \n")
    assert state.value("description") is None


def test_a_slug_follows_the_name_until_it_is_touched() -> None:
    state = workspace()
    state.put("name", "My Space")
    assert state.typed("slug") == "my-space"
    state.put("slug", "own")
    state.put("name", "Another")
    assert state.typed("slug") == "own"
    assert body(state)["slug"] == "own"


def test_nothing_is_suggested_for_what_exists() -> None:
    state = workspace({"name": "a", "slug": "a"})
    state.put("name", "b")
    assert state.typed("slug") == "a"
    assert body(state) == {"name": "b"}


def test_any_model_can_be_named() -> None:
    state = workspace({"name": "x", "default_text_model": "vendor/one"})
    state.put("default_text_model", " not/in-the-catalog ")
    assert body(state) == {"default_text_model": "not/in-the-catalog"}
    state.put("default_text_model", "")
    assert body(state) == {"default_text_model": None}
