"""What a person waits for: the requests of actions, and how long they take."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from gwtui.client.request_log import PendingRequests, pending_in

if TYPE_CHECKING:
    from gwtui.crud.resource import ResourceSpec
    from gwtui.domain.clock import Clock

NOTICEABLE = 0.5
"""Seconds from which a wait is said."""
SENDING = "Sending the change"


def waiting_text(pending: PendingRequests, reading: str, *, cancels: bool) -> str:
    """What is waited for and for how long, empty while it takes no noticeable time.

    ``reading`` says what is read, ``cancels`` whether Escape ends a read.
    """
    if pending.seconds < NOTICEABLE:
        return ""
    words = SENDING if pending.writing else reading
    ends = " · Esc cancels" if cancels and pending.reading else ""
    return f"{words}… {max(1, round(pending.seconds))} s{ends}"


def reading_words(spec: ResourceSpec[Any] | None) -> str:
    """What an action reads on a list of this resource."""
    if spec is None or not spec.writes:
        return "Reading from the gateway"
    from gwtui.crud.writes import declared_writes  # noqa: PLC0415 - not before the first paint

    return f"Reading the {declared_writes(spec).noun}"


@dataclass(frozen=True, slots=True, eq=False)
class _Wait:
    pending: PendingRequests
    reading: str
    task: asyncio.Task[Any] | None


class Waits:
    """The actions under way, and what each of them waits for."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._waits: list[_Wait] = []

    async def follow(self, action: Awaitable[None], reading: str) -> None:
        """Run an action in the task that Escape can cancel while the action reads."""
        wait = _Wait(PendingRequests(self._clock), reading, asyncio.current_task())
        self._waits.append(wait)
        try:
            with pending_in(wait.pending):
                await action
        finally:
            self._waits.remove(wait)

    @property
    def text(self) -> str:
        """What is waited for longest, empty while nothing takes long."""
        texts = (waiting_text(one.pending, one.reading, cancels=True) for one in self._longest())
        return next(filter(None, texts), "")

    def cancel(self) -> bool:
        """End the reads that are said to end on Escape; whether there was one."""
        for one in self._longest():
            if one.pending.seconds >= NOTICEABLE and one.pending.reading and one.task is not None:
                return one.task.cancel()
        return False

    def _longest(self) -> list[_Wait]:
        return sorted(self._waits, key=lambda one: -one.pending.seconds)
