from __future__ import annotations

import re
import time
from contextlib import suppress
from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gwtui.domain.filters import parse
from gwtui.domain.patterns import SEARCH_LIMIT, Pattern, PatternError, find_all

NOW = datetime(2026, 11, 21, 12, tzinfo=UTC)
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
def test_patterns_match_like_the_re_module(pattern: str, text: str) -> None:
    mine = Pattern(pattern)
    # \Z, because $ also matches before a final line break; these texts have none.
    assert mine.found_in(text) == (re.search(pattern, text, re.DOTALL) is not None)


@given(st.text() | st.text(r"ab()[]{}|*+?\^$.-,12dwsb"))
def test_an_invalid_pattern_raises_only_patternerror(pattern: str) -> None:
    with suppress(PatternError):
        assert isinstance(Pattern(pattern).found_in("ab 12"), bool)


@pytest.mark.parametrize(
    "pattern", ["a" * 201, "a)", "(a", "[a", "[z-a]", "*a", "\\", "a{3,2}", "(" * 100, r"\p{x}"]
)
def test_an_invalid_pattern_names_the_reason(pattern: str) -> None:
    with pytest.raises(PatternError, match=r"\w"):
        Pattern(pattern)


def test_case_does_not_matter() -> None:
    assert Pattern("PROD").found_in("a prod")
    assert Pattern("[A-C]x").found_in("bx")


HOSTILE = ("(a|aa)+$", "(a+)+$", "(a|a)*b", "(.*)*(.*)*x", "(a?){99}a{99}x")


@pytest.mark.parametrize("pattern", HOSTILE)
def test_a_slow_pattern_times_out_and_is_not_retried(pattern: str) -> None:
    """The ``re`` module would never finish."""
    text = "a" * 2_000 + "!"
    query = parse(f"~{pattern}", {})
    start = time.process_time()  # a busy machine takes longer
    for _ in range(1_000):
        query.matches({}, text, NOW)
    assert time.process_time() - start < SEARCH_LIMIT + 1
    if query.timeout_error:
        assert "takes too long: simplify the pattern" in query.timeout_error
        assert not query.matches({}, "aaa", NOW)


def test_a_pattern_timeout_is_reported() -> None:
    for text in ("~(a|aa)+$", "name~(a|aa)+$", "(x or ~(a|aa)+$)"):
        query = parse(text, {"name": "text"})
        assert query.timeout_error == ""
        query.matches({"name": lambda: "a" * 100 + "!"}, "a" * 100 + "!", NOW)
        assert query.timeout_error == "(a|aa)+$: takes too long: simplify the pattern"


def test_every_match_is_found_in_every_text() -> None:
    assert find_all("a*", ["baa", ""], 1) == (((0, 0), (1, 3), (3, 3)), ((0, 0),))
    assert find_all("(", ["a"], 1) is None
    assert find_all("(a|aa)+$", ["a" * 100 + "!"], 0.05) is None
