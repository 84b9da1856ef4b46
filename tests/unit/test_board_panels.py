"""Moving through recorded time, and moments in the past as people type them."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from gwtui.domain.times import parse_moment
from gwtui.ui.screens.board_panels import moved, within
from gwtui.ui.widgets.plot import SPANS

NOW = datetime(2026, 11, 21, 9, 30, 20, tzinfo=UTC)
BEGIN = NOW - timedelta(days=2)
HOUR, DAY = SPANS[0], SPANS[1]


def at(text: str) -> datetime:
    return datetime.fromisoformat(f"{text}+00:00")


@pytest.mark.parametrize(
    ("typed", "moment"),
    [
        ("2026-11-20 18:00", at("2026-11-20T18:00:00")),
        ("3h ago", NOW - timedelta(hours=3)),
        ("yesterday", at("2026-11-20T00:00:00")),
        ("Yesterday 18:05", at("2026-11-20T18:05:00")),
        ("08:00", at("2026-11-21T08:00:00")),
        ("today", at("2026-11-21T00:00:00")),
        ("30d", NOW - timedelta(days=30)),
        ("90", NOW - timedelta(days=90)),
        ("friday", at("2026-11-20T00:00:00")),
        ("last monday 18:00", at("2026-11-16T18:00:00")),
        ("in 2h", NOW + timedelta(hours=2)),
    ],
)
def test_moments_as_people_type_them(typed: str, moment: datetime) -> None:
    assert parse_moment(typed, NOW, past=True) == moment


@pytest.mark.parametrize(
    ("typed", "message"),
    [
        ("", "3h ago"),
        ("soonish", "tomorrow 18:00, next friday, 30d"),
        ("yesterday noon", "3h ago"),
        ("25:00", "no such time"),
        ("ago", "3h ago"),
        ("3 moons ago", "unknown unit moons"),
    ],
)
def test_invalid_moments_are_refused_with_examples(typed: str, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        parse_moment(typed, NOW, past=True)


def test_steps_suit_the_span_and_go_from_the_whole_minute() -> None:
    back = moved(None, -1, HOUR, NOW)
    assert back == at("2026-11-21T09:29:00")
    assert moved(back, -1, HOUR, NOW) == at("2026-11-21T09:28:00")
    assert moved(None, -1, DAY, NOW) == at("2026-11-21T09:15:00")


def test_from_the_present_on_it_is_live_and_nothing_is_before_the_recording() -> None:
    assert within(NOW, NOW, BEGIN) is None
    assert within(NOW + timedelta(days=1), NOW, None) is None
    assert within(BEGIN - timedelta(days=9), NOW, BEGIN) == BEGIN
    assert within(BEGIN - timedelta(days=9), NOW, None) == BEGIN - timedelta(days=9)
