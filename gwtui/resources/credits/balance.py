"""The account's credits as lines of cells: balance, share, burn and runway. Amounts are USD."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, tzinfo
from decimal import Decimal

from gwtui.contract.usage import Credits
from gwtui.crud import cells
from gwtui.crud.resource import Cell, Tone
from gwtui.domain import money, times
from gwtui.domain import runway as burn
from gwtui.domain.runway import Outlook, Source, credit_outlook

Line = tuple[Cell, ...]
"""Cells that stand beside each other."""

RATES: Mapping[Source, str] = {
    "recorded": "by what is recorded",
    "today": "at today's rate",
    "measured": "at the measured rate",
}
"""What an outlook follows, in words."""

_LOW = Decimal("0.9")
_LABEL = 11
_BAR = 20


def balance_text(credits: Credits) -> str:
    """The balance as a figure alone."""
    return money.usd(credits.balance)


def balance_tone(credits: Credits) -> Tone:
    """How the balance stands."""
    if credits.balance is None:
        return "muted"
    if credits.balance <= 0:
        return "bad"
    share = credits.used_share
    return "warn" if share is not None and share >= _LOW else "plain"


def balance_lines(credits: Credits) -> Sequence[Line]:
    """Balance in words with what was bought, what is used with its share as a bar."""
    return (
        _line(
            "Balance",
            _left(credits),
            Cell(" of ", "muted"),
            cells.usd(credits.total_credits),
            Cell(" purchased", "muted"),
        ),
        _line("Used", cells.usd(credits.total_usage), Cell("  "), _share(credits)),
    )


def _left(credits: Credits) -> Cell:
    balance = credits.balance
    if balance is None:
        return Cell("unknown: the gateway did not say what was bought or used", "warn")
    if balance < 0:
        return Cell(f"overdrawn by {money.usd(-balance)}", "bad")
    if balance == 0:
        return Cell("used up", "bad")
    return Cell(f"{money.usd(balance)} left", balance_tone(credits))


def _share(credits: Credits) -> Cell:
    share = credits.used_share
    if share is None:
        return cells.NOTHING
    tone: Tone = "accent" if balance_tone(credits) == "plain" else balance_tone(credits)
    return Cell(f"{cells.bar(share, _BAR)} {money.percent(share)}", tone)


def burn_lines(
    credits: Credits,
    used_today: Decimal | None,
    measured: burn.Rate | None,
    now: datetime,
) -> Sequence[Line]:
    """The two rates and how long the balance lasts at each; each says where it comes from."""
    today = burn.since_midnight(used_today, now)
    found = credit_outlook(credits.balance, None, used_today, now, measured)
    return (
        _line("Burn", *_today_cells(today)),
        _line("", *_rate_cells(measured, _measured_over(measured), "measuring since it opened")),
        _line("Runway", *_runway_cells(credits, found, today, now)),
    )


def recorded_lines(
    rates: Line, used_today: Decimal | None, runway: Line, now: datetime
) -> Sequence[Line]:
    """The same where a history is kept: its rates and runway, and today's rate beside them."""
    return (
        _line("Burn", *rates),
        _line("", *_today_cells(burn.since_midnight(used_today, now))),
        _line("Runway", *runway),
    )


def _today_cells(today: burn.Rate | None) -> Line:
    return _rate_cells(today, "by the keys' usage since 00:00 UTC", "day too young")


def _measured_over(rate: burn.Rate | None) -> str:
    return "" if rate is None else f"measured here over {times.age(rate.over.total_seconds())}"


def _rate_cells(rate: burn.Rate | None, source: str, missing: str) -> Line:
    if rate is None:
        return cells.NOTHING, Cell(f"  {missing}", "muted")
    return Cell(f"{money.usd(rate.usd_per_hour)}/h"), Cell(f"  {source}", "muted")


def _runway_cells(
    credits: Credits, found: Outlook | None, today: burn.Rate | None, now: datetime
) -> Line:
    if credits.balance is not None and credits.balance <= 0:
        return (Cell("none: buy credits, or requests are refused", "bad"),)
    if found is not None:
        return rated_runway(found, now)
    if today is not None and today.usd_per_hour == 0:
        return (Cell("nothing is being used today", "muted"),)
    return (cells.NOTHING,)


def rated_runway(found: Outlook, now: datetime, zone: tzinfo | None = None) -> Line:
    """When the balance will be gone at a single rate, and at which; in ``zone``, None is UTC."""
    words = RATES[found.source]
    if found.likely is None:
        return Cell("more than 10 years", "good"), Cell(f"  {words}", "muted")
    left = found.likely - now
    shown = found.likely.astimezone(zone or UTC)
    days = left.days
    tone: Tone = "bad" if days < 1 else "warn" if days < 7 else "plain"  # noqa: PLR2004 - a week
    hours = int(left.total_seconds() // 3600)
    length = _plural(days, "day") if days >= 1 else _plural(hours, "hour")
    exact = f"{shown:%Y-%m-%d %H:%M} {'UTC' if zone is None else 'local'}"
    until = f"{shown:%Y-%m-%d}" if days >= 1 else exact
    return Cell(f"{length}, until {until}", tone), Cell(f"  {words}", "muted")


def _plural(number: int, word: str) -> str:
    return f"{number:,} {word}" if number == 1 else f"{number:,} {word}s"


def _line(label: str, *parts: Cell) -> Line:
    return (Cell(f"{label:<{_LABEL}}", "muted"), *parts)
