"""Waiting times: the requests of running actions, and how long they take."""

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
"""Seconds before a wait is shown."""
SENDING = "Sending the change"


def waiting_text(pending: PendingRequests, reading: str, *, cancels: bool) -> str:
    """The text of a wait and its duration; empty while it is short.

    ``reading`` says what is read, ``cancels`` whether Escape ends a read.
    """
    if pending.seconds < NOTICEABLE:
        return ""
    words = SENDING if pending.writing else reading
    ends = " · Esc cancels" if cancels and pending.reading else ""
    return f"{words}… {max(1, round(pending.seconds))} s{ends}"


def reading_words(spec: ResourceSpec[Any] | None) -> str:
    """The data that an action on this resource reads, for the waiting text."""
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
    """The running actions and their requests."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._waits: list[_Wait] = []

    async def follow(self, action: Awaitable[None], reading: str) -> None:
        """Run an action; Escape may cancel this task while it reads."""
        wait = _Wait(PendingRequests(self._clock), reading, asyncio.current_task())
        self._waits.append(wait)
        try:
            with pending_in(wait.pending):
                await action
        finally:
            self._waits.remove(wait)

    @property
    def text(self) -> str:
        """The text of the longest wait; empty if none takes long."""
        texts = (waiting_text(one.pending, one.reading, cancels=True) for one in self._longest())
        return next(filter(None, texts), "")

    def cancel(self) -> bool:
        """Cancel the reads that Escape may cancel; returns whether there was one."""
        for one in self._longest():
            if one.pending.seconds >= NOTICEABLE and one.pending.reading and one.task is not None:
                return one.task.cancel()
        return False

    def _longest(self) -> list[_Wait]:
        return sorted(self._waits, key=lambda one: -one.pending.seconds)
