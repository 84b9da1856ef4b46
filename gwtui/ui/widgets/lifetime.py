"""What screens and widgets scheduled ends with them."""

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
    """Stands before a screen or widget among its bases: when it closes, its callbacks end with it.

    Textual calls what waits for a refresh from the screen that is on top by then, and cancels
    workers only when the widgets in them are gone. Both would look for widgets in vain.
    """

    @property
    def is_open(self) -> bool:
        """Whether every widget in it is there.

        Not before it is mounted, nor once the program ends, or it or anything around it closes.
        """
        widget = cast("Widget", self)
        running = all(node.is_running for node in widget.ancestors_with_self)
        return widget.is_mounted and widget.is_attached and running

    def call_after_refresh(
        self, callback: Callable[..., object], *args: Any, **kwargs: Any
    ) -> bool:
        """Call this after the next refresh, unless this is closed by then."""

        def call() -> object:
            guarded_callback = guarded(f"refresh of {type(self).__name__}", callback, None)
            return guarded_callback(*args, **kwargs) if self.is_open else None

        return super().call_after_refresh(call)

    async def on_prune(self, event: Prune) -> None:  # noqa: ARG002 - as the widget's own
        """Cancel the workers of everything in it, while everything in it is still there."""
        closing = cast("Widget", self)
        for worker in tuple(closing.workers):
            if closing in worker.node.ancestors_with_self:
                worker.cancel()


class InputTarget:
    """What the input queue asks a screen before it hands out a key typed ahead."""

    @property
    def reading(self) -> bool:
        """Whether rows that some keys act on are still being read."""
        return False

    def awaits(self, event: events.Event) -> bool:  # noqa: ARG002 - the hook's
        """Whether an input acts on these rows."""
        return False


class TerminalSized(Screen[ScreenResultType], InputTarget):
    """A screen that takes no other size than the terminal's present one.

    Textual lays a screen out in the size that each resize event names, and posts it one of its own
    with the size that it was laid out in. With two sizes under way each would bring the other back.

    It has the classes of its breakpoints before it is laid out for the first time: Textual sets
    them when it is on the terminal already, and would paint it twice.
    """

    @on(events.Compose)
    def _set_first_classes(self) -> None:
        size = self.app.size
        for least, name in self.HORIZONTAL_BREAKPOINTS or ():
            self.set_class(size.width >= least, name)
        for least, name in self.VERTICAL_BREAKPOINTS or ():
            self.set_class(size.height >= least, name)

    @on(events.Resize)
    def _ignore_old_size(self, event: events.Resize) -> None:
        if event.size != self.app.size:
            event.prevent_default()
