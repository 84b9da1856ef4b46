"""Keys, clicks and pastes are handled strictly one after the other, however fast they come.

Textual hands every key to the widget that has the focus when the key arrives. Over a stalled line
many arrive at once: then they would all go to the screen that the first of them is about to leave.
Here each waits until what the one before it began is over: what it opens is there and has the
focus, what it closes is gone.
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
"""Group of the workers that do what an action promises: most of them open a screen."""
SUBMITTING = "forms"
"""Group of the workers that send what was typed into a form; it may lead to a question."""
OPENING = "opening"
"""Group of the workers of a screen or widget that open another screen."""
FINISHING = "finishing"
"""Group of the workers that open nothing, but whose end what is typed next may count on."""
_OPENING_SCREENS = frozenset({ACTIONS, SUBMITTING, OPENING})
"""Groups whose workers ask a person: until then what is typed is meant for their screen."""
PATIENCE = 2.0
"""Seconds that input waits for what came before it; then it is dropped. Pauses are counted, not the
time in which the program itself is at work."""
GLANCE = 0.25
"""Seconds in which nobody has seen what a key did: what is typed within them was typed blindly."""
_LOOK = 0.05
"""Seconds that a round through the queues may take before it is tried anew."""
_PAUSE = 0.005
"""Seconds between two looks while something is going on."""
_TOO_LONG = f": what came before took longer than {PATIENCE:.0f} s"
_CALM = 3
"""Rounds in a row after which nothing must be going on: what a key led to may lead to more."""

Input = events.InputEvent | events.Paste
_COUNTED = events.Key | events.Paste | events.MouseDown
"""What a person does, of all that a terminal reports."""


class Hold(IntEnum):
    """What input waits for, the more patiently the higher it is."""

    NOTHING = 0
    READING = 1
    """What was opened is read: what was typed blindly waits if it needs that."""
    CHANGING = 2
    """What was agreed to is carried out: what was typed blindly waits for its end."""
    OPENING = 3
    """A screen is to open, or a message is being handled: everything waits."""


def _fail(error: Exception) -> None:
    raise error


class InputQueue:
    """What was typed ahead of the program, in its order, and whether its turn has come."""

    def __init__(self, app: QueuedInputApp) -> None:
        self._app = app
        self._waiting: deque[Input] = deque()
        self._watcher: asyncio.Task[None] | None = None
        self._laid_out: ReferenceType[Screen[Any]] | None = None
        """The screen that was laid out when it was looked at last."""
        self._before: Mapping[object, Hold] = {}
        """What was going on already when the latest input was handed out."""
        self._asked: WeakKeyDictionary[Worker[Any], ReferenceType[Screen[Any]]]
        self._asked = WeakKeyDictionary()
        """The screen that each worker opened last."""
        self._stack: tuple[Screen[Any], ...] = ()
        self._dropped = 0
        self.used = False
        """Whether anything was typed or pressed since the start."""
        self._reporting: asyncio.TimerHandle | None = None
        """Runs while input is dropped: until nothing comes any more."""

    def admit(self, event: Input) -> bool:
        """Whether an input can be handled now; else it waits for its turn or is dropped."""
        self.used = self.used or isinstance(event, _COUNTED)
        if isinstance(event, events.Key) and self._app.interrupts(event):
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
            return self._watcher is None  # the next one says where the pointer is as well
        if self._watcher is not None:
            self._waiting.append(event)
            return False
        self._before = self._going_on()
        self._watcher = asyncio.create_task(self._watch(event), name="typed ahead")
        return True

    @property
    def pending(self) -> bool:
        """Whether anything waits, or what was handed out last is not over."""
        return self._watcher is not None

    def open(self) -> None:
        """Begin to see who opens screens. Needs a running app."""
        self._stack = tuple(self._app.screen_stack)
        changes = self._app.screen_change_signal
        changes.subscribe(self._app, self._screen_changed, immediate=True)

    def _screen_changed(self, _top: Screen[Any]) -> None:
        """Remember which worker opened a screen: called while it does."""
        before, self._stack = self._stack, tuple(self._app.screen_stack)
        opened = [screen for screen in self._stack if screen not in before]
        try:
            worker = get_current_worker()
        except NoActiveWorker:
            return
        if opened:
            self._asked[worker] = ref(opened[-1])

    def close(self) -> None:
        """Hand out nothing any more."""
        self._waiting.clear()
        if self._watcher is not None:
            self._watcher.cancel()
        if self._reporting is not None:
            self._reporting.cancel()

    # One after the other ----------------------------------------------------------------------

    async def _watch(self, event: Input) -> None:
        """Hand out what waits, each when what the one before it began is over."""
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
            self._before = {}  # nothing is kept alive in here

    async def _over(self) -> bool:
        """Wait until the next input can be handled; False when that took too long."""
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
        """Send a callback the way of an input and its messages; whether it came through soon.

        Each widget, its screen and the app call it when they have handled what came before. A
        screen that has just opened calls it once it is laid out.
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
        """What the next input has to wait for now; what came before is seen since so long."""
        # What is read holds up even when it was read already: letters that it lets pass, such as
        # those of a filter, may be followed by a key for its rows.
        holds = [
            hold
            for one, hold in self._going_on().items()
            if hold is Hold.READING or one not in self._before
        ]
        hold = max(holds, default=Hold.NOTHING)
        if hold is Hold.OPENING:
            return hold
        if self._waiting:
            return hold if self._needs(self._waiting[0], hold) else Hold.NOTHING
        # What waits came before anybody could see what goes on; what comes later need not wait.
        return hold if shown_for < GLANCE else Hold.NOTHING

    def _needs(self, event: Input, hold: Hold) -> bool:
        """Whether an input counts on what is held up for."""
        screen, focused = self._app.screen, self._app.focused
        if hold is Hold.READING and isinstance(screen, InputTarget):
            return screen.awaits(event)
        if not self._leaves(event) or screen.is_modal:
            return True
        return focused is not None and focused.check_consume_key(event.key, event.character)

    def _leaves(self, event: Input) -> TypeGuard[events.Key]:
        return isinstance(event, events.Key) and event.key in self._app.leaving_keys

    def _going_on(self) -> Mapping[object, Hold]:
        """What goes on besides the handling of messages."""
        found: dict[object, Hold] = {}
        stack = self._app.screen_stack
        for worker in self._app.workers:
            asked = self._asked.get(worker)
            if worker.is_finished or worker.group not in (*_OPENING_SCREENS, FINISHING):
                continue
            if asked is None:
                found[worker] = Hold.OPENING if worker.group in _OPENING_SCREENS else Hold.CHANGING
            elif asked() not in stack:
                found[worker, asked] = Hold.CHANGING
        if stack and isinstance(stack[-1], InputTarget) and stack[-1].reading:
            found[stack[-1]] = Hold.READING
        return found

    # What took too long -----------------------------------------------------------------------

    def _drop(self, *more: Input) -> None:
        """Drop what waits, and what comes from now on until there is a pause."""
        dropped = [one for one in (*self._waiting, *more) if isinstance(one, _COUNTED)]
        self._waiting.clear()
        if dropped:
            self._dropped += len(dropped)
            if self._reporting is not None:
                self._reporting.cancel()
            loop = asyncio.get_running_loop()
            self._reporting = loop.call_later(GLANCE, self._report, _TOO_LONG)

    def _report(self, why: str) -> None:
        """Say how many were dropped, never what: it may have been a secret."""
        if self._reporting is not None:
            self._reporting.cancel()
            self._reporting = None
        count, self._dropped = self._dropped, 0
        if count:
            what = "1 key typed ahead was" if count == 1 else f"{count} keys typed ahead were"
            self._app.say(f"{what} dropped{why}", severity="warning")


class QueuedInputApp(TerminalApp, inherit_bindings=False):
    """An app that handles a key only when everything that the key before it began is over."""

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        self.leaving_keys: frozenset[str] = frozenset()
        """Keys that leave the program. With ctrl they never wait: what waits is dropped for them,
        as at an interrupt. The others wait only for what may be typed into."""
        self._typed = InputQueue(self)

    @on(events.Mount)
    def _open_queue(self) -> None:
        self._typed.open()

    @on(events.Unmount)
    def _close_queue(self) -> None:
        self._typed.close()

    @property
    def was_typed(self) -> bool:
        """Whether anything was typed or pressed since the start."""
        return self._typed.used

    def interrupts(self, event: events.Key) -> bool:  # noqa: ARG002 - the hook's
        """Whether a key ended what is waited for; what was typed ahead is dropped then."""
        return False

    async def on_event(self, event: events.Event) -> None:
        """Let input wait for its turn."""
        if not isinstance(event, Input) or event.is_forwarded:
            await super().on_event(event)
        elif self._typed.admit(event):
            await self.handle_input(event)

    async def handle_input(self, event: Input) -> None:
        """Handle an input whose turn has come."""
        await super().on_event(event)
