"""What the gateway called the requests of one piece of work: their request ids.

A service gives back what it made, not how the request went; who must be able to name the request
later, such as an audit log, collects the ids around the call.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

_collecting: ContextVar[list[str] | None] = ContextVar("request_ids", default=None)


@contextmanager
def request_ids() -> Iterator[list[str]]:
    """Collect the ids of the writes that are answered inside, in the order of the answers."""
    found: list[str] = []
    token = _collecting.set(found)
    try:
        yield found
    finally:
        _collecting.reset(token)


def answered(request_id: str | None) -> None:
    """Note the id of a write that was answered; nothing happens where nobody collects."""
    found = _collecting.get()
    if found is not None and request_id is not None:
        found.append(request_id)
