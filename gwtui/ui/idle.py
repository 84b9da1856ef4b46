"""Whether the message pumps of an app have anything left to do."""

from __future__ import annotations

from typing import Any

from textual._queue import Queue
from textual.app import App
from textual.message import Message
from textual.message_pump import MessagePump
from textual.screen import Screen


def busy_pump(app: App[Any], likely: MessagePump | None = None) -> MessagePump | None:
    """A pump with a message queued or being handled: of the app, its screens or their widgets.

    ``likely`` is looked at first. None when there is nothing left to do; workers, timers and what
    the operating system is asked for do not count.
    """
    if likely is not None and _is_busy(likely):
        return likely
    return next((pump for pump in (app, *app._registry) if _is_busy(pump)), None)


def is_laid_out(screen: Screen[Any]) -> bool:
    """Whether everything has its place, and what waits for that has been called."""
    return not (screen._layout_required or screen._callbacks)


def _is_busy(pump: MessagePump) -> bool:
    """Whether a pump does anything but wait for its next message; one being mounted does."""
    queue: Queue[Message | None] = pump._message_queue
    if queue.ready_event._waiters:
        return not queue.empty() or bool(pump._next_callbacks)
    # A pump that was never started, or has ended, has no task. The app's is nobody's.
    return pump._task is not None or pump.is_dom_root
