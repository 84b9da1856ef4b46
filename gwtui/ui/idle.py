"""Whether the message pumps of an app have anything left to do."""

from __future__ import annotations

from typing import Any

from textual._queue import Queue
from textual.app import App
from textual.message import Message
from textual.message_pump import MessagePump
from textual.screen import Screen


def is_idle(app: App[Any]) -> bool:
    """Whether no message is queued or being handled: in the app, its screens and their widgets.

    Workers, timers and what the operating system is asked for do not count.
    """
    return _waits(app) and all(node._task is None or _waits(node) for node in tuple(app._registry))


def is_laid_out(screen: Screen[Any]) -> bool:
    """Whether everything has its place, and what waits for that has been called."""
    return not (screen._layout_required or screen._callbacks)


def _waits(pump: MessagePump) -> bool:
    """Whether a pump waits for its next message. One that is being mounted does not yet."""
    queue: Queue[Message | None] = pump._message_queue
    return queue.empty() and bool(queue.ready_event._waiters) and not pump._next_callbacks
