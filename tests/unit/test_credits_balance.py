"""The runway of the credits in words, within the room of the board."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from decimal import Decimal

import pytest

from gwtui.contract.usage import Credits
from gwtui.domain.runway import MAX_DAYS, Runway
from gwtui.resources.credits import Line, runway_cells

NOW = datetime(2026, 11, 21, 9, 30, tzinfo=UTC)
CREDITS = Credits.model_validate({"total_credits": 100, "total_usage": 40})
DAY = timedelta(days=1)
ROOM = 56
"""Cells beside the label, in the column of a wall board."""


def text(line: Line) -> str:
    return "".join(cell.text for cell in line)


@pytest.mark.parametrize(
    ("runway", "expected"),
    [
        (Runway(Decimal("3.1"), DAY), "3 days, until 2026-11-24 at the 24 h rate"),
        (Runway(Decimal("0.8"), DAY / 24), "19 h, until 11-22 04:42 UTC at the 1 h rate"),
        (Runway(Decimal(60), DAY * 7), "2 months, until 2027-01-20 at the 7 d rate"),
        (Runway(Decimal(60)), "2 months, until 2027-01-20 at today's rate"),
        (Runway(MAX_DAYS, DAY), "more than 10 years at the 24 h rate"),
        (None, "unknown: too little usage recorded"),
    ],
)
def test_the_date_and_its_rate_fit_the_board(runway: Runway | None, expected: str) -> None:
    words = text(runway_cells(CREDITS, runway, NOW))
    assert words == expected
    assert len(words) <= ROOM


def test_in_one_line_an_unknown_end_is_named_and_no_credits_are_no_end() -> None:
    assert text(runway_cells(CREDITS, None, NOW, short=True)) == "runway unknown"
    gone = Credits.model_validate({"total_credits": 1, "total_usage": 2})
    assert text(runway_cells(gone, None, NOW, short=True)).startswith("none: buy credits")
