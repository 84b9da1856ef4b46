"""Content filter patterns: what cannot run away is accepted, the rest is refused with a reason."""

from __future__ import annotations

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from gwtui.contract.content_filters import pattern_problem


@pytest.mark.parametrize(
    "pattern",
    [
        r"\d{3}-\d{2}-\d{4}",
        r"(?i)secret-[a-z0-9]+",
        r"(a|b)*c",
        r"(?:foo|bar)+",
        r"(x{3})+",
        r"(ab{2,3})+",
        r"a{1,100000}",
        r"(a|a)*b",
        r"(\d{16} ?)+",
        r"[(a+)+]",
        r"\(a+\)+",
        r"[[:alpha:]]",
        r"",
    ],
)
def test_a_plain_pattern_is_accepted(pattern: str) -> None:
    assert pattern_problem(pattern) is None


@pytest.mark.parametrize(
    ("pattern", "reason"),
    [
        (r"(a+)+", "must not repeat a repetition"),
        (r"(a*)*", "must not repeat a repetition"),
        (r"(\w+\s?)*$", "must not repeat a repetition"),
        (r"((ab)+c)*", "must not repeat a repetition"),
        (r"((ab)+|c)*", "must not repeat a repetition"),
        (r"(a{1,9}){9}", "must not repeat a repetition"),
        (r"(?=x)a", "must not look ahead or behind"),
        (r"(?<!x)a", "must not look ahead or behind"),
        (r"(a)\1", "must not refer back to a group"),
        (r"(?P<n>a)(?P=n)", "must not refer back to a group"),
        (r"(?P<n>a)(?(n)b|c)", "must not refer back to a group"),
        ("[", "is not a valid regular expression: unterminated character set at character 1"),
        ("(" * 300, "is not a valid regular expression"),
        ("a{99999999999}", "is not a valid regular expression"),
        pytest.param(
            "a{" + "9" * 5001 + "}", "is not a valid regular expression: too large", id="digits"
        ),
    ],
)
def test_a_dangerous_pattern_is_refused(pattern: str, reason: str) -> None:
    problem = pattern_problem(pattern)
    assert problem.startswith(reason)


@given(st.text(alphabet="ab()[]{}*+?|\\^$.:=!<>1,2dx#\n", max_size=30))
@example("(?x)a#)")
def test_any_text_gets_an_answer(pattern: str) -> None:
    problem = pattern_problem(pattern)
    assert problem is None or problem.startswith(("must not", "is not"))
