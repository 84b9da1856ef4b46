"""How many requests went out in the last minute: what a person is shown, never a limit."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass
from typing import NamedTuple

from gwtui.domain.clock import Clock

WINDOW = 60
"""Seconds that are counted."""


class Recent(NamedTuple):
    """The requests of the last ``WINDOW`` seconds; ``limited`` were answered with 429."""

    reads: int = 0
    writes: int = 0
    limited: int = 0

    @property
    def requests(self) -> int:
        """All of them."""
        return self.reads + self.writes


@dataclass(slots=True)
class _Second:
    at: int
    reads: int = 0
    writes: int = 0
    limited: int = 0


class Traffic:
    """Counts by whole seconds, so that it stays small however many requests there are."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._seconds: deque[_Second] = deque()

    def sent(self, *, read: bool) -> None:
        """One more request leaves."""
        second = self._now()
        if read:
            second.reads += 1
        else:
            second.writes += 1

    def limited(self) -> None:
        """The gateway asked for fewer."""
        self._now().limited += 1

    def recent(self) -> Recent:
        """The last minute."""
        self._forget()
        return Recent(
            sum(second.reads for second in self._seconds),
            sum(second.writes for second in self._seconds),
            sum(second.limited for second in self._seconds),
        )

    def _now(self) -> _Second:
        self._forget()
        at = int(self._clock.monotonic())
        if not self._seconds or self._seconds[-1].at != at:
            self._seconds.append(_Second(at))
        return self._seconds[-1]

    def _forget(self) -> None:
        oldest = int(self._clock.monotonic()) - WINDOW
        while self._seconds and self._seconds[0].at <= oldest:
            self._seconds.popleft()
