"""A modal screen that watches feeds as long as it is on top."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeVar

from gwtui.ui.messages import FeedChanged
from gwtui.ui.screens.modal import Answered
from gwtui.ui.subscriptions import FeedUse, Subscriptions

Result = TypeVar("Result")


class FedModal(Answered[Result]):
    """Opens what ``feeds`` names when it is shown, and leaves it when it is covered or closed."""

    def __init__(self) -> None:
        super().__init__()
        self._subscriptions = Subscriptions(self.post_message)

    def feeds(self) -> Sequence[FeedUse]:
        """What it watches, each with what shows its states."""
        raise NotImplementedError

    def on_screen_resume(self) -> None:
        """Watch the feeds."""
        self._subscriptions.open(self.feeds())

    def on_screen_suspend(self) -> None:
        """Leave the feeds."""
        self._subscriptions.close()

    def on_unmount(self) -> None:
        """Leave the feeds for good."""
        self._subscriptions.close()

    def on_feed_changed(self, message: FeedChanged) -> None:
        """Show the newest state of a feed."""
        self._subscriptions.handle(message)
