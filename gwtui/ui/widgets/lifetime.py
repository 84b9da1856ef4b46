"""What screens and widgets scheduled ends with them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, cast

from textual.message_pump import MessagePump
from textual.messages import Prune
from textual.widget import Widget


class RunsWhileOpen(MessagePump):
    """Stands before a screen or widget among its bases: when it closes, its callbacks end with it.

    Textual calls what waits for a refresh from the screen that is on top by then, and cancels
    workers only when the widgets in them are gone. Both would look for widgets in vain.
    """

    @property
    def is_open(self) -> bool:
        """Whether every widget in it is there: not once it or anything around it is closing."""
        return all(node.is_running for node in cast("Widget", self).ancestors_with_self)

    def call_after_refresh(
        self, callback: Callable[..., object], *args: Any, **kwargs: Any
    ) -> bool:
        """Call this after the next refresh, unless this is closed by then."""

        def call() -> object:
            return callback(*args, **kwargs) if self.is_open else None

        return super().call_after_refresh(call)

    async def on_prune(self, event: Prune) -> None:  # noqa: ARG002 - as the widget's own
        """Cancel the workers of everything in it, while everything in it is still there."""
        closing = cast("Widget", self)
        for worker in tuple(closing.workers):
            if closing in worker.node.ancestors_with_self:
                worker.cancel()
