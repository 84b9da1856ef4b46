"""How the program keeps its memory small while it runs for days.

Unreachable objects are looked for as soon as there may be many, and at a bounded cost.

A screen and its widgets refer to each other, so that a closed one stays in memory until the
interpreter's collector goes through every object. By itself it does so when a quarter as many
objects are new as there are: closed dialogs pile up to tens of megabytes before.
"""

from __future__ import annotations

import atexit
import contextlib
import ctypes
import gc
import sys
import time
from collections.abc import Callable

from gwtui.ui.textual_compat.screens import release_closed

_NEW = 10_000
"""New objects between two collections of the newest, which the interpreter does by itself."""
_NEVER = 1_000_000
_YOUNG = 4
"""So many rounds of ``_NEW``, and the interpreter looks by itself at what is left of them: in a
flood of rows more would come in a second than may be looked at without a look at the keyboard."""
_MANY = 3
"""Rounds of ``_NEW`` that do not wait for a rest: a large form has as many objects."""
_REST = 1.0
"""Seconds without a key or the mouse after which nobody is kept waiting."""
_SHARE = 30
"""A collection that took a second of computing is followed by so many seconds without one."""
_LONG = 0.02
"""Seconds of computing after which the rows of a large account are not looked at again: together
with those that come until the next time it would be longer than a key may wait."""
_ROWS = 250_000
"""So many blocks of memory, more than when a session began, are the rows of a large account (some
6,000 keys); to look at all of them takes a thirtieth of a second. What is spared and in a ring is
not freed for a while: what a smaller account has is not spared."""
_TOO_LONG = 0.035
"""The same where memory has hardly grown, for old rows went as new ones came: only where rows are
most of what there is. Else screens are, and those leave rings behind."""
_MOSTLY_ROWS = 2 * _ROWS
_FLOOD = 80_000
"""So many blocks that are new since everything was looked at are rows that are being read; what
comes and goes while somebody types is a third of that. Fewer are looked at before they are spared,
so that no garbage is."""
_WHILE = 60.0
"""Seconds in which memory grows by a flood where rows are read, however slow the gateway is. What
grows by as much in half an hour is screens."""
_LONG_REST = 600.0
"""Seconds without a key or the mouse after which what was spared is looked at, too."""
_M_ARENA_MAX = -8
"""The GNU C library's name for the number of heaps beside the one of the main thread."""


