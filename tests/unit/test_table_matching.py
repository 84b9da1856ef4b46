"""A filter at work is looked at seldom: each look is painted, and what is typed waits for that."""

from __future__ import annotations

import asyncio
from itertools import pairwise
from types import SimpleNamespace
from typing import Any

from gwtui.ui.widgets.table.matching import Slices

STEP = 0.15


class Rows:
    """So many slices of work, for whose end somebody waits."""

    def __init__(self, slices: int, *, waited_for: bool) -> None:
        self.left = slices
        self.waited_for = waited_for
        self.shown: list[tuple[float, int]] = []
        """When it was shown, and how many slices were left then."""

    @property
    def provisional(self) -> bool:
        return self.waited_for and self.left > 0

    def work(self, _seconds: float) -> bool:
        self.left -= 1
        return self.left > 0

    async def done(self, widget: Any) -> None:
        loop, ended = asyncio.get_running_loop(), asyncio.Event()

        def show() -> None:
            self.shown.append((loop.time(), self.left))
            if not self.left:
                ended.set()

        slices = Slices(widget, self, show)
        slices.begin()
        slices.begin()  # it is under way already
        await ended.wait()


WIDGET = SimpleNamespace(is_mounted=True, is_running=True)


async def test_what_is_waited_for_is_shown_step_by_step_and_at_its_end() -> None:
    rows = Rows(100, waited_for=True)
    await rows.done(WIDGET)
    *steps, (_, left) = rows.shown
    assert left == 0
    assert len(steps) >= 2, "somebody sees that it goes on"
    assert all(b[0] - a[0] >= STEP for a, b in pairwise(steps))


async def test_what_nobody_waits_for_is_shown_when_it_is_done() -> None:
    rows = Rows(5, waited_for=False)
    await rows.done(WIDGET)
    assert [left for _, left in rows.shown] == [0]


async def test_nothing_is_done_for_a_widget_that_is_gone() -> None:
    rows = Rows(3, waited_for=True)
    widget = SimpleNamespace(is_mounted=True, is_running=False)
    Slices(widget, rows, lambda: None).begin()  # type: ignore[arg-type]
    await asyncio.sleep(0.05)
    assert rows.left == 3
