"""One source of the size: the terminal itself, not what was said of it a moment ago."""

from __future__ import annotations

from textual import events
from textual.geometry import Size
from textual.screen import Screen, ScreenResultType

from gwtui.ui.typed_ahead import TypedAheadApp


class TerminalSizedApp(TypedAheadApp, inherit_bindings=False):
    """An app whose size is the terminal's when the turn of a resize event comes.

    The event names the size that was read when the signal came. A second signal may come between
    that reading and the posting: its event is posted first, and the older size would stay.
    """

    def on_resize(self, event: events.Resize) -> None:
        """Correct the event; the handlers of Textual's own app come after this one."""
        driver = self._driver
        # Private, as no public name tells them. A terminal that reports its size by itself does so
        # in order, and may be the only one to know it. Not every driver can be asked.
        if driver is None or getattr(driver, "_in_band_window_resize", False):
            return
        if (read := getattr(driver, "_get_terminal_size", None)) is not None:
            event.size = event.virtual_size = event.container_size = Size(*read())


class TerminalSized(Screen[ScreenResultType]):
    """A screen that is laid out in the size of its app, whatever asks for the layout.

    Textual lays a screen out in the size that each resize event names, or in its own last one,
    and every layout in another size posts a resize event to the screen itself. With two sizes
    under way while the screen is busy, each layout brings the other size back, without end.
    """

    # Every layout of a screen goes through this private method; no public one stands before it.
    def _refresh_layout(self, size: Size | None = None, scroll: bool = False) -> None:  # noqa: ARG002
        now = self.app.size
        # What only moved may be laid out by itself, but not when there is another room for it.
        super()._refresh_layout(now, scroll and now == self.outer_size)
