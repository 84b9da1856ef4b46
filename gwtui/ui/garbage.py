"""When unreachable objects are collected: while nobody is at the keyboard."""

from __future__ import annotations

import gc
import time
from collections.abc import Callable

_REST_S = 10.0


class Garbage:
    """Collects closed screens once nobody has used the keyboard or mouse for ten seconds.

    A screen and its widgets refer to each other, so that a closed one stays in memory until the
    collector goes through every object. By itself it does so seldom, and in the middle of work.
    """

    def __init__(self, monotonic: Callable[[], float] = time.monotonic) -> None:
        self._monotonic = monotonic
        self._touched_at: float | None = None

    def touched(self) -> None:
        """Somebody pressed a key or moved the mouse."""
        self._touched_at = self._monotonic()

    def tick(self) -> bool:
        """Collect at the first call of a rest; whether it did. Call it once a second."""
        if self._touched_at is None or self._monotonic() - self._touched_at < _REST_S:
            return False
        self._touched_at = None
        gc.collect()
        return True
