"""What was found on a write in doubt. It says how things are, never what became of the write."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from math import isfinite
from typing import Any, Generic, Literal, TypeVar

from gwtui.client.gateway import GatewayClient
from gwtui.client.skew import ClockSkew
from gwtui.domain.diffs import ABSENT, same
from gwtui.domain.times import utc
from gwtui.local.journal import OpenIntent

Verdict = Literal[
    "as wanted", "as before", "as before and wanted", "something else", "not as before", "not known"
]
"""How a thing is now, beside what it was before the write and what the write was to make it.

"not as before" where it cannot be told what was wanted, such as another stored key.
"""


@dataclass(frozen=True, slots=True)
class Compared:
    """One field, as texts for people; ``before`` None where there was nothing before."""

    label: str
    before: str | None
    wanted: str
    present: str
    verdict: Verdict


@dataclass(frozen=True, slots=True)
class Candidate:
    """A thing that was made near the time of the write, and how it compares with what was wanted.

    ``apart`` is how long after the write was sent it was made, by the gateway's clock; negative
    before, None when the gateway does not say when. ``made_by`` names another write of this
    machine that is known to have made it. ``route`` is where it is shown. ``item`` is the model.
    """

    identity: str
    name: str
    made_at: datetime | None
    apart: timedelta | None
    compared: tuple[Compared, ...]
    route: str
    made_by: str = ""
    item: Any = None

    @property
    def as_wanted(self) -> int:
        """How many fields are as wanted."""
        return sum(one.verdict == "as wanted" for one in self.compared)


@dataclass(frozen=True, slots=True)
class Evidence:
    """Everything that was found on one write in doubt.

    A creation has ``candidates``, nearest first, out of those made less than ``reach`` before or
    after; any other write has ``compared``, the thing itself as it is now. ``said`` tells in
    sentences how far was looked and what cannot be known. ``route`` is where the thing is shown.
    """

    intent: OpenIntent
    said: tuple[str, ...]
    candidates: tuple[Candidate, ...] = ()
    compared: tuple[Compared, ...] = ()
    route: str = ""
    reach: timedelta | None = None

    @property
    def is_creation(self) -> bool:
        """Whether the write was to make something."""
        return self.reach is not None


def verdict(before: Any, wanted: Any, present: Any) -> Verdict:
    """How ``present`` stands; each is ABSENT where it is not known."""
    if present is ABSENT:
        return "not known"
    as_before = before is not ABSENT and alike(before, present)
    if wanted is ABSENT:
        if before is ABSENT:
            return "not known"
        return "as before" if as_before else "not as before"
    if alike(wanted, present):
        return "as before and wanted" if as_before else "as wanted"
    return "as before" if as_before else "something else"


def alike(one: Any, other: Any) -> bool:
    """Whether two values mean the same; a list of names is the same in any order."""
    return same(_in_order(one), _in_order(other))


def _in_order(value: Any) -> Any:
    if isinstance(value, list | tuple) and all(isinstance(entry, str) for entry in value):
        return sorted(value)
    return value


def texts(value: Any) -> tuple[str, ...]:
    """The texts of a list in a journal's line, whatever else may be in it."""
    return tuple(one for one in value if isinstance(one, str)) if isinstance(value, list) else ()


def before_of(intent: OpenIntent) -> Mapping[str, Any]:
    """The fields before the write, as the gateway had given them; empty when nobody kept them."""
    kept = intent.details.get("before")
    return kept if isinstance(kept, dict) else {}


T = TypeVar("T")

REACHES = (timedelta(minutes=5), timedelta(hours=1), timedelta(hours=24))
"""How far before and after a write is looked, one after the other, when a person asks for more."""


@dataclass(frozen=True, slots=True)
class TimeWindow:
    """``sent`` is when the write left, by the gateway's clock; ``unsure`` how well that is known.

    ``reach`` is how far before and after it is looked.
    """

    sent: datetime
    unsure: timedelta
    reach: timedelta

    @classmethod
    def around(cls, moment: datetime, skew: ClockSkew, reach: timedelta = REACHES[0]) -> TimeWindow:
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


def near(
    window: TimeWindow, items: Iterable[T], made_at: Callable[[T], datetime | None]
) -> Near[T]:
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


@dataclass(frozen=True, slots=True)
class InspectionContext:
    """One look into one write in doubt.

    ``reach`` is how far before and after it is looked for what it may have made; ``makers`` names
    the other writes of this machine by what they are known to have made.
    """

    client: GatewayClient
    intent: OpenIntent
    now: datetime
    reach: timedelta = REACHES[0]
    makers: Mapping[str, str] = field(default_factory=dict)
