"""Widgets that paint nothing but their background: rendered once, not line by line."""

from __future__ import annotations

from typing import TYPE_CHECKING

from textual.containers import Horizontal, Vertical
from textual.geometry import Region
from textual.strip import Strip

if TYPE_CHECKING:
    from textual.widget import Widget as _Base
else:
    _Base = object


class BlankLines(_Base):
    """Stands before a widget among the bases of one without border and text of its own.

    Textual renders every line of a screen and of each container, though what is in it covers them.
    """

    def render_lines(self, crop: Region) -> list[Strip]:
        """The first of the lines, for each of them."""
        first = super().render_lines(Region(crop.x, crop.y, crop.width, min(1, crop.height)))
        return first * crop.height


class BlankVertical(BlankLines, Vertical):
    """Widgets beneath each other."""


class BlankHorizontal(BlankLines, Horizontal):
    """Widgets side by side."""
