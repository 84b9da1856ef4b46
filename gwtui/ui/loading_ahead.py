"""Loads what the next screens need, modules one by one and styles, while nobody presses a key.

What is imported when it is first used makes the first palette, form or tab three times as slow as
the second. Nothing here is needed: whatever was not loaded ahead is loaded when it is used.
"""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from importlib import import_module
from time import monotonic

from textual.widget import Widget

from gwtui.resources.registry import RESOURCES, SCREENS, TABS

_REST = 0.4
"""Seconds without a key or the mouse after which nobody waits for anything."""

MODULES = (
    "gwtui.ui.goto",
    "gwtui.ui.widgets.prompt",
    "gwtui.ui.screens.palette",
    "gwtui.ui.screens.help",
    "gwtui.ui.actions.lists",
    "gwtui.ui.actions.app",
    "gwtui.resources.copying",
    "gwtui.ui.actions.output",
    "gwtui.domain.linear_regex",
    "gwtui.domain.filter_terms",
    "gwtui.domain.filter_completion",
    "gwtui.crud.filter_fields",
    "gwtui.domain.filters",
)
"""What palette, help, filter and tabs need; each after what it imports itself."""
WRITING = (
    "gwtui.crud.fields",
    "gwtui.crud.form",
    "gwtui.resources.keys.form",
    "gwtui.crud.writes",
    "gwtui.resources.keys.writes",
    "gwtui.ui.forms.field_editors",
    "gwtui.ui.forms.confirm",
    "gwtui.ui.actions.writing",
    "gwtui.ui.forms.option_search",
    "gwtui.ui.forms.pattern_tester",
    "gwtui.ui.forms.content_filters",
    "gwtui.ui.forms.option_pickers",
    "gwtui.ui.forms.secret",
    "gwtui.ui.forms.row",
    "gwtui.ui.forms.form_screen",
    "gwtui.ui.actions.crud",
    "gwtui.ui.actions.keys",
)
"""What forms and plans need: six megabytes that somebody who only watches does without."""


async def load_ahead(
    rested: Callable[[], float],
    read_styles: Callable[[Sequence[type[Widget]]], object],
    *,
    writing: bool,
) -> None:
    """Load all of it, what ``writing`` needs only where that is allowed.

    ``rested`` gives the seconds since somebody pressed a key, ``read_styles`` reads those of some
    kinds of widgets. After each step everything else has as long a time as the step took.
    """
    for load in _steps(MODULES + WRITING if writing else MODULES):
        await _take(load, rested)
    await _take(lambda: read_styles(_widgets()), rested)


async def _take(step: Callable[[], object], rested: Callable[[], float]) -> None:
    while (waited := rested()) < _REST:  # noqa: ASYNC110 - no event tells that none came
        await asyncio.sleep(_REST - waited)  # a key may come meanwhile
    begun = monotonic()
    step()
    await asyncio.sleep(monotonic() - begun)


def _widgets() -> list[type[Widget]]:
    """Our own kinds of widgets that are loaded by now, and those that are Textual's."""
    from textual.widgets import Button, Digits, OptionList  # noqa: PLC0415 - loaded by then

    own = [kind for kind in _kinds_of(Widget) if kind.__module__.startswith("gwtui.")]
    return [*own, OptionList, Button, Digits]


def _kinds_of(kind: type[Widget]) -> Iterator[type[Widget]]:
    for below in kind.__subclasses__():
        yield below
        yield from _kinds_of(below)


def _steps(names: Sequence[str]) -> list[Callable[[], object]]:
    """What each step does; what is loaded already takes none."""
    modules = [name for name in names if name not in sys.modules]
    return [*(partial(import_module, name) for name in modules), *map(_declaration_of, TABS)]


def _declaration_of(tab: str) -> Callable[[], object]:
    return partial((SCREENS if tab in SCREENS else RESOURCES).get, tab)
