"""Telling a person's own program of alerts: in order, a few at a time, failures told once."""

from __future__ import annotations

import asyncio
import json
import logging
from collections import deque
from collections.abc import Callable, Iterable, Sequence

from pydantic import JsonValue

from gwtui.local.alerts import AlertCommandError, run_alert_command
from gwtui.watch.alerts.model import AlertEvent

AT_A_TIME = 2
"""Programs that run at the same time."""
MOST_WAITING = 100
"""Events that wait for one; what comes then pushes the oldest one out."""

_log = logging.getLogger(__name__)


class AlertNotifier:
    """Runs the command for each event. ``failed`` is called with a sentence for a person.

    Needs a running event loop; ``close`` it at the end.
    """

    def __init__(
        self, about: dict[str, JsonValue], failed: Callable[[str], None] = lambda _: None
    ) -> None:
        self._about = about
        self._failed = failed
        self._waiting: deque[tuple[Sequence[str], AlertEvent]] = deque(maxlen=MOST_WAITING)
        self._running: set[asyncio.Task[None]] = set()
        self._said = ""

    def notify(self, command: Sequence[str] | None, events: Iterable[AlertEvent]) -> None:
        """Run the command for those events that notify; without a command for none."""
        for event in events:
            if command and event.notifies:
                self._waiting.append((command, event))
        self._start()

    @property
    def busy(self) -> bool:
        """Whether anything runs or waits."""
        return bool(self._running or self._waiting)

    async def close(self) -> None:
        """End what runs; what waits is not told."""
        self._waiting.clear()
        for task in self._running:
            task.cancel()
        if self._running:
            await asyncio.wait(self._running)

    def _start(self) -> None:
        while self._waiting and len(self._running) < AT_A_TIME:
            command, event = self._waiting.popleft()
            task = asyncio.get_running_loop().create_task(self._run(command, event))
            self._running.add(task)
            task.add_done_callback(self._ended)

    def _ended(self, task: asyncio.Task[None]) -> None:
        self._running.discard(task)
        if not task.cancelled():
            self._start()

    async def _run(self, command: Sequence[str], event: AlertEvent) -> None:
        try:
            await run_alert_command(command, event_text(event, self._about))
        except AlertCommandError as error:
            self._fail(str(error))
        except Exception as error:
            _log.exception("alerts: telling failed")
            self._fail(f"unexpected {type(error).__name__}")
        else:
            self._said = ""

    def _fail(self, why: str) -> None:
        """The same failure again and again is one."""
        if why != self._said:
            self._said = why
            self._failed(f"The alert command failed: {why}")


def event_text(event: AlertEvent, about: dict[str, JsonValue]) -> str:
    """One line of JSON for the program."""
    return json.dumps({**event.as_json(), **about}, ensure_ascii=True) + "\n"
