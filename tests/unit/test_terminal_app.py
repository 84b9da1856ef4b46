"""The collector works once in each rest, and every minute where there is none."""

from __future__ import annotations

import gc
import weakref

from gwtui.ui.terminal.app import Garbage


class Ring:
    def __init__(self) -> None:
        self.itself = self


def test_what_is_unreachable_goes_once_nobody_types() -> None:
    now = 0.0
    garbage = Garbage(lambda: now)
    gone = weakref.ref(Ring())
    assert not garbage.tick(), "nothing was typed yet"
    garbage.touched()
    now = 9.0
    assert not garbage.tick()
    assert gone() is not None
    now = 10.0
    assert garbage.tick()
    assert gone() is None
    now = 99.0
    assert not garbage.tick(), "once in a rest"
    assert gc.isenabled()


def test_who_never_rests_has_it_collected_every_minute() -> None:
    now = 0.0
    garbage = Garbage(lambda: now)
    collected = []
    for second in range(150):
        now = float(second)
        garbage.touched()
        if garbage.tick():
            collected.append(second)
    assert collected == [60, 121]
