"""What a spending cap leaves while usage is booked request by request, in order of time."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from decimal import Decimal

from gwtui.embedded.simulator import UsageSlice
from gwtui.embedded.store.columns import to_day, to_pico
from gwtui.embedded.store.usage import window_days

Booked = Callable[[int], tuple[int, int]]
"""Pico-USD (credits, BYOK) that are booked already from a day on; day 0 is all time."""


class Allowance:
    """One cap: the limit of a key, or a budget of the workspace that many keys share.

    A request is let through while anything is left, so the last one may overdraw.
    """

    def __init__(
        self, limit: Decimal, reset: str | None, booked: Booked, *, with_byok: bool
    ) -> None:
        self._limit = to_pico(limit)
        self._reset = reset
        self._booked = booked
        self._with_byok = with_byok
        self._day = self._window = -1
        self._spent = 0

    def admits(self, moment: datetime) -> bool:
        """Whether anything is left at a moment, which is never earlier than the one before."""
        self._turn_to(moment)
        return self._spent < self._limit

    def count(self, used: UsageSlice) -> None:
        """Take what a request that was let through has used."""
        self._spent += to_pico(used.usd) + (to_pico(used.byok_usd) if self._with_byok else 0)

    def _turn_to(self, moment: datetime) -> None:
        day = to_day(moment)
        if day == self._day:
            return
        self._day = day
        window = 0 if self._reset is None else window_days(moment)[self._reset]
        if window != self._window:
            self._window = window
            usage, byok = self._booked(window)
            self._spent = usage + (byok if self._with_byok else 0)
