"""Time, sleep and chance as parameters, so that tests can control them."""

from __future__ import annotations

import asyncio
import random
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from datetime import UTC, datetime


def _utc_now() -> datetime:
    return datetime.now(UTC)


@dataclass(frozen=True, slots=True)
class Clock:
    """Time, sleep and chance; tests replace them with repeatable ones."""

    now: Callable[[], datetime] = _utc_now
    """Returns the time as an aware datetime in UTC."""
    monotonic: Callable[[], float] = time.monotonic
    """Returns seconds that never go back, to measure durations."""
    sleep: Callable[[float], Awaitable[None]] = asyncio.sleep
    chance: Callable[[], float] = random.random
    """Returns a random number from 0 up to but not including 1, such as for jitter."""


SYSTEM_CLOCK = Clock()
