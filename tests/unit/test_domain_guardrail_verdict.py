"""What content filters do to a message."""

from __future__ import annotations

import re
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gwtui.domain.guardrail_verdict import REDACTED, FilterMatches, FilterVerdict, apply_filters

ACTIONS = ("block", "redact", "flag", "quarantine")


def matches(action: str, pattern: str, message: str, label: str = "") -> FilterMatches:
    spans = tuple(match.span() for match in re.finditer(pattern, message))
    return FilterMatches(action, label, spans)


def verdict(message: str, *filters: tuple[Any, ...]) -> FilterVerdict:
    return apply_filters(
        message, [matches(action, pattern, message, *label) for action, pattern, *label in filters]
    )


def parts(found: FilterVerdict) -> list[tuple[str, int | None]]:
    return [(piece.text, piece.filter) for piece in found.pieces]


@pytest.mark.parametrize(
    ("message", "filters", "sent"),
    [
        ("hello", [("block", "x")], "hello"),
        ("id AB12 and AB34", [("redact", r"[A-Z]{2}\d{2}", "[ID]")], "id [ID] and [ID]"),
        ("aa", [("redact", "a", "-")], "--"),
        ("xy", [("redact", "x")], f"{REDACTED}y"),
        ("abc", [("redact", "bc", "2"), ("redact", "ab", "1")], "12"),
        ("bad word", [("flag", "bad")], "bad word"),
        ("abc", [("quarantine", "abc")], "abc"),
    ],
)
def test_what_is_sent_on(message: str, filters: list[tuple[Any, ...]], sent: str) -> None:
    found = verdict(message, *filters)
    assert (found.sent, found.blocked_by) == (sent, ())


def test_one_block_holds_back_everything() -> None:
    found = verdict("a secret id", ("redact", "id", "[ID]"), ("block", "secret"))
    assert found.sent is None
    assert found.blocked_by == (1,)
    assert found.redacted_by == (0,)


def test_block_is_stronger_than_redact_and_redact_than_flag() -> None:
    found = verdict("abc", ("flag", "abc"), ("redact", "ab", "-"), ("block", "a"))
    assert parts(found) == [("a", 2), ("b", 1), ("c", 0)]


def test_a_pattern_that_matches_nothing_matches_every_message() -> None:
    every = matches("block", "x*", "abc")
    assert every.matches_nothing
    assert apply_filters("abc", [every]).blocked_by == (0,)
    assert not matches("block", "x+", "axb").matches_nothing


@given(
    st.text(max_size=30),
    st.lists(
        st.tuples(
            st.sampled_from(ACTIONS),
            st.lists(st.tuples(st.integers(-3, 33), st.integers(-3, 33)), max_size=4),
        ),
        max_size=4,
    ),
)
def test_the_pieces_are_always_the_message(message: str, given_filters: Any) -> None:
    found = apply_filters(
        message, [FilterMatches(action, "", tuple(spans)) for action, spans in given_filters]
    )
    assert "".join(piece.text for piece in found.pieces) == message
