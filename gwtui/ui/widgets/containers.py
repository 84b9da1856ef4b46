"""Containers for dialogs: a scroll area that follows the focus, and a box that fits the screen."""

from __future__ import annotations

from textual.containers import Vertical, VerticalScroll
from textual.geometry import Offset, Size
from textual.layout import ArrangeResult, Layout, WidgetPlacement
from textual.layouts.vertical import VerticalLayout
from textual.widget import Widget

from gwtui.ui.widgets.lifetime import RunsWhileOpen

_MIN_LINES = 3
"""Minimum height in lines to which the long part of a dialog shrinks."""


class FoldingScroll(RunsWhileOpen, VerticalScroll):
    """A scroll area that keeps the focused widget in view when its size or content changes."""

    def on_resize(self) -> None:
        self._keep_in_view()

    def watch_virtual_size(self) -> None:
        """Scroll to the focused widget: wrapped lines may have moved it."""
        self._keep_in_view()

    def _keep_in_view(self) -> None:
        focused = self.screen.focused
        if focused is None:
            return
        for part in self.children:
            if part in focused.ancestors_with_self:
                self.call_after_refresh(part.scroll_visible, animate=False)


class _ShrinkLongPart(VerticalLayout):
    """Vertical layout that shrinks the child with the class ``long`` until all children fit."""

    name = "shrink-long-part"

    def arrange(
        self, parent: Widget, children: list[Widget], size: Size, greedy: bool = True
    ) -> ArrangeResult:
        placements = super().arrange(parent, children, size, greedy)
        last = placements[-1]
        excess = last.region.bottom + last.margin.bottom - size.height
        place = next((at for at, child in enumerate(children) if child.has_class("long")), None)
        # A height of 0 means that Textual only measures the children.
        if place is None or excess <= 0 or not size.height:
            return placements
        long = placements[place]
        height = max(_MIN_LINES, long.region.height - excess)
        shrunk = WidgetPlacement(long.region.crop_size((long.region.width, height)), *long[1:])
        moved_up = Offset(0, height - long.region.height)
        below = WidgetPlacement.translate(placements[place + 1 :], moved_up)
        return [*placements[:place], shrunk, *below]


class DialogBox(Vertical):
    """The frame of a dialog: title and buttons stay visible while the long part scrolls."""

    _LAYOUT = _ShrinkLongPart()

    @property
    def layout(self) -> Layout:
        """The layout, set here because CSS can only name Textual's own layouts."""
        return self._LAYOUT
