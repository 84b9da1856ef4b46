"""One run of an app gives its pictures in both themes.

Of two tests that differ in nothing but the theme, the first starts the app, and at the end switches
it to the other theme. The picture after the switch counts only where it is the accepted one: in
every other case the second test starts the app in its own theme.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any
from zlib import crc32

import pytest
from pytest_textual_snapshot import normalize_svg
from textual._doc import take_svg_screenshot
from textual.app import App
from textual.pilot import Pilot

THEMES = ("gwtui-dark", "gwtui-light")
_HERE = Path(__file__).resolve().parent

_after_switch: dict[str, str] = {}
"""Name of a pair -> its picture in the theme that the app was not started in."""


def keep_pairs_together(items: list[pytest.Item]) -> None:
    """Both tests of a pair go to one worker; half of the pairs begin with the second theme."""
    places: dict[str, list[int]] = {}
    for place, item in enumerate(items):
        if item.path.parent == _HERE and theme_of(item):
            item.add_marker(pytest.mark.xdist_group(pair_of(item)))
            places.setdefault(pair_of(item), []).append(place)
    for pair, found in places.items():
        if crc32(pair.encode()) % 2:
            swapped = [items[place] for place in reversed(found)]
            for place, item in zip(found, swapped, strict=True):
                items[place] = item


def theme_of(item: pytest.Item) -> str:
    """The theme of a test; empty when it is not drawn in both."""
    calls = getattr(item, "callspec", None)
    return "" if calls is None else str(calls.params.get("theme", ""))


def pair_of(item: pytest.Item) -> str:
    """What two tests that differ only in the theme have in common."""
    return f"{item.path.stem}-{item.name.replace(theme_of(item), 'theme')}"


def picture_taker(item: pytest.Item) -> Callable[..., str]:
    """Takes the place of Textual's ``take_svg_screenshot`` in a test."""

    def take(app: App[Any], run_before: Any = None, **options: Any) -> str:
        known = _after_switch.pop(pair_of(item), None)
        if known is not None and normalize_svg(known) == _accepted(item):
            return known
        other = THEMES[1 - THEMES.index(theme_of(item))]
        own: list[str] = []

        async def both(pilot: Pilot[Any]) -> None:
            if run_before is not None:
                await run_before(pilot)
            await pilot.pause()
            await pilot.wait_for_scheduled_animations()
            await pilot.pause()
            own.append(app.export_screenshot(title=app.title, simplify=True))
            app.theme = other
            await pilot.pause()

        _after_switch[pair_of(item)] = take_svg_screenshot(app, run_before=both, **options)
        return own[0]

    return take


def _accepted(item: pytest.Item) -> str:
    """The picture on disk, empty when there is none."""
    path = item.path.parent / "__snapshots__" / item.path.stem / f"{item.name}.svg"
    return normalize_svg(path.read_text(encoding="utf-8")) if path.is_file() else ""
