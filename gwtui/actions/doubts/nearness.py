"""What was made near a moment: by the gateway's clock, which is not this machine's."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta
from math import isfinite
from typing import Generic, TypeVar

from gwtui.client.skew import ClockSkew
from gwtui.domain.times import utc

T = TypeVar("T")

REACHES = (timedelta(minutes=5), timedelta(hours=1), timedelta(hours=24))
"""How far before and after a write is looked, one after the other, when a person asks for more."""


@dataclass(frozen=True, slots=True)
class Window:
    """``sent`` is when the write left, by the gateway's clock; ``unsure`` how well that is known.

    ``reach`` is how far before and after it is looked.
    """

    sent: datetime
    unsure: timedelta
    reach: timedelta

    @classmethod
    def around(cls, moment: datetime, skew: ClockSkew, reach: timedelta = REACHES[0]) -> Window:
        """Around a moment of this machine's clock."""
        width = skew.high - skew.low
        unsure = timedelta(seconds=width / 2) if isfinite(width) and width > 0 else timedelta()
        return cls(moment + timedelta(seconds=skew.seconds), unsure, reach)

    def apart(self, made: datetime) -> timedelta:
        """How long after the write was sent that was; negative before."""
        return made - self.sent

    def holds(self, made: datetime) -> bool:
        """Whether that is near enough."""
        return abs(self.apart(made)) <= self.reach + self.unsure

    @property
    def told(self) -> str:
        """From when to when: "between ... and ... UTC"."""
        wide = self.reach + self.unsure
        begin, end = self.sent - wide, self.sent + wide
        first = utc(begin, seconds=True).removesuffix(" UTC")
        last = utc(end, seconds=True)
        if begin.date() == end.date():
            last = last.partition(" ")[2]
        return f"between {first} and {last}"


@dataclass(frozen=True, slots=True)
class Near(Generic[T]):
    """What was made inside of a window, nearest first, and what can not be told of the rest.

    ``nearest_outside`` is when the nearest other one was made; ``undated`` counts those of which
    the gateway does not say when they were made.
    """

    inside: tuple[T, ...]
    nearest_outside: datetime | None
    undated: int


def near(window: Window, items: Iterable[T], made_at: Callable[[T], datetime | None]) -> Near[T]:
    """Sort out what was made near."""
    inside: list[tuple[timedelta, int, T]] = []
    outside: list[tuple[timedelta, datetime]] = []
    undated = 0
    for place, item in enumerate(items):
        made = made_at(item)
        if made is None:
            undated += 1
        elif window.holds(made):
            inside.append((abs(window.apart(made)), place, item))
        else:
            outside.append((abs(window.apart(made)), made))
    nearest = min(outside)[1] if outside else None
    ordered = sorted(inside, key=lambda one: one[:2])
    return Near(tuple(item for _, _, item in ordered), nearest, undated)
