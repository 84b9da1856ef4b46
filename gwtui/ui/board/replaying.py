"""Moving through recorded time: where the board stands, and the steps it takes."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import datetime, timedelta

from gwtui.domain.times import parse_duration, parse_moment
from gwtui.ui.widgets.plot import SPANS, Span

_LEAP = 10
"""Steps in a leap."""
_STEPS = dict(
    zip(
        (span.name for span in SPANS),
        (timedelta(minutes=1), timedelta(minutes=15), timedelta(hours=2), timedelta(hours=8)),
        strict=True,
    )
)
_AGO = re.compile(r"-\s*(.+)|(.+?)\s+ago")
_TIME = re.compile(r"(\d{1,2}):(\d\d)")
_DAY = timedelta(days=1)


@dataclass(frozen=True, slots=True)
class Replay:
    """The moment that is shown; None is live."""

    moment: datetime | None = None

    @property
    def live(self) -> bool:
        """Whether the present is shown."""
        return self.moment is None

    def step(
        self, by: int, span: Span, now: datetime, begin: datetime | None, *, leap: bool = False
    ) -> Replay:
        """Go back (-1) or forward (1) by a step that suits the span; past the present is live.

        ``begin`` is when the recording begins: there is nothing before it.
        """
        stride = _STEPS[span.name] * (_LEAP if leap else 1)
        start = self.moment or now.replace(second=0, microsecond=0)
        return Replay(start + by * stride)._within(begin, now)

    def at(self, moment: datetime, now: datetime, begin: datetime | None) -> Replay:
        """Show this moment."""
        return Replay(moment)._within(begin, now)

    def _within(self, begin: datetime | None, now: datetime) -> Replay:
        moment = self.moment
        if moment is None or moment >= now:
            return Replay()
        return Replay(max(moment, begin)) if begin is not None else self


def parse_past(text: str, now: datetime) -> datetime:
    """The moment in the past that a person typed, UTC.

    As ``times.parse_moment``, and "3h ago", "-90min", "yesterday", "yesterday 18:00", and "18:00"
    for the last time the clock showed that. Raises ValueError with a message for the person.
    """
    typed = " ".join(text.split()).lower()
    if ago := _AGO.fullmatch(typed):
        return now - parse_duration(ago.group(1) or ago.group(2))
    day, _, rest = typed.partition(" ")
    if day == "yesterday":
        return _clock(rest or "00:00", parse_moment("today", now) - _DAY)
    if _TIME.fullmatch(typed):
        found = _clock(typed, parse_moment("today", now))
        return found if found <= now else found - _DAY
    return parse_moment(typed, now)


def _clock(text: str, day: datetime) -> datetime:
    match = _TIME.fullmatch(text)
    if match is None:
        raise ValueError("expected a time such as 18:00")
    try:
        return day.replace(hour=int(match.group(1)), minute=int(match.group(2)))
    except ValueError as error:
        raise ValueError(f"no such time: {error}") from error
