"""What the board says of the credits: dates with their doubt, in little room."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from gwtui.contract.usage import Credits
from gwtui.domain.runway import Outlook
from gwtui.resources.credits import Line, runway_cells

NOW = datetime(2026, 11, 21, 9, 30, tzinfo=UTC)
CREDITS = Credits.model_validate({"total_credits": 100, "total_usage": 40})
ROOM = 56
"""Cells beside the label, in the column of a wall board."""


def outlook(*days: float) -> Outlook:
    soonest, likely, latest = (NOW + timedelta(days=day) for day in days)
    return Outlook(soonest, likely, latest, timedelta(days=1))


def text(line: Line) -> str:
    return "".join(cell.text for cell in line)


@pytest.mark.parametrize(
    ("days", "said"),
    [
        ((2.5, 3.1, 3.5), "3 days, until 2026-11-24 (11-23 to 11-24)"),
        ((0.4, 0.8, 1.5), "19 h, until 11-22 04:42 UTC (11-21 19h to 11-22 21h)"),
        ((30, 60, 90), "2 months, until 2027-01-20 (12-21 to 2027-02-19)"),
    ],
)
def test_the_end_is_told_with_its_doubt_where_there_is_little_room(
    days: tuple[float, ...], said: str
) -> None:
    words = text(runway_cells(CREDITS, outlook(*days), NOW))
    assert words == said
    assert len(words) <= ROOM


def test_in_one_line_an_unknown_end_is_named_and_no_credits_are_no_end() -> None:
    assert text(runway_cells(CREDITS, None, NOW, short=True)) == "runway unknown"
    gone = Credits.model_validate({"total_credits": 1, "total_usage": 2})
    assert text(runway_cells(gone, None, NOW, short=True)).startswith("none: buy credits")
