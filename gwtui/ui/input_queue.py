"""Handles keys, clicks and pastes one after the other, however fast they arrive.

Textual delivers a key to the widget that has the focus when the key arrives. On a slow connection
many keys arrive at once, and all would go to the screen that the first key is about to close. Here
each key waits until the previous key has taken effect: a screen that it opens has the focus, and a
screen that it closes is gone.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Mapping
from enum import IntEnum
from typing import Any, TypeGuard
from weakref import ReferenceType, WeakKeyDictionary, ref

from textual import events, on
from textual.dom import DOMNode
from textual.screen import Screen
from textual.worker import NoActiveWorker, Worker, get_current_worker

from gwtui.ui.terminal.app import TerminalApp
from gwtui.ui.widgets.lifetime import InputTarget

ACTIONS = "actions"
"""Group of the workers that run an action; most of them open a screen."""
SUBMITTING = "forms"
"""Group of the workers that submit a form; they may ask for confirmation."""
OPENING = "opening"
"""Group of the workers of a screen or widget that open another screen."""
FINISHING = "finishing"
"""Group of the workers that open no screen, but must finish before the next key is handled."""
_OPENING_SCREENS = frozenset({ACTIONS, SUBMITTING, OPENING})
"""Groups whose workers open a screen: keys typed meanwhile are meant for that screen."""
PATIENCE = 2.0
"""Seconds that an input waits for the previous one before it is dropped.

