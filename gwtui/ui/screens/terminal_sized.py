"""Where every screen takes its size from: the terminal, as the app knows it now."""

from __future__ import annotations

from textual.geometry import Size
from textual.screen import Screen, ScreenResultType


class TerminalSized(Screen[ScreenResultType]):
    """A screen that is laid out in the size the terminal has now, whatever asks for the layout.

    Textual lays a screen out in the size that each resize event names, or in its own last one,
    and every layout in another size posts a resize event to the screen itself. With two sizes
    under way while the screen is busy, each layout brings the other size back, without end.
    """

    # Every layout of a screen goes through this private method; no public one stands before it.
    def _refresh_layout(self, size: Size | None = None, scroll: bool = False) -> None:  # noqa: ARG002
        now = self.app.size
        # What only moved may be laid out by itself, but not when there is another room for it.
        super()._refresh_layout(now, scroll and now == self.outer_size)
