"""The text of a screen, line by line."""

from __future__ import annotations

from typing import Any

from textual.app import App
from textual.geometry import Region
from textual.screen import Screen
from textual.strip import Strip

from gwtui.ui.screens.dialogs import Dialog


def screen_text(app: App[Any]) -> str:
    """The text of the screen; with a dialog, only the dialog and its footer."""
    return "\n".join(strip.text for strip in foreground_strips(app.screen))


def terminal_text(app: App[Any]) -> str:
    """The text of the terminal, including notices and what surrounds a dialog."""
    return "\n".join(strip.text for strip in app.screen._compositor.render_strips())


def foreground_strips(screen: Screen[Any]) -> list[Strip]:
    """The lines of a screen; with a dialog, only those of the dialog and its footer."""
    strips = screen._compositor.render_strips()
    if not isinstance(screen, Dialog):
        return strips
    regions = [
        child.region
        for child in screen.children
        if child.display and not child.has_class("-textual-system")
    ]
    if not regions or not strips:
        return []  # still being created
    room = Region.from_union(regions)
    last = len(strips) - 1
    dialog = strips[room.y : min(room.bottom, last)]
    return [*(strip.crop(room.x, room.right) for strip in dialog), strips[last]]
