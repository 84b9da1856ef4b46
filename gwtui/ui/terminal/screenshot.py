"""Screenshots of a screen as SVG or text; refused while a secret is visible."""

from __future__ import annotations

import asyncio
import contextlib
import io
import re
from dataclasses import dataclass
from typing import Any

from rich.console import Console
from rich.segment import Segment, Segments
from textual.screen import Screen
from textual.strip import Strip
from textual.widget import Widget
from textual.widgets import Input

from gwtui.domain.known_secrets import holds_secret, without_secrets
from gwtui.ui.terminal.textual_private import painted_strips

_FOREIGN = re.compile(r"\s*(?:@font-face \{.*?\}|<!--.*?-->)", re.DOTALL)
"""Rich's comment, and its fonts, which a browser would fetch from a host."""
_STYLES_END = "</style>"
_NAME = "gwtui"
_DRAWING = 1.0


class HoldsSecret:
    """Mixin for a widget that shows or edits a secret."""

    @property
    def holds_secret(self) -> bool:
        """Whether the widget holds a secret now."""
        return True


class SecretInSightError(Exception):
    """There is no screenshot, because the screen shows or may show a secret."""


@dataclass(frozen=True, slots=True)
class ScreenPicture:
    """The lines of a screen at one moment."""

    lines: tuple[Strip, ...]
    width: int

    def svg(self, title: str) -> str:
        """The lines in their colours, as SVG."""
        console = Console(
            width=self.width,
            height=len(self.lines),
            file=io.StringIO(),
            force_terminal=True,
            color_system="truecolor",
            record=True,
            legacy_windows=False,
            safe_box=False,
        )
        for line in self.lines:
            console.print(Segments([*line, Segment.line()]), end="")
        svg = console.export_svg(title=title, unique_id=_NAME)
        styles, end, rest = svg.partition(_STYLES_END)
        return f"{_FOREIGN.sub('', styles)}{end}{rest}"

    def text(self) -> str:
        """The plain text."""
        return "".join(f"{line.text.rstrip()}\n" for line in self.lines)


async def picture_of(screen: Screen[Any]) -> ScreenPicture:
    """The screen once it is drawn, without notices. Raises SecretInSightError."""
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
    picture = ScreenPicture(tuple(painted_strips(screen)), screen.size.width)
    # Without frames and margins: a wrapped text may be in a box.
    if holds_secret("\n".join(line.text.strip("│╭╮╰╯─▏ ") for line in picture.lines)):
        raise SecretInSightError("a secret that this program uses is in sight")
    return picture
