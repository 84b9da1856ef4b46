"""How far the gateway's clock is from this machine's, measured by the Date of its answers.

Every age and every "expires in" compares a moment of the gateway with the present moment here, so
that it is wrong by as much.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime

TOLERATED = 5.0
"""Seconds of skew that nobody needs to know about."""
_RESOLUTION = 1.0
"""A Date has whole seconds, rounded down."""


class ClockSkew:
    """What the answers so far say: the skew is between ``low`` and ``high`` seconds.

    Positive is a gateway that is ahead. Each answer narrows it; one that cannot be reconciled with
    those before means that a clock was set, and begins anew.
    """

    def __init__(self) -> None:
        self.low = float("-inf")
        self.high = float("inf")

    def observe(self, headers: Mapping[str, str], received: datetime, elapsed: float) -> None:
        """Take an answer's headers (names in lower case) in.

        ``received`` is this machine's time when they came, ``elapsed`` the seconds since the
        request left. An answer from a cache says nothing about now.
        """
        stamped = http_date(headers.get("date"))
        if stamped is None or "age" in headers:
            return
        low = (stamped - received).total_seconds()
        high = low + elapsed + _RESOLUTION
        if low > self.high or high < self.low:
            self.low, self.high = low, high
        else:
            self.low, self.high = max(self.low, low), min(self.high, high)

    @property
    def seconds(self) -> float:
        """The skew, most likely; 0 before any answer."""
        known = self.low <= self.high < float("inf")
        return (self.low + self.high) / 2 if known else 0.0

    @property
    def is_notable(self) -> bool:
        """Whether a person should know: it is more than is tolerated for sure."""
        return self.low > TOLERATED or self.high < -TOLERATED


def http_date(text: str | None) -> datetime | None:
    """The moment of a header such as Date, UTC; None when it is absent or unreadable."""
    try:
        moment = parsedate_to_datetime(text or "")
    except ValueError:
        return None
    return moment if moment.tzinfo is not None else moment.replace(tzinfo=UTC)
