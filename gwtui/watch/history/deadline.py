"""By when work on a history must be over: whoever quits waits for no long write.

Long work calls ``in_time`` between two rows, and raises once the deadline of its thread has passed.
It is one transaction that is rolled back then: the file holds all of a reading or nothing of it.
"""

from __future__ import annotations

import math
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager

from gwtui.watch.history.model import HistoryEndedError


class Deadline:
    """A moment of the monotonic clock; none until one is set. May be set from any thread."""

    def __init__(self) -> None:
        self._at = math.inf

    def set(self, seconds: float) -> None:
        """Work must be over in so many seconds."""
        self._at = time.monotonic() + seconds

    @property
    def is_over(self) -> bool:
        """Whether the moment has passed."""
        return time.monotonic() > self._at

    @contextmanager
    def applied(self) -> Iterator[None]:
        """What runs within, in this thread, must be over by then."""
        before, _thread.deadline = _thread.deadline, self
        try:
            yield
        finally:
            _thread.deadline = before


class _Thread(threading.local):
    deadline = Deadline()


_thread = _Thread()


def in_time() -> None:
    """Raises HistoryEndedError once the deadline of the work in this thread has passed."""
    if _thread.deadline.is_over:
        raise HistoryEndedError("the program ended before it was written")
