"""Credits in words: what is left, how fast it goes, and when it will be gone. Amounts are USD."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta, tzinfo

from gwtui.contract.usage import Credits
from gwtui.crud import cells
from gwtui.crud.resource import Cell, Tone
from gwtui.domain import money, times
from gwtui.domain.runway import Burn, Outlook
from gwtui.resources.credits.balance import RATES, Line, balance_tone, rated_runway
from gwtui.watch.board import BoardReadings

_WHOLE = 0.95
"""Share of a window from which on it counts as seen throughout."""
_SOON, _THIS_WEEK = timedelta(days=2), timedelta(days=7)
_NAMES = {
    timedelta(hours=1): "1 h",
    timedelta(hours=24): "24 h",
    timedelta(days=7): "7 d",
}


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
    for burn in burns:
        rate = burn.rate
        name = _NAMES.get(burn.window) or _length(burn.window)
        parts.append(Cell(f"{'   ' if parts else ''}{name} ", "muted"))
        parts.append(cells.NOTHING if rate is None else Cell(f"{money.usd(rate.usd_per_hour)}/h"))
        if rate is not None and burn.share < _WHOLE and not brief:
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
    return likely, Cell(f" {_doubt(outlook, now, zone)}", "muted")


def short_runway(
    credits: Credits | None, outlook: Outlook | None, now: datetime, zone: tzinfo | None = None
) -> Line:
    """The same for a line that has little room."""
    if outlook is None and (credits is None or credits.balance is None or credits.balance > 0):
        return (Cell("runway unknown", "muted"),)
    if outlook is None or outlook.likely is None or credits is None:
        return runway_cells(credits, outlook, now, zone)[:1]
    until = Cell(f"until {_day(outlook.likely, now, zone, short=True)}", _tone(outlook.likely, now))
    if outlook.source != "recorded":
        return until, Cell(f" {RATES[outlook.source]}", "muted")
    return until, Cell(f" {_doubt(outlook, now, zone)}", "muted")


def _doubt(outlook: Outlook, now: datetime, zone: tzinfo | None) -> str:
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
