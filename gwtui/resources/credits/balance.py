"""The account's credits in words: balance, share used, burn rate and runway. Amounts are USD.

Lines of cells for the credits screen, the board and commands. A burn rate is USD/h, a runway is
the moment at which the balance will be gone.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta, tzinfo
from decimal import Decimal

from gwtui.contract.usage import Credits
from gwtui.crud import cells
from gwtui.crud.resource import Cell, Tone
from gwtui.domain import money, times
from gwtui.domain.runway import Burn, Outlook, Rate, Source
from gwtui.watch.board import BoardReadings
from gwtui.watch.feeds.credits import CreditsRow

Line = tuple[Cell, ...]
"""Cells that stand beside each other."""

RATES: Mapping[Source, str] = {
    "recorded": "by what is recorded",
    "today": "at today's rate",
}
"""What an outlook follows, in words."""

_LOW = Decimal("0.9")
_LABEL = 11
_BAR = 20
_WHOLE = 0.95
"""Share of a window from which on it counts as seen throughout."""
_SOON, _THIS_WEEK = timedelta(days=2), timedelta(days=7)

_NAMES = {
    timedelta(hours=1): "1 h",
    timedelta(hours=24): "24 h",
    timedelta(days=7): "7 d",
}


def balance_text(credits: Credits) -> str:
    """The balance as a figure alone."""
    return money.usd(credits.balance)


def balance_tone(credits: Credits) -> Tone:
    """The tone of the balance: bad when used up, warn from 90 % used on."""
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


def burn_lines(row: CreditsRow, now: datetime, *, brief: bool = False) -> Sequence[Line]:
    """What is recorded of the burn, today's rate and the runway; ``brief`` as in ``burn_cells``."""
    burns = () if row.past is None else row.past.burns
    return (
        _line("Burn", *burn_cells(burns, brief=brief)),
        _line("", *_today_cells(row.rate(now))),
        _line("Runway", *runway_cells(row.credits, row.outlook(now), now)),
    )


def _today_cells(today: Rate | None) -> Line:
    if today is None:
        return cells.NOTHING, Cell("  day too young", "muted")
    source = "  by the keys' usage since 00:00 UTC"
    return Cell(f"{money.usd(today.usd_per_hour)}/h"), Cell(source, "muted")


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


def left_cells(seen: BoardReadings[Credits], now: datetime, *, past: bool = False) -> Line:
    """What is left, or was left then; how old that is once it matters."""
    credits = seen.value
    if credits is None:
        if past:
            return (Cell("not recorded", "muted"),)
        return (Cell("not read yet" if seen.error is None else "cannot be read", "warn"),)
    balance = credits.balance
    if balance is None:
        words = Cell("unknown", "warn")
    elif balance < 0:
        words = Cell(f"overdrawn by {money.usd(-balance)}", "bad")
    else:
        words = Cell(f"{money.usd(balance)} left", balance_tone(credits))
    if seen.is_old(now):
        return words, Cell(f"  {times.age(seen.age(now))} old", "warn")
    return (words,)


def burn_cells(burns: Sequence[Burn], *, brief: bool = False) -> Line:
    """The rate of each window, in the same unit so that they can be compared.

    ``brief`` leaves out how much of a window was seen.
    """
    parts: list[Cell] = []
    for one in burns:
        rate = one.rate
        name = _NAMES.get(one.window) or _length(one.window)
        parts.append(Cell(f"{'   ' if parts else ''}{name} ", "muted"))
        parts.append(cells.NOTHING if rate is None else Cell(f"{money.usd(rate.usd_per_hour)}/h"))
        if rate is not None and one.share < _WHOLE and not brief:
            parts.append(Cell(f" ({_length(rate.over)} seen)", "muted"))
    return tuple(parts) or (Cell("nothing is recorded to tell", "muted"),)


def _length(span: timedelta) -> str:
    return times.age(span.total_seconds())


def runway_cells(
    credits: Credits | None, outlook: Outlook | None, now: datetime, zone: tzinfo | None = None
) -> Line:
    """When the balance will be gone, with the doubt about it; days as in ``zone``, None is UTC."""
    balance = None if credits is None else credits.balance
    if balance is not None and balance <= 0:
        return (Cell("none: buy credits, or requests are refused", "bad"),)
    if outlook is None:
        return (Cell("unknown: nothing used, or too little is recorded", "muted"),)
    if outlook.source != "recorded":
        return rated_runway(outlook, now, zone)
    if outlook.likely is None:
        likely = Cell("more than 10 years", "good")
    else:
        distance = times.relative(outlook.likely, now).removeprefix("in ")
        likely = Cell(
            f"{distance}, until {_day(outlook.likely, now, zone)}", _tone(outlook.likely, now)
        )
    return likely, Cell(f" {_range_text(outlook, now, zone)}", "muted")


def short_runway(
    credits: Credits | None, outlook: Outlook | None, now: datetime, zone: tzinfo | None = None
) -> Line:
    """As ``runway_cells``, for a line that has little room."""
    if outlook is None and (credits is None or credits.balance is None or credits.balance > 0):
        return (Cell("runway unknown", "muted"),)
    if outlook is None or outlook.likely is None or credits is None:
        return runway_cells(credits, outlook, now, zone)[:1]
    until = Cell(f"until {_day(outlook.likely, now, zone, short=True)}", _tone(outlook.likely, now))
    if outlook.source != "recorded":
        return until, Cell(f" {RATES[outlook.source]}", "muted")
    return until, Cell(f" {_range_text(outlook, now, zone)}", "muted")


def _range_text(outlook: Outlook, now: datetime, zone: tzinfo | None) -> str:
    if outlook.soonest is None:
        return "by every rate that was seen"
    return f"({_edge(outlook.soonest, now, zone)} to {_edge(outlook.latest, now, zone)})"


def _day(moment: datetime, now: datetime, zone: tzinfo | None, *, short: bool = False) -> str:
    """The day, for what is near the time too."""
    shown = moment.astimezone(zone or UTC)
    if moment - now < _SOON:
        return f"{shown:%m-%d %H:%M}{'' if short else ' UTC' if zone is None else ' local'}"
    return f"{shown:%m-%d}" if short and shown.year == now.year else f"{shown:%Y-%m-%d}"


def _edge(moment: datetime | None, now: datetime, zone: tzinfo | None) -> str:
    """An end of the doubt, to the day or to the hour; None is beyond ten years."""
    if moment is None:
        return "10 years"
    shown = moment.astimezone(zone or UTC)
    if moment - now < _SOON:
        return f"{shown:%m-%d %Hh}"
    return f"{shown:%m-%d}" if shown.year == now.year else f"{shown:%Y-%m-%d}"


def _tone(moment: datetime, now: datetime) -> Tone:
    if moment - now < _SOON:
        return "bad"
    return "warn" if moment - now < _THIS_WEEK else "plain"