class Garbage:
    """Collects unreachable objects of the whole program; does nothing before ``begin``."""

    def __init__(
        self,
        monotonic: Callable[[], float] = time.monotonic,
        computed: Callable[[], float] = time.thread_time,
    ) -> None:
        self._monotonic = monotonic
        self._computed = computed
        self._begun = self._settled = self._spared = False
        self._rounds_at = self._young_at = 0
        """Rounds of ``_NEW`` objects that there had been when everything was looked at last, and
        when what is new was."""
        self._blocks = self._before = self._looked_at = 0
        """Blocks of memory in use when the session began, at ``_before_at``, and when everything
        that is not spared had been looked at last."""
        self._touched_at = self._due = self._before_at = monotonic()
        """``_before_at`` is at most ``_WHILE`` ago, or when anything was spared last."""

    def begin(self) -> None:
        """Take over from the interpreter; what is loaded by now is not looked at again.

        Nothing is collected while a session loads, for that stays: first ``settle`` or ``tick``
        has the interpreter look at new objects by itself.
        """
        _use_one_heap()
        self._spare_loaded()
        # The interpreter looks at everything once more when it ends, to no one's use.
        atexit.unregister(gc.freeze)
        atexit.register(gc.freeze)
        gc.set_threshold(_NEVER, _NEVER, _NEVER)
        gc.enable()
        self._begun = True

    def settle(self) -> None:
        """What a session has loaded up to its first rows is not looked at either.

        What a session before has left is collected; the rows of a large account only once nobody
        is there, for that takes more than half a second. Not to be called while a dialog is open:
        what is closed later must not be spared.
        """
        if not self._begun:
            return
        self._let_interpreter_collect()
        if self._settled and self._is_large(sys.getallocatedblocks()):
            self._collect_new()
            self._spare()
            self._spared = True
            return  # it counts as grown until that is looked at
        if self._settled:
            gc.unfreeze()
        self._collect()
        self._settled = True
        self._spare_loaded()

    def touched(self) -> None:
        """Somebody pressed a key or moved the mouse."""
        self._touched_at = self._monotonic()

    def rested(self) -> float:
        """Seconds since then."""
        return self._monotonic() - self._touched_at

    def tick(self, *, dialog: bool = False) -> bool:
        """Collect when it is worth it and not too soon; whether it was done.

        ``dialog`` says that one is open: it must not be spared later, for it will be closed.
        """
        if not self._begun:
            return False
        self._let_interpreter_collect()
        now = self._monotonic()
        rest = now - self._touched_at
        rounds = _newest_collected() - self._rounds_at
        left = self._spared and rest >= _LONG_REST
        if not (rounds or left):
            return False  # nothing is new: not worth a look at how much memory is in use
        blocks = self._count_blocks(now)
        if self._is_large(blocks) and blocks - self._looked_at >= _FLOOD:
            self._collect_new()  # rows most of all: too many to look at
            spare = True
        elif now < self._due:
            return False
        elif left:
            self._spared = False
            gc.unfreeze()
            spare = self._collect() >= _LONG
            blocks = self._looked_at
        elif rounds < (1 if rest >= _REST else _MANY):
            if not dialog:
                self._collect_closed()
            return False
        else:
            took = self._collect()
            blocks = self._looked_at
            if blocks - self._before >= _FLOOD:
                spare = took >= _LONG
            else:
                spare = took >= _TOO_LONG and self._is_large(blocks, _MOSTLY_ROWS)
        if spare and not dialog and self._is_large(blocks):
            # Rows hold no rings: those that are replaced are freed without the collector.
            self._spare()
            self._spared = True
        return True

    def _count_blocks(self, now: float) -> int:
        """Blocks of memory in use; what they are compared with is kept up to date."""
        blocks = sys.getallocatedblocks()
        if now - self._before_at > _WHILE:
            self._before, self._before_at = self._looked_at, now
        # What was spared may be freed by and by, when another session has begun.
        self._before = min(self._before, blocks)
        self._looked_at = min(self._looked_at, blocks)
        return blocks

    def _spare_loaded(self) -> None:
        """What is loaded by now is not looked at again."""
        self._spare()
        self._blocks = self._before

    def _spare(self) -> None:
        """Nothing that there is now is looked at, until that is taken back."""
        gc.freeze()
        self._before = self._looked_at = sys.getallocatedblocks()
        self._before_at = self._monotonic()
        self._rounds_at = _newest_collected()

    def _is_large(self, blocks: int, rows: int = _ROWS) -> bool:
        """Whether so many blocks of memory in use hold the rows of a large account.

        ``rows`` is how many more that are than when the session began.

        Blocks are counted, for a list of the objects would refer to each: one that another thread
        is about to build, a tuple above all, could then not be built.
        """
        return blocks - self._blocks >= rows

    def _let_interpreter_collect(self) -> None:
        """It looks at new objects by itself from now on, and at what is left of them once more."""
        if gc.get_threshold()[0] == _NEVER:
            gc.set_threshold(_NEW, _YOUNG, _NEVER)

    def _collect_closed(self) -> None:
        """Collect what was opened and closed since the last time: most of the garbage.

        It is cheap to find, for nothing older is looked at.
        """
        if _newest_collected() > self._young_at:
            self._collect_new()

    def _collect_new(self) -> None:
        """Look at the objects that are new since the last time."""
        release_closed()
        gc.collect(1)
        self._young_at = _newest_collected()

    def _collect(self) -> float:
        """Look at every object that is not spared; gives the seconds of computing it took."""
        started = self._computed()
        release_closed()
        gc.collect()
        self._looked_at = sys.getallocatedblocks()
        self._rounds_at = self._young_at = _newest_collected()
        _give_back()
        took = self._computed() - started
        self._due = self._monotonic() + took * _SHARE
        return took


def _newest_collected() -> int:
    """How often the interpreter has looked at the newest objects, ``_NEW`` at a time."""
    return int(gc.get_stats()[0]["collections"])


def _give_back() -> None:
    """Let the system have the pages of the C library's heap that hold nothing any more."""
    _ask_c_library("malloc_trim", 0)


def _use_one_heap() -> None:
    """Let all threads share the C library's heap; each would keep megabytes of its own."""
    _ask_c_library("mallopt", _M_ARENA_MAX, 1)


def _ask_c_library(function: str, *arguments: int) -> None:
    """Call what only the GNU C library has; nothing happens with another one."""
    with contextlib.suppress(OSError, AttributeError):
        getattr(ctypes.CDLL(None), function)(*arguments)
