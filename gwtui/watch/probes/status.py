"""How probing stands, and how that reads in a status line."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from decimal import Decimal

from gwtui.domain.money import usd
from gwtui.domain.probes import NOTHING_SPENT, ProbeSpending
from gwtui.domain.times import duration


@dataclass(frozen=True, slots=True)
class ProbeStatus:
    """How probing stands. Amounts are USD.

    ``endpoints`` are probed, ``mute`` of them in vain, ``left_out`` says of the others why not.
    ``most`` is what a day costs at the most by the prices, ``cap`` what it may. ``problem`` is why
    nothing is probed now, or what the last probes met; empty while all is well.
    """

    every: timedelta
    cap: Decimal
    endpoints: int = 0
    left_out: tuple[tuple[str, str], ...] = ()
    most: Decimal | None = None
    spent: ProbeSpending = NOTHING_SPENT
    mute: int = 0
    problem: str = ""
    full: bool = False
    """Whether the day's maximum left no room for a probe."""

    @property
    def announcement(self) -> str:
        """What is said before the first probe."""
        if not self.endpoints:
            return f"Nothing is probed: {self._why_none}"
        count = f"{self.endpoints} endpoint{'' if self.endpoints == 1 else 's'}"
        out = f"; {len(self.left_out)} cannot be probed" if self.left_out else ""
        cost = f"for {self.cost_a_day} a day at the most"
        return f"Probes {count} every {duration(self.every)}, {cost}{out}"

    @property
    def line(self) -> str:
        """For a status line."""
        if not self.endpoints:
            return f"no probes: {self._why_none}"
        parts = [
            f"probes every {duration(self.every)}",
            f"today {usd(self.spent.at_most)} of {self.cost_a_day} at most",
        ]
        if self.mute:
            parts.append(f"{self.mute} say nothing")
        if self.full and not self.spent.at_most:
            parts.append(f"the maximum of {usd(self.cap)} is less than what one probe may cost")
        elif self.full:
            parts.append("the day's maximum is reached, they go on at 00:00 UTC")
        if self.problem:
            parts.append(self.problem)
        return ", ".join(parts)

    @property
    def cost_a_day(self) -> str:
        """The most that a day costs: by the prices, or by the maximum where that is less."""
        least = self.cap if self.most is None else min(self.most, self.cap)
        return usd(least)

    @property
    def _why_none(self) -> str:
        if self.problem:
            return self.problem
        reasons = dict.fromkeys(why for _, why in self.left_out)
        return ", ".join(reasons) or "no endpoint is watched"
