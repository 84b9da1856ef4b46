"""Scrolls what folds its text to the width there is."""

from __future__ import annotations

from textual.containers import VerticalScroll


class FoldingScroll(VerticalScroll):
    """Has a scroll bar when what is in it does not fit without one.

    The bar takes width away, so that text folds into more lines beside it. Textual looks at these
    lines: a bar that was needed once, in a smaller window say, would stay where everything fits
    without it. In another size, what has the focus stays in sight.
    """

    def on_resize(self) -> None:
        """There may be less room for it."""
        self._keep_in_sight()

    def watch_virtual_size(self) -> None:
        """Lines were folded anew."""
        self._keep_in_sight()

    def _keep_in_sight(self) -> None:
        focused = self.screen.focused
        if focused is None:
            return
        for part in self.children:
            if part in focused.ancestors_with_self:
                self.call_after_refresh(part.scroll_visible, animate=False)

    # Private, as there is no other way to have a say in when Textual shows the bar.
    def _refresh_scrollbars(self) -> None:
        room = self.container_size
        if not room or not self.is_scrollable:
            return
        needed = self.arrange(room).total_region.bottom > room.height
        self.show_vertical_scrollbar = needed
        if needed or self._vertical_scrollbar is not None:
            self.vertical_scrollbar.display = needed
