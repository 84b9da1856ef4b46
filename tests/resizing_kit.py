"""Terminals that are resized rapidly, and waiting until layout has settled."""

from __future__ import annotations

import asyncio
import random
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from rich.style import Style
from textual import events
from textual.app import App
from textual.drivers.headless_driver import HeadlessDriver
from textual.geometry import Size
from textual.pilot import Pilot
from textual.screen import Screen
from textual.widget import Widget

from gwtui.ui.terminal.driver import SMALLEST
from gwtui.ui.widgets.table import ResourceTable

Picture = list[list[tuple[str, Style]]]
"""Every cell of the screen: character and style."""

_UNCHANGED = 6
"""Number of consecutive checks without a layout in between."""


class Layouts:
    """Counts layouts of screens."""

    def __init__(self) -> None:
        self.count = 0


@contextmanager
def counted_layouts() -> Iterator[Layouts]:
    layouts = Layouts()
    lay_out = Screen._refresh_layout

    def counting(screen: Screen[Any], *arguments: Any, **options: Any) -> None:
        layouts.count += 1
        lay_out(screen, *arguments, **options)

    Screen._refresh_layout = counting  # type: ignore[method-assign]
    try:
        yield layouts
    finally:
        Screen._refresh_layout = lay_out  # type: ignore[method-assign]


def resize(app: App[Any], size: Size) -> None:
    """Resize the app's terminal, as a signal does, without waiting."""
    driver = app._driver
    assert isinstance(driver, HeadlessDriver)
    driver._size = size
    app.post_message(events.Resize(size, size))


def any_size(chance: random.Random) -> Size:
    """Any size that a window may be dragged to, most of them too small for everything."""
    return Size(chance.randint(10, 180), chance.randint(3, 60))


def roomy_size(chance: random.Random) -> Size:
    """A size at which the dashboard can be drawn."""
    return Size(chance.randint(SMALLEST.width, 180), chance.randint(SMALLEST.height, 60))


async def storm(app: App[Any], sizes: Sequence[Size], chance: random.Random) -> None:
    """Set these sizes without waiting for a frame, sometimes two at once."""
    for size in sizes:
        resize(app, size)
        if (gap := chance.choice((None, 0, 0, 0.001, 0.004, 0.01))) is not None:
            await asyncio.sleep(gap)


async def rest(pilot: Pilot[Any], layouts: Layouts) -> None:
    """Wait until the screen has the size of the app, and no screen is laid out any more.

    Raises AssertionError if that never happens.
    """
    deadline = time.monotonic() + 20
    unchanged = 0
    while unchanged < _UNCHANGED:
        assert time.monotonic() < deadline, (
            f"no rest: {layouts.count} layouts, {pilot.app.screen.outer_size} of {pilot.app.size}"
        )
        before = layouts.count
        await pilot.pause()
        await asyncio.sleep(0.02)
        fits = pilot.app.screen.outer_size == pilot.app.size
        unchanged = unchanged + 1 if fits and layouts.count == before else 0


def scroll_home(app: App[Any]) -> None:
    """Scroll everything to the top, also beneath a dialog."""
    for widget in (item for screen in app.screen_stack for item in screen.walk_children()):
        if isinstance(widget, ResourceTable):
            widget.scroll_rows(0)
        elif isinstance(widget, Widget) and widget.is_scrollable:
            widget.scroll_to(0, 0, animate=False, immediate=True)


def picture(app: App[Any]) -> Picture:
    """The text and styles of the terminal, including the screen around a dialog."""
    return [
        [(sign, style or Style.null()) for text, style, _ in strip for sign in text]
        for strip in app.screen._compositor.render_strips()
    ]


def words(picture: Picture) -> str:
    """The picture without styles."""
    return "\n".join("".join(sign for sign, _ in line).rstrip() for line in picture)
