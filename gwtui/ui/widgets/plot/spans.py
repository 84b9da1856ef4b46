"""The spans of time that plots can show, and where their windows begin and end."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta


@dataclass(frozen=True, slots=True)
class Span:
    """A span to choose: its name, its length, and the stride by which its window moves on.

    The window stands still for a stride, so that a tick adds to the curve and moves nothing: a
    moving curve would send the whole plot at each tick.
    """

    name: str
    length: timedelta
    stride: timedelta


@dataclass(frozen=True, slots=True)
class Window:
    """From when to when a plot reaches, UTC."""

    since: datetime
    until: datetime

    @property
    def seconds(self) -> float:
        """Its length."""
        return (self.until - self.since).total_seconds()


SPANS: tuple[Span, ...] = (
    Span("1h", timedelta(hours=1), timedelta(minutes=10)),
    Span("24h", timedelta(hours=24), timedelta(hours=3)),
    Span("7d", timedelta(days=7), timedelta(hours=12)),
    Span("30d", timedelta(days=30), timedelta(days=3)),
)
"""What can be zoomed to, shortest first."""


def window_at(span: Span, now: datetime) -> Window:
    """The window of a span that holds ``now``: it ends at the next whole stride, UTC."""
    stride = int(span.stride.total_seconds())
    moment = int(now.timestamp())
    until = datetime.fromtimestamp((moment // stride + 1) * stride, UTC)
    return Window(until - span.length - span.stride, until)
