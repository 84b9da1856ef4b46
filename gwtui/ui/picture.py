"""What a screen shows, as a picture or as text to be kept; never one with a secret in sight."""

from __future__ import annotations

import io
import re
from typing import Any

from rich._export_format import CONSOLE_SVG_FORMAT
from rich.console import Console
from rich.segment import Segment, Segments
from textual.screen import Screen
from textual.widget import Widget
from textual.widgets import Input

from gwtui.domain.known_secrets import holds_secret, without_secrets
from gwtui.ui.textual_compat import painted_strips

_FONT_FACES = re.compile(r"\s*(?:@font-face \{\{.*?\}\}|<!--.*?-->)", re.DOTALL)
_FORMAT = _FONT_FACES.sub("", CONSOLE_SVG_FORMAT)
"""Rich's, without its comment and the fonts, which a browser would fetch from a host."""
_NAME = "gwtui"


class HoldsSecret:
    """Stands among the bases of a widget that a secret is typed into, or drawn by."""


class SecretInSightError(Exception):
    """A screen shows a secret, or may show one: there is no picture of it. Says where it is."""


def svg_of(screen: Screen[Any], title: str) -> str:
    """The screen as SVG, in its colours. Raises SecretInSightError."""
    _refuse_secrets(screen)
    width, height = screen.size
    console = Console(
        width=width,
        height=height,
        file=io.StringIO(),
        force_terminal=True,
        color_system="truecolor",
        record=True,
        legacy_windows=False,
        safe_box=False,
    )
    for strip in painted_strips(screen):
        console.print(Segments([*strip, Segment.line()]), end="")
    return console.export_svg(title=title, code_format=_FORMAT, unique_id=_NAME)


def text_of(screen: Screen[Any]) -> str:
    """The lines of the screen without colours. Raises SecretInSightError."""
    _refuse_secrets(screen)
    return "".join(f"{strip.text.rstrip()}\n" for strip in painted_strips(screen))


def _refuse_secrets(screen: Screen[Any]) -> None:
    if any(isinstance(one, HoldsSecret) for one in screen.walk_children(Widget)):
        raise SecretInSightError("it shows a secret, or one is typed into it")
    if any(without_secrets(one.value) != one.value for one in screen.query(Input)):
        raise SecretInSightError("what is typed into it may be a key")
    # Line by line, and without frames around what is folded in a box of its own.
    lines = [strip.text.strip("│╭╮╰╯─▏ ") for strip in painted_strips(screen)]
    if holds_secret("\n".join(lines)):
        raise SecretInSightError("a secret that this program uses is in sight")
