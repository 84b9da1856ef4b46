"""What a screen says, line by line."""

from __future__ import annotations

from typing import Any

from textual.app import App
from textual.geometry import Region
from textual.screen import Screen

from gwtui.ui.screens.modal import Answered


def shown(app: App[Any]) -> str:
    """Every character on the screen; of one with a dialog the dialog, not what stands around it."""
    return "\n".join(strip.text for strip in _strips(app.screen))


def whole(app: App[Any]) -> str:
    """Every character on the terminal: with notices, and with what stands around a dialog."""
    return "\n".join(strip.text for strip in app.screen._compositor.render_strips())


def _strips(screen: Screen[Any]) -> list[Any]:
    strips = screen._compositor.render_strips()
    if not isinstance(screen, Answered):
        return strips
    own = [
        child.region
        for child in screen.children
        if child.display and not child.has_class("-textual-system")
    ]
    whole = Region.from_union(own)
    return [
        strip.crop(whole.x, whole.right)
        for y, strip in enumerate(strips)
        if whole.y <= y < whole.bottom
    ]
