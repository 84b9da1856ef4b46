"""Credits: the balance, top spenders, and the runway in words."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from decimal import Decimal

import pytest

from gwtui.contract.usage import Credits
from gwtui.domain.runway import MAX_DAYS, Runway, since_midnight
from gwtui.resources.credits import (
    Line,
    balance_lines,
    balance_text,
    balance_tone,
    burn_lines,
    runway_cells,
    share_cell,
    spending,
)
from gwtui.watch.feeds.credits import CreditsRow
from gwtui.watch.feeds.keys import KeyRow
from resource_samples import NOW, OTHER_WORKSPACE_ID, key, workspace

STAGING = workspace(id=OTHER_WORKSPACE_ID, name="Staging")


def row(name: str, today: str | None, *, staging: bool = False) -> KeyRow:
    space = STAGING if staging else workspace()
    return KeyRow(
        key(
            hash=name,
            name=name,
            usage_daily=None if today is None else Decimal(today),
            usage_weekly=Decimal(1),
            workspace_id=space.id,
        ),
        space,
    )


def credits(total: str | None, used: str | None) -> Credits:
    return Credits.model_validate(
        {
            "total_credits": None if total is None else Decimal(total),
            "total_usage": None if used is None else Decimal(used),
        }
    )


def text_of(lines: object) -> str:
    return "\n".join("".join(cell.text for cell in line) for line in lines)  # type: ignore[attr-defined]


def test_keys_are_ranked_by_what_they_used_with_their_share() -> None:
    result = spending([row("small", "1"), row("big", "7"), row("mid", "2", staging=True)], "today")
    assert [(key.name, key.share) for key in result.keys] == [
        ("big", Decimal("0.7")),
        ("mid", Decimal("0.2")),
        ("small", Decimal("0.1")),
    ]
    assert result.total == 10
    assert share_cell(result.keys[0]).text == "██████████ 70%"
    assert share_cell(result.keys[1]).text == "██▊        20%"


def test_workspaces_add_up_their_keys() -> None:
    result = spending([row("a", "1"), row("b", "7"), row("c", "2", staging=True)], "today")
    assert [(space.name, space.amount, space.keys) for space in result.workspaces] == [
        ("Production", Decimal(8), 2),
        ("Staging", Decimal(2), 1),
    ]


def test_an_unknown_figure_is_counted_as_unknown_and_comes_last() -> None:
    result = spending([row("silent", None), row("a", "0")], "today")
    assert result.unknown == 1
    assert result.total == 0
    assert [key.name for key in result.keys] == ["a", "silent"]
    assert result.keys[1].amount is None
    assert result.keys[0].share is None, "no share of a zero total"


def test_each_window_has_its_own_figure() -> None:
    result = spending([row("a", "5")], "week")
    assert result.total == 1
    assert spending([row("a", "5")], "month").total == 120


def test_the_balance_in_figures_and_words() -> None:
    account = credits("5000", "3765.5")
    assert balance_text(account) == "$1,234.50"
    text = text_of(balance_lines(account))
    assert "$1,234.50 left" in text
    assert "$5,000.00" in text
    assert "$3,765.50" in text
    assert "75.3%" in text


@pytest.mark.parametrize(
    ("account", "words", "tone"),
    [
        (credits("10", "12.5"), "overdrawn by $2.50", "bad"),
        (credits("10", "10"), "$0.00 left", "bad"),
        (credits("10", "9.5"), "$0.50 left", "warn"),
        (credits(None, "9.5"), "unknown", "muted"),
    ],
)
def test_every_standing_has_words(account: Credits, words: str, tone: str) -> None:
    assert words in text_of(balance_lines(account))
    assert balance_tone(account) == tone


@pytest.mark.parametrize(
    ("total", "used", "today", "words"),
    [
        ("100", "52", 24, "no recorded history yet"),
        ("100", "52", 24, "$2.00/h"),
        ("100", "52", 24, "since 00:00 UTC"),
        ("100", "52", 24, "1 day, until 11-22 12:00 UTC at today's rate"),
        ("10", "0", 24, "5 h, until 11-21 17:00 UTC"),
        ("1", "2", 1, "none: buy credits"),
        ("2", "1", 0, "unknown: too little usage recorded"),
    ],
)
def test_burn_and_runway_say_where_they_come_from(
    total: str, used: str, today: int, words: str
) -> None:
    assert words in text_of(
        burn_lines(CreditsRow(credits(total, used), since_midnight(Decimal(today), NOW)), NOW)
    )


# The board ----------------------------------------------------------------------------------------


MORNING = datetime(2026, 11, 21, 9, 30, tzinfo=UTC)
CREDITS = Credits.model_validate({"total_credits": 100, "total_usage": 40})
DAY = timedelta(days=1)
ROOM = 56
"""Width in cells beside the label on a large board."""


def line_text(line: Line) -> str:
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
    words = line_text(runway_cells(CREDITS, runway, MORNING))
    assert words == expected
    assert len(words) <= ROOM


def test_the_one_line_runway_without_credits() -> None:
    overdrawn = Credits.model_validate({"total_credits": 1, "total_usage": 2})
    assert line_text(runway_cells(overdrawn, None, MORNING)).startswith("none: buy credits")
