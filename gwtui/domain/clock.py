"""Time, sleep and chance, passed in so that every timer is testable and every snapshot still."""

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
    """Time, sleep and chance; tests replace each of them by repeatable ones."""

    now: Callable[[], datetime] = _utc_now
    """Wall clock, aware, UTC."""
    monotonic: Callable[[], float] = time.monotonic
    """Seconds that only grow; for durations."""
    sleep: Callable[[float], Awaitable[None]] = asyncio.sleep
    chance: Callable[[], float] = random.random
    """Uniform in [0, 1); for jitter."""


SYSTEM_CLOCK = Clock()