Time in which the program itself is busy does not count.
"""
GLANCE = 0.25
"""Seconds that a user needs to see the effect of a key; earlier keys count as typed blindly."""
_LOOK = 0.05
"""Maximum seconds for one round through the message queues; then the round is repeated."""
_PAUSE = 0.005
"""Seconds between two checks."""
_TOO_LONG = f": the previous key took longer than {PATIENCE:.0f} s"
_CALM = 3
"""Number of consecutive idle checks before the next input: one effect may cause another."""

Input = events.InputEvent | events.Paste
_COUNTED = events.Key | events.Paste | events.MouseDown
"""Input that counts as typed; mouse moves do not."""


class Hold(IntEnum):
    """What delays an input; a higher value delays more kinds of input."""

    NOTHING = 0
    READING = 1
    """A screen loads its rows: blindly typed keys wait if they act on rows."""
    CHANGING = 2
    """A confirmed change is being sent: blindly typed keys wait for the result."""
    OPENING = 3
    """A screen is about to open, or a message is being handled: all input waits."""


def _fail(error: Exception) -> None:
    raise error


class InputQueue:
    """Queues typed input; delivers each one only after the previous one has taken effect."""

    def __init__(self, app: QueuedInputApp) -> None:
        self._app = app
        self._waiting: deque[Input] = deque()
        self._watcher: asyncio.Task[None] | None = None
        self._laid_out: ReferenceType[Screen[Any]] | None = None
        """The screen that was laid out at the last check."""
        self._before: Mapping[object, Hold] = {}
        """The holds that already existed when the latest input was delivered."""
        self._asked: WeakKeyDictionary[Worker[Any], ReferenceType[Screen[Any]]]
        self._asked = WeakKeyDictionary()
        """The screen that each worker opened last."""
        self._stack: tuple[Screen[Any], ...] = ()
        self._dropped = 0
        self.used = False
        """Whether any input was typed since the start."""
        self._reporting: asyncio.TimerHandle | None = None
        """Timer that reports dropped input once the typing pauses; None if nothing was dropped."""

    def admit(self, event: Input) -> bool:
        """Take an input: return True if the app must handle it now, else keep or drop it."""
        self.used = self.used or isinstance(event, _COUNTED)
        if isinstance(event, events.Key) and self._app.cancel_read(event):
            self._drop()
            return False
        if self._leaves(event) and event.key.startswith("ctrl+"):
            self._drop()
            self._report("")
            return True
        if self._reporting is not None:
            self._drop(event)
            return False
        if isinstance(event, events.MouseMove):
            return self._watcher is None  # the next one reports the position, too
        if self._watcher is not None:
            self._waiting.append(event)
            return False
        self._before = self._going_on()
        self._watcher = asyncio.create_task(self._watch(), name="typed ahead")
        return True

    @property
    def pending(self) -> bool:
        """Whether inputs are queued, or the latest input is still taking effect."""
        return self._watcher is not None

    def open(self) -> None:
        """Start tracking which worker opens which screen; needs a running app."""
        self._stack = tuple(self._app.screen_stack)
        changes = self._app.screen_change_signal
        changes.subscribe(self._app, self._screen_changed, immediate=True)

    def _screen_changed(self, _top: Screen[Any]) -> None:
        before, self._stack = self._stack, tuple(self._app.screen_stack)
        opened = [screen for screen in self._stack if screen not in before]
        try:
            worker = get_current_worker()
        except NoActiveWorker:
            return
        if opened:
            self._asked[worker] = ref(opened[-1])

    def close(self) -> None:
        """Stop delivering input."""
        self._waiting.clear()
        if self._watcher is not None:
            self._watcher.cancel()
        if self._reporting is not None:
            self._reporting.cancel()

    # One after the other ----------------------------------------------------------------------

    async def _watch(self) -> None:
        try:
            while await self._over():
                if not self._waiting:
                    return
                event = self._waiting.popleft()
                self._before = self._going_on()
                self._app.call_later(self._app.handle_input, event)
            self._drop()
        except Exception as error:
            self._app.call_later(_fail, error)
        finally:
            self._watcher = None
            self._before = {}  # keeps no worker or screen alive

    async def _over(self) -> bool:
        calm, waited, shown_for = 0, 0.0, 0.0
        while calm < _CALM:
            handled = await self._handled()
            hold = self._hold(shown_for) if handled else Hold.OPENING
            if hold is Hold.NOTHING:
                calm += 1
                continue
            calm = 0
            await asyncio.sleep(_PAUSE)
            passed = _PAUSE if handled else _LOOK
            waited += passed
            shown_for = 0.0 if hold is Hold.OPENING else shown_for + passed
            if waited > PATIENCE:
                return False
        return True

    async def _handled(self) -> bool:
        """Pass a callback through the message queues; returns whether it arrived in time.

        The app, the screen, and the focused widget with its parents call it after their earlier
        messages. A screen that has just opened calls it after its layout.
        """
        app = self._app
        if not app.screen_stack:
            return True
        screen, done = app.screen, asyncio.Event()
        way: list[DOMNode] = [app, screen, *(app.focused or screen).ancestors_with_self]
        opened = self._laid_out is None or self._laid_out() is not screen

        def hop() -> None:
            while way:
                if way.pop(0).call_later(hop):
                    return
            if not (opened and screen.call_after_refresh(done.set)):
                done.set()

        hop()
        try:
            await asyncio.wait_for(done.wait(), _LOOK)
        except TimeoutError:
            return False
        self._laid_out = ref(screen)
        return True

    def _hold(self, shown_for: float) -> Hold:
        # A read delays keys even if it began earlier: letters typed into a filter may be
        # followed by a key that acts on the rows.
        holds = [
            hold
            for worker, hold in self._going_on().items()
            if hold is Hold.READING or worker not in self._before
        ]
        hold = max(holds, default=Hold.NOTHING)
        if hold is Hold.OPENING:
            return hold
        if self._waiting:
            return hold if self._needs(self._waiting[0], hold) else Hold.NOTHING
        # Keys that come after the user has seen the screen need not wait.
        return hold if shown_for < GLANCE else Hold.NOTHING

    def _needs(self, event: Input, hold: Hold) -> bool:
        screen, focused = self._app.screen, self._app.focused
        if hold is Hold.READING and isinstance(screen, InputTarget):
            return screen.needs_rows(event)
        if not self._leaves(event) or screen.is_modal:
            return True
        return focused is not None and focused.check_consume_key(event.key, event.character)

    def _leaves(self, event: Input) -> TypeGuard[events.Key]:
        return isinstance(event, events.Key) and event.key in self._app.leaving_keys

    def _going_on(self) -> Mapping[object, Hold]:
        holds: dict[object, Hold] = {}
        stack = self._app.screen_stack
        for worker in self._app.workers:
            asked = self._asked.get(worker)
            if worker.is_finished or worker.group not in (*_OPENING_SCREENS, FINISHING):
                continue
            if asked is None:
                holds[worker] = Hold.OPENING if worker.group in _OPENING_SCREENS else Hold.CHANGING
            elif asked() not in stack:
                holds[worker, asked] = Hold.CHANGING
        if stack and isinstance(stack[-1], InputTarget) and stack[-1].is_loading:
            holds[stack[-1]] = Hold.READING
        return holds

    # What took too long -----------------------------------------------------------------------

    def _drop(self, *more: Input) -> None:
        dropped = [event for event in (*self._waiting, *more) if isinstance(event, _COUNTED)]
        self._waiting.clear()
        if dropped:
            self._dropped += len(dropped)
            if self._reporting is not None:
                self._reporting.cancel()
            loop = asyncio.get_running_loop()
            self._reporting = loop.call_later(GLANCE, self._report, _TOO_LONG)

    def _report(self, why: str) -> None:
        if self._reporting is not None:
            self._reporting.cancel()
            self._reporting = None
        # Only the number of keys is reported: the keys may be part of a secret.
        count, self._dropped = self._dropped, 0
        if count:
            what = "1 key typed ahead was" if count == 1 else f"{count} keys typed ahead were"
            self._app.say(f"{what} dropped{why}", severity="warning")


class QueuedInputApp(TerminalApp, inherit_bindings=False):
    """An app that handles each key only after the previous key has taken effect."""

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        self.leaving_keys: frozenset[str] = frozenset()
        """Keys that quit the program. Those with ctrl never wait, and drop the waiting inputs. The
        others wait only if the focused widget could take them as text."""
        self._typed = InputQueue(self)

    @on(events.Mount)
    def _open_queue(self) -> None:
        self._typed.open()

    @on(events.Unmount)
    def _close_queue(self) -> None:
        self._typed.close()

    @property
    def was_typed(self) -> bool:
        """Whether any input was typed since the start."""
        return self._typed.used

    def cancel_read(self, event: events.Key) -> bool:  # noqa: ARG002 - the hook's
        """Cancel a running read if ``event`` is the key for that; return whether it did.

        If so, the queue drops this key and all waiting keys.
        """
        return False

    async def on_event(self, event: events.Event) -> None:
        """Queue input; handle any other event at once."""
        if not isinstance(event, Input) or event.is_forwarded:
            await super().on_event(event)
        elif self._typed.admit(event):
            await self.handle_input(event)

    async def handle_input(self, event: Input) -> None:
        """Deliver an input whose turn has come."""
        await super().on_event(event)
