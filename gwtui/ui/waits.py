"""Waiting for requests of actions: texts with the elapsed time, and cancelling by Escape."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from gwtui.client.request_log import PendingRequests, pending_in

if TYPE_CHECKING:
    from gwtui.domain.clock import Clock

NOTICEABLE = 0.5
"""Seconds after which a wait is shown."""
SENDING = "Sending the change"
READING = "Reading from the gateway"


def waiting_text(pending: PendingRequests, reading: str, *, cancels: bool) -> str:
    """What gwtui waits for and how long: "Reading the key… 3 s"; empty for a short wait.

    ``reading`` is the text for a read; ``cancels`` adds that Escape cancels it.
    """
    if pending.seconds < NOTICEABLE:
        return ""
    words = SENDING if pending.writing else reading
    ends = " · Esc cancels" if cancels and pending.reading else ""
    return f"{words}… {max(1, round(pending.seconds))} s{ends}"


@dataclass(frozen=True, slots=True, eq=False)
class _Wait:
    pending: PendingRequests
    task: asyncio.Task[Any] | None


class Waits:
    """The running actions, and how long they have waited for the gateway."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._waits: list[_Wait] = []

    async def run(self, action: Awaitable[None]) -> None:
        """Run an action; meanwhile ``text`` shows its waits and ``cancel`` cancels its reads."""
        wait = _Wait(PendingRequests(self._clock), asyncio.current_task())
        self._waits.append(wait)
        try:
            with pending_in(wait.pending):
                await action
        finally:
            self._waits.remove(wait)

    @property
    def text(self) -> str:
        """The text about the longest wait; empty if there is no noticeable wait."""
        texts = (waiting_text(wait.pending, READING, cancels=True) for wait in self._longest())
        return next(filter(None, texts), "")

    def cancel(self) -> bool:
        """Cancel the longest noticeable read; returns whether there was one."""
        for wait in self._longest():
            is_read = wait.pending.seconds >= NOTICEABLE and wait.pending.reading
            if is_read and wait.task is not None:
                return wait.task.cancel()
        return False

    def _longest(self) -> list[_Wait]:
        return sorted(self._waits, key=lambda wait: -wait.pending.seconds)
