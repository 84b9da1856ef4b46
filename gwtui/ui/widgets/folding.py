"""Scrolls what folds its text to the width there is."""

from __future__ import annotations

from textual.containers import VerticalScroll


class FoldingScroll(VerticalScroll):
    """Has a scroll bar when what is in it does not fit without one.

    The bar takes width away, so that text folds into more lines beside it. Textual looks at these
    lines: a bar that was needed once, in a smaller window say, would stay where everything fits
    without it.
    """

    # Private, as there is no other way to have a say in when Textual shows the bar.
    def _refresh_scrollbars(self) -> None:
        room = self.container_size
        if not room or not self.is_scrollable:
            return
        needed = self.arrange(room).total_region.bottom > room.height
        self.show_vertical_scrollbar = needed
        if needed or self._vertical_scrollbar is not None:
            self.vertical_scrollbar.display = needed
