"""Moving through recorded time, and past times as users type them."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from gwtui.ui.screens.board_panels import moved, within
from gwtui.ui.widgets.plot import SPANS

NOW = datetime(2026, 11, 21, 9, 30, 20, tzinfo=UTC)
BEGIN = NOW - timedelta(days=2)
LONG_AGO = BEGIN - timedelta(days=9)
HOUR, DAY = SPANS[0], SPANS[1]


def utc(text: str) -> datetime:
    return datetime.fromisoformat(f"{text}+00:00")


def test_steps_suit_the_span_and_go_from_the_whole_minute() -> None:
    restored = moved(None, -1, HOUR, NOW)
    assert restored == utc("2026-11-21T09:29:00")
    assert moved(restored, -1, HOUR, NOW) == utc("2026-11-21T09:28:00")
    assert moved(None, -1, DAY, NOW) == utc("2026-11-21T09:15:00")


@pytest.mark.parametrize(
    ("moment", "begin", "expected"),
    [
        (NOW, BEGIN, None),
        (NOW + timedelta(days=1), None, None),
        (LONG_AGO, BEGIN, BEGIN),
        (LONG_AGO, None, LONG_AGO),
    ],
)
def test_board_times_are_clamped_to_the_recording(
    moment: datetime, begin: datetime | None, expected: datetime | None
) -> None:
    assert within(moment, NOW, begin) == expected
