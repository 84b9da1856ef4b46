"""What Textual keeps of a painted screen, to be let go of while the screen is not shown."""

from __future__ import annotations

from typing import Any

from textual._styles_cache import StylesCache
from textual.geometry import NULL_SIZE
from textual.screen import Screen
from textual.widget import Widget, _RenderCache


def release(screen: Screen[Any]) -> None:
    """Forget every painted line of a screen; it is painted again when it is shown.

    A line is kept as a dozen pieces with seven caches each: a megabyte a screen.
    """
    widgets: set[Widget] = {*screen._compositor.widgets, screen}  # scrollbars are no children
    widgets.update(screen.walk_children(Widget))
    for widget in widgets:
        widget._set_dirty()
        widget._render_cache = _RenderCache(NULL_SIZE, [])
        widget._layout_cache.clear()


def release_closed() -> None:
    """Forget the painted lines of widgets that are gone.

    Textual remembers two colours for each of the last thousand widgets by what holds their lines,
    and so holds the lines as well.
    """
    StylesCache.get_inner_outer.cache_clear()
