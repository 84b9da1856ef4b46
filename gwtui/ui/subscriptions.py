"""Subscriptions of one screen to feeds, for as long as it is shown."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from textual.message import Message

from gwtui.local.caught_errors import BROKEN, caught_errors
from gwtui.watch.feed import Feed, FeedState

Deliver = Callable[[FeedState[Any]], None]
FeedUse = tuple[Feed[Any], Deliver] | tuple[Feed[Any], Deliver, float]
"""A feed, what the screen does with each of its states, and the seconds between two reads that it
needs where these are not the feed's own."""


@dataclass(eq=False, slots=True)
class Subscription:
    """One watched feed."""

    feed: Feed[Any]
    deliver: Deliver
    every: float | None = None
    stop: Callable[[], None] = field(default=lambda: None)
    delivered: bool = False
    """Whether any of its states could be shown."""
    broken: bool = False
    """Whether the newest one could not be shown because of an error."""


class FeedChanged(Message, bubble=False):
    """A feed has a new state; a burst of them is handled once."""

    def __init__(self, subscription: Subscription) -> None:
        super().__init__()
        self.subscription = subscription

    def can_replace(self, message: Message) -> bool:
        """Whether this one makes an earlier, waiting one needless."""
        return isinstance(message, FeedChanged) and message.subscription is self.subscription


class Subscriptions:
    """Opens feeds when a screen is shown, closes them when it is covered.

    A feed's listener may be called at any time, so that it only posts a message; the newest state
    is read when that message is handled.
    """

    def __init__(self, post: Callable[[Message], object]) -> None:
        self._post = post
        self._open: list[Subscription] = []

    def open(self, uses: Sequence[FeedUse]) -> None:
        """Watch these feeds instead of the present ones."""
        before = self._open
        self._open = [Subscription(*use) for use in uses]
        for subscription in self._open:
            listener = partial(self._changed, subscription)
            subscription.stop = subscription.feed.watch(listener, every=subscription.every)
            self._post(FeedChanged(subscription))
        # Closing after opening keeps a feed that stays watched from pausing in between.
        for subscription in before:
            subscription.stop()

    def close(self) -> None:
        """Watch nothing; what was delivered stays on the screen."""
        for subscription in self._open:
            subscription.stop()
        self._open = []

    def handle(self, message: FeedChanged) -> bool:
        """Deliver the newest state of a feed that is still watched; whether it was."""
        subscription = message.subscription
        if subscription not in self._open:
            return False
        try:
            subscription.deliver(subscription.feed.state)
        except Exception as error:
            caught_errors.add(f"showing feed {subscription.feed.name}", error)
            subscription.broken = True
        else:
            subscription.delivered, subscription.broken = True, False
        return True

    @property
    def broken_text(self) -> str:
        """Which feeds' newest states could not be shown because of an error; empty for none."""
        names = ", ".join(one.feed.name for one in self._open if one.broken)
        return (
            f"{BROKEN} not shown because of a bug in gwtui, see its log: {names}" if names else ""
        )

    @property
    def never_shown(self) -> bool:
        """Whether an error kept every state of the first feed from being shown."""
        first = self._open[0] if self._open else None
        return first is not None and first.broken and not first.delivered

    @property
    def feeds(self) -> tuple[Feed[Any], ...]:
        """What is watched now; the first feed decides the state of the screen."""
        return tuple(subscription.feed for subscription in self._open)

    @property
    def states(self) -> tuple[FeedState[Any], ...]:
        """The newest states of what is watched."""
        return tuple(feed.state for feed in self.feeds)

    def _changed(self, subscription: Subscription, _state: FeedState[Any]) -> None:
        self._post(FeedChanged(subscription))
