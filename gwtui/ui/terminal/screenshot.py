"""Screenshots as SVG or text; refused while a secret is visible."""

from __future__ import annotations

import asyncio
import contextlib
import re
from typing import Any, NamedTuple

from textual.screen import Screen
from textual.widget import Widget
from textual.widgets import Input

from gwtui.domain.known_secrets import holds_secret, without_secrets
from gwtui.ui.terminal.textual_private import painted_strips

_FOREIGN = re.compile(r"\s*(?:@font-face \{.*?\}|<!--.*?-->)", re.DOTALL)
"""Patterns for Rich's comment and for its fonts, which a browser would download."""
_STYLES_END = "</style>"
_DRAWING = 1.0


class HoldsSecret:
    """Mixin for a widget that shows or edits a secret."""

    @property
    def holds_secret(self) -> bool:
        """Return whether the widget holds a secret now."""
        return True


class SecretInSightError(Exception):
    """The screenshot was refused because the screen shows or may show a secret."""


class ScreenPicture(NamedTuple):
    """A screenshot: SVG in the colours of the screen, and plain text."""

    svg: str
    text: str


async def picture_of(screen: Screen[Any], title: str) -> ScreenPicture:
    """Return a picture of the topmost screen once it is drawn, without notices.

    Raises SecretInSightError.
    """
    widgets = screen.walk_children(Widget)
    if any(isinstance(widget, HoldsSecret) and widget.holds_secret for widget in widgets):
        raise SecretInSightError("it shows a secret, or one is typed into it")
    if any(without_secrets(field.value) != field.value for field in screen.query(Input)):
        raise SecretInSightError("what is typed into it may be a key")
    for notice in screen.query("Toast"):
        await notice.remove()
    drawn = asyncio.Event()
    screen.call_after_refresh(drawn.set)
    with contextlib.suppress(TimeoutError):  # a closing screen is not drawn again
        await asyncio.wait_for(drawn.wait(), _DRAWING)
    lines = [strip.text for strip in painted_strips(screen)]
    # Without frames and margins: a wrapped text may be in a box.
    if holds_secret("\n".join(line.strip("│╭╮╰╯─▏ ") for line in lines)):
        raise SecretInSightError("a secret that this program uses is in sight")
    styles, end, rest = screen.app.export_screenshot(title=title).partition(_STYLES_END)
    svg = f"{_FOREIGN.sub('', styles)}{end}{rest}"
    return ScreenPicture(svg, "".join(f"{line.rstrip()}\n" for line in lines))
