"""The recorded credits: the balance, how fast it goes, and when it will be gone."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta

from gwtui.domain.runway import WINDOWS, Burn, Outlook, UsedTotal, burns, outlook
from gwtui.watch.history import model as figures
from gwtui.watch.history.model import ACCOUNT, Reading, SeriesKey
from gwtui.watch.history.reader import HistoryReader

BALANCE = SeriesKey("credits", ACCOUNT, figures.BALANCE)
TOTAL_USAGE = SeriesKey("credits", ACCOUNT, figures.TOTAL_USAGE)

_BEFORE = timedelta(hours=1)
"""So much is read from before the longest window: its first step may begin there."""


@dataclass(frozen=True, slots=True)
class CreditsState:
    """The credits as of a moment; ``outlook`` is None when nothing can be said of the end."""

    balance: Reading
    burns: tuple[Burn, ...]
    outlook: Outlook | None


def used_totals(reader: HistoryReader, since: datetime, until: datetime) -> list[UsedTotal]:
    """The readings of the total used; those without a figure are left out."""
    return [
        UsedTotal(found.measured_at, found.value)
        for found in reader.readings(TOTAL_USAGE, since, until)
        if found.value is not None and found.measured_at is not None
    ]


def credits_state(reader: HistoryReader, now: datetime) -> CreditsState:
    """How the credits stood at a moment, from what was recorded up to then.

    Raises sqlite3.Error.
    """
    balance = reader.value_at(BALANCE, now)
    used = used_totals(reader, now - max(WINDOWS) - _BEFORE, now)
    return CreditsState(balance, burns(used, now), outlook(balance.value, used, now))
