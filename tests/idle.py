"""Waiting until an app is idle, judged by its event loop instead of the clock."""

from __future__ import annotations

import asyncio
import time
from typing import Any
from weakref import WeakKeyDictionary

from textual.app import ScreenStackError
from textual.message_pump import MessagePump
from textual.pilot import Pilot, WaitForScreenTimeout

_LOOK = 0.003
"""Seconds between two checks, in which other threads finish or show that they are busy."""
_AT_WORK = _LOOK / 5
"""Processor seconds between two checks from which a thread counts as busy."""
_SOON = 0.01
"""Timers due within this many seconds are awaited, such as the next frame."""
_TIMERS = 0.06
"""Seconds after which timers are no longer awaited, because some repeat forever."""


async def wait_for_idle(min_sleep: float = 0.0, max_sleep: float = 1.0) -> None:
    """Replaces the function of this name in Textual, which its pilot calls twice for each key.

    Textual's version looks at processor time in steps of 20 ms, so a process that waits for its
    turn on a busy core looks idle. This version requires that no callback is ready, no thread has
    work and no timer is due soon.
    """
    loop: Any = asyncio.get_running_loop()
    start = loop.time()
    while True:
        used = time.process_time()
        await asyncio.sleep(_LOOK)
        worked = time.process_time() - used > _AT_WORK
        now = loop.time()
        passed = now - start
        if passed >= max_sleep:
            return
        if worked or loop._ready or _in_threads(loop) or passed < min_sleep:
            continue
        if passed >= _TIMERS or not _due(loop, now + _SOON):
            return


_seen_idle: WeakKeyDictionary[Any, float] = WeakKeyDictionary()
"""Event loop -> the last time it was idle after a key."""


async def wait_after_key(min_sleep: float = 0.0) -> None:
    """Like ``wait_for_idle``, but the pilot's second call for a key returns at once."""
    loop: Any = asyncio.get_running_loop()
    if not loop._ready and loop.time() - _seen_idle.get(loop, 0.0) < _AT_WORK:
        return
    await wait_for_idle(min_sleep)
    _seen_idle[loop] = loop.time()


async def wait_for_screen(pilot: Pilot[Any]) -> bool:
    """Replaces the method of Textual's pilot: wait until app and screen have no queued messages.

    Textual's version sends a message to every widget, a hundred in a form, for every wait. This
    version only asks widgets that have something to do.
    """
    # Ready callbacks may add to the queues.
    await asyncio.sleep(0)
    app = pilot.app
    try:
        pumps = [app, *app.screen.walk_children(with_self=True)]
    except ScreenStackError:
        return False
    busy = {id(pump) for pump in pumps if is_busy(pump)}
    handled = asyncio.Event()

    def handle(pump: int) -> None:
        busy.discard(pump)
        if not busy:
            handled.set()

    for pump in pumps:
        if id(pump) in busy and not pump.call_later(handle, id(pump)):
            handle(id(pump))
    if busy:
        await _first(handled, app._exception_event)
    return not busy


async def _first(*events: asyncio.Event) -> None:
    """Wait for one of some events; raises ``WaitForScreenTimeout`` after half a minute."""
    waiting = [asyncio.create_task(event.wait()) for event in events]
    done, pending = await asyncio.wait(waiting, timeout=30, return_when=asyncio.FIRST_COMPLETED)
    for task in pending:
        task.cancel()
    if not done:
        raise WaitForScreenTimeout("Timed out while widgets process pending messages.")


def _due(loop: Any, moment: float) -> bool:
    """Whether a timer is due before this time of the event loop."""
    return any(handle._when < moment and not handle._cancelled for handle in loop._scheduled)


def _in_threads(loop: Any) -> bool:
    """Whether a thread still works on something."""
    executor = loop._default_executor
    return executor is not None and executor._idle_semaphore._value < len(executor._threads)


def is_busy(pump: MessagePump) -> bool:
    """Whether a message pump does anything but wait for its next message."""
    queue: Any = pump._message_queue
    if queue.ready_event._waiters:
        return bool(queue.values or pump._next_callbacks)
    # A pump that has not started, or has ended, has no task; neither has the app's.
    return pump._task is not None or pump.is_dom_root
