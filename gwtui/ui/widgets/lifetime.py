"""Mixins for screens and widgets: what happens while one opens, resizes and closes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, cast

from textual import events, on
from textual.message_pump import MessagePump
from textual.messages import Prune
from textual.screen import Screen, ScreenResultType
from textual.widget import Widget

from gwtui.local.caught_errors import guarded


class RunsWhileOpen(MessagePump):
    """Mixin that stops callbacks and workers of a screen or widget when it closes.

    Textual runs callbacks after a refresh even on a closed screen, and cancels workers only after
    it has removed their widgets. Both would fail because the widgets no longer exist.
    """

    @property
    def is_open(self) -> bool:
        """Whether the widget is mounted, and no widget or screen around it is closing."""
        widget = cast("Widget", self)
        running = all(node.is_running for node in widget.ancestors_with_self)
        return widget.is_mounted and widget.is_attached and running

    def call_after_refresh(
        self, callback: Callable[..., object], *args: Any, **kwargs: Any
    ) -> bool:
        """Call ``callback`` after the next refresh, unless the widget has closed by then."""

        def call() -> object:
            guarded_callback = guarded(f"refresh of {type(self).__name__}", callback, None)
            return guarded_callback(*args, **kwargs) if self.is_open else None

        return super().call_after_refresh(call)

    async def on_prune(self, event: Prune) -> None:  # noqa: ARG002 - as the widget's own
        """Cancel the workers of all widgets inside and free their painted lines.

        Called before the widgets are removed. Textual caches the last thousand widgets with
        their painted lines, including closed ones, which takes up to 40 MiB.
        """
        closing = cast("Widget", self)
        for widget in closing.walk_children(Widget, with_self=True):
            widget.refresh()  # frees the painted lines
            if widget.show_vertical_scrollbar:
                widget.vertical_scrollbar.refresh()
        for worker in tuple(closing.workers):
            if closing in worker.node.ancestors_with_self:
                worker.cancel()


class InputTarget:
    """Mixin that tells the input queue which keys to hold back while rows are loading."""

    @property
    def is_loading(self) -> bool:
        """Whether rows that keys act on are still being read."""
        return False

    def needs_rows(self, event: events.Event) -> bool:  # noqa: ARG002 - the hook's
        """Whether ``event`` acts on rows, so that the queue delays it while rows are loading."""
        return False


class TerminalSized(Screen[ScreenResultType], InputTarget):
    """A screen that only accepts the current size of the terminal.

    Textual answers each resize event with another one of the applied size. With two events in the
    queue, the two sizes would alternate endlessly. So events with an outdated size are ignored, and
    so is the second event: the screen already has that size.

    The screen also gets its breakpoint classes before its first layout. Textual sets them after
    the first paint, and would have to paint twice.
    """

    @on(events.Compose)
    @on(events.Resize)
    def _set_breakpoint_classes(self) -> None:
        size = self.app.size
        for least, name in self.HORIZONTAL_BREAKPOINTS or ():
            self.set_class(size.width >= least, name)
        for least, name in self.VERTICAL_BREAKPOINTS or ():
            self.set_class(size.height >= least, name)

    @on(events.Resize)
    def _ignore_other_sizes(self, event: events.Resize) -> None:
        if event.size != self.app.size or event.size == self.outer_size:
            event.prevent_default()
