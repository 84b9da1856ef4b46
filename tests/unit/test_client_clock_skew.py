"""How far the gateway's clock is away: measured by its Date, told when it matters."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from email.utils import format_datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gwtui.client.request_log import TOLERATED, ClockSkew
from gwtui.ui.connection_health import skew_text

NOW = datetime(2026, 11, 21, 7, 0, tzinfo=UTC)


def answer(skew: ClockSkew, ahead: float, *, at: float = 0, elapsed: float = 0.1) -> None:
    """An answer of a gateway whose clock is ahead, stamped half way and rounded down."""
    received = NOW + timedelta(seconds=at)
    stamped = received + timedelta(seconds=ahead - elapsed / 2)
    date = format_datetime(stamped.replace(microsecond=0), usegmt=True)
    skew.observe({"date": date}, received, elapsed)


@given(
    st.lists(st.tuples(st.floats(0, 1), st.floats(0, 30)), min_size=1, max_size=20),
    st.floats(-86_400, 86_400),
)
def test_answers_bound_the_truth_and_narrow_it(
    answers: list[tuple[float, float]], ahead: float
) -> None:
    skew = ClockSkew()
    for number, (moment, elapsed) in enumerate(answers):
        answer(skew, ahead, at=number + moment, elapsed=elapsed)
        assert skew.low - 1e-4 <= ahead <= skew.high + 1e-4
    width = 1 + min(elapsed for _, elapsed in answers)
    assert skew.high - skew.low <= width + 1e-4
    assert abs(skew.seconds - ahead) <= width / 2 + 1e-4
    assert not skew.is_notable or abs(ahead) > TOLERATED


def test_a_clock_that_was_set_right_ends_it() -> None:
    skew = ClockSkew()
    answer(skew, 90)
    assert skew.is_notable
    answer(skew, 0, at=5)
    assert abs(skew.seconds) < 1
    assert skew_text(skew) == ""


@pytest.mark.parametrize(
    "headers",
    [
        {},
        {"date": "yesterday"},
        {"date": ""},
        {"date": "Sat, 21 Nov 2020 07:00:12 GMT", "age": "7"},
    ],
)
def test_what_says_nothing_about_now_changes_nothing(headers: dict[str, str]) -> None:
    skew = ClockSkew()
    skew.observe(headers, NOW, 0.1)
    assert (skew.low, skew.high) == (float("-inf"), float("inf"))
    assert (skew.seconds, skew.is_notable, skew_text(skew)) == (0, False, "")


@pytest.mark.parametrize(
    ("ahead", "words"),
    [
        (0, ""),
        (TOLERATED - 1, ""),
        (-TOLERATED + 1, ""),
        (95, "The gateway's clock is 95 s ahead: ages and expiries here are off by that"),
        (-12.5, "The gateway's clock is 12 s behind: ages and expiries here are off by that"),
        (700, "The gateway's clock is 12 min ahead: ages and expiries here are off by that"),
        (-7 * 3600, "The gateway's clock is 7 h behind: ages and expiries here are off by that"),
    ],
)
def test_what_a_person_is_told(ahead: float, words: str) -> None:
    skew = ClockSkew()
    answer(skew, ahead)
    assert skew_text(skew) == words
    assert len(words) <= 77
