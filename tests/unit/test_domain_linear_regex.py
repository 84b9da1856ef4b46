from __future__ import annotations

import re
import time
from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gwtui.domain.linear_regex import MOST_TEXT, LinearRegex, PatternError

PATTERNS = st.recursive(
    st.sampled_from(
        ["a", "b", ".", "[ab]", "[^a]", r"\w", r"\d", "^", "$", r"\b", "1", "-", r"\."]
    ),
    lambda inner: st.one_of(
        st.tuples(inner, inner).map("".join),
        st.tuples(inner, inner).map(lambda both: f"({both[0]}|{both[1]})"),
        st.tuples(inner, st.sampled_from(["*", "+", "?", "{2}", "{1,2}", "{0,}", "*?"])).map(
            lambda both: f"(?:{both[0]}){both[1]}"
        ),
    ),
    max_leaves=6,
)


@given(PATTERNS, st.text("ab1-. ", max_size=12))
def test_it_finds_what_the_standard_module_finds(pattern: str, text: str) -> None:
    mine = LinearRegex(pattern)
    # \Z: the standard $ also holds before a line break at the end; there is none in these texts.
    assert mine.found_in(text) == (re.search(pattern, text, re.DOTALL) is not None)
    span = mine.span_in(text)
    if span is not None:
        assert re.compile(pattern, re.DOTALL).search(text) is not None
        assert 0 <= span[0] < span[1] <= len(text)


@given(st.text() | st.text(r"ab()[]{}|*+?\^$.-,12dwsb"))
def test_what_is_no_pattern_is_only_ever_the_typed_error(pattern: str) -> None:
    with suppress(PatternError):
        assert isinstance(LinearRegex(pattern).found_in("ab 12"), bool)


@pytest.mark.parametrize(
    ("pattern", "says"),
    [
        ("a" * 201, "at most 200 characters"),
        ("(((a{100}){100}){100})", "too large"),
        ("a{101}", "at most 100 repetitions"),
        ("a{3,2}", "counts backwards"),
        ("(" * 60 + ")" * 60, "nested too deeply"),
        ("a)", "a ) without its ("),
        ("(a", "a ( without its )"),
        ("[a", "a [ without its ]"),
        ("[z-a]", "backwards"),
        ("*a", "* has nothing to repeat"),
        ("a**", "two repetitions"),
        ("\\", "nothing follows"),
        (r"(a)\1", r"\1 is not known"),
        ("(?=a)", "would take too long"),
        ("(?P<x>a)", "would take too long"),
    ],
)
def test_what_is_refused_says_why(pattern: str, says: str) -> None:
    with pytest.raises(PatternError) as refused:
        LinearRegex(pattern)
    assert says in str(refused.value)


def test_case_does_not_matter() -> None:
    assert LinearRegex("PROD").found_in("a prod")
    assert LinearRegex("[A-C]x").found_in("bx")
    assert LinearRegex("straße").found_in("STRASSE".casefold())


def test_a_brace_that_counts_nothing_is_itself() -> None:
    assert LinearRegex("a{x}").found_in("a{x}")
    assert LinearRegex("{").found_in("{")


@pytest.mark.parametrize(
    "pattern", ["(a+)+$", "(a|a)*b", "(.*)*(.*)*x", "(a?){99}a{99}", "a*a*a*a*b"]
)
def test_the_time_grows_with_the_text_and_nothing_else(pattern: str) -> None:
    """The standard module would take longer than anybody lives over the first two."""
    machine = LinearRegex(pattern)
    begun = time.perf_counter()
    machine.found_in("a" * (MOST_TEXT - 1) + "!")
    assert time.perf_counter() - begun < 1


def test_only_so_much_of_a_text_is_looked_at() -> None:
    assert not LinearRegex("x").found_in("a" * MOST_TEXT + "x")
    assert not LinearRegex("a$").found_in("a" * MOST_TEXT + "x")
