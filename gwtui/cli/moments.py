"""Moments as they are typed on a command line."""

from __future__ import annotations

from datetime import datetime


def past_moment(text: str | None, now: datetime) -> datetime | None:
    """A moment, or so long ago: "7d", "2026-11-01". Raises ValueError with a message."""
    from gwtui.domain.times import parse_duration, parse_moment  # noqa: PLC0415

    if text is None:
        return None
    try:
        return now - parse_duration(text)
    except (ValueError, OverflowError):
        pass
    try:
        return parse_moment(text, now)
    except ValueError:
        raise ValueError(f"{text!r} is no moment: use 7d, 12h or 2026-11-01") from None
