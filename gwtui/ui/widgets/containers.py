"""Containers: what they paint themselves is rendered once; one scrolls folded text."""

from __future__ import annotations

from typing import TYPE_CHECKING

from textual.containers import Horizontal, Vertical
from textual.geometry import Region
from textual.strip import Strip

from gwtui.ui.textual_compat.widgets import ScrollsWhenNeeded
from gwtui.ui.widgets.lifetime import RunsWhileOpen

if TYPE_CHECKING:
    from textual.widget import Widget as _Base
else:
    _Base = object


class BlankLines(_Base):
    """Stands before a widget among the bases of one without text of its own.

    Textual renders every line of a screen and of each container, though what is in it covers them.
    """

    def render_lines(self, crop: Region) -> list[Strip]:
        """Border and padding above and below; the first of the lines between, for each of them."""
        gutter = self.gutter
        first = max(crop.y, gutter.top)
        end = min(crop.bottom, self.outer_size.height - gutter.bottom)
        if end - first <= 1:
            return super().render_lines(crop)
        lines = super().render_lines(Region(crop.x, crop.y, crop.width, first + 1 - crop.y))
        lines += lines[-1:] * (end - first - 1)
        if end < crop.bottom:
            lines += super().render_lines(Region(crop.x, end, crop.width, crop.bottom - end))
        return lines


class BlankVertical(BlankLines, Vertical):
    """Widgets beneath each other."""


class BlankHorizontal(BlankLines, Horizontal):
    """Widgets side by side."""


class FoldingScroll(RunsWhileOpen, ScrollsWhenNeeded):
    """Has a scroll bar only when needed; in another size, what has the focus stays in view."""

    def on_resize(self) -> None:
        """There may be less room for it."""
        self._keep_in_view()

    def watch_virtual_size(self) -> None:
        """Lines were folded anew."""
        self._keep_in_view()

    def _keep_in_view(self) -> None:
        focused = self.screen.focused
        if focused is None:
            return
        for part in self.children:
            if part in focused.ancestors_with_self:
                self.call_after_refresh(part.scroll_visible, animate=False)
