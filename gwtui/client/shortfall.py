"""What the lists that were read for one purpose lacked.

A reading often joins several lists into rows of its own. What one of them lacked must not get lost
on the way, whoever joins them.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass


@dataclass(slots=True)
class Shortfall:
    """``unreadable`` counts rows that were left out, ``cut`` lists that ended before their end."""

    unreadable: int = 0
    cut: int = 0

    def __bool__(self) -> bool:
        return bool(self.unreadable or self.cut)


_current: ContextVar[Shortfall | None] = ContextVar("shortfall", default=None)


@contextmanager
def gathered() -> Iterator[Shortfall]:
    """Gather what every list lacks that is read inside, tasks begun inside included."""
    found = Shortfall()
    token = _current.set(found)
    try:
        yield found
    finally:
        _current.reset(token)


def tell(unreadable: int, *, complete: bool) -> None:
    """One list was read."""
    found = _current.get()
    if found is not None:
        found.unreadable += unreadable
        found.cut += not complete
