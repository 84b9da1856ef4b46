"""Messages of the frame."""

from __future__ import annotations

from typing import TYPE_CHECKING

from textual.message import Message

if TYPE_CHECKING:
    from gwtui.ui.subscriptions import Subscription


class FeedChanged(Message, bubble=False):
    """A feed has a new state; a burst of them is handled once."""

    def __init__(self, subscription: Subscription) -> None:
        super().__init__()
        self.subscription = subscription

    def can_replace(self, message: Message) -> bool:
        """Whether this one makes an earlier, waiting one needless."""
        return isinstance(message, FeedChanged) and message.subscription is self.subscription


class LookInto(Message):
    """Somebody wants to look into the write in doubt of this plan."""

    def __init__(self, plan: str) -> None:
        super().__init__()
        self.plan = plan
