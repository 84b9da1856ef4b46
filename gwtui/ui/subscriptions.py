"""The feeds that one screen watches while it is visible."""

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
"""A feed, the function that shows its state, and optionally the seconds between two reads."""


@dataclass(eq=False, slots=True)
class Subscription:
    """A watched feed."""

    feed: Feed[Any]
    deliver: Deliver
    every: float | None = None
    stop: Callable[[], None] = field(default=lambda: None)
    delivered: bool = False
    """Whether the screen has shown any state of the feed."""
    broken: bool = False
    """Whether an error kept the newest state from being shown."""


class FeedChanged(Message, bubble=False):
    """A feed has a new state; Textual merges several of these messages into one."""

    def __init__(self, subscription: Subscription) -> None:
        super().__init__()
        self.subscription = subscription

    def can_replace(self, message: Message) -> bool:
        """Whether a queued message about the same subscription is obsolete."""
        return isinstance(message, FeedChanged) and message.subscription is self.subscription


class Subscriptions:
    """Watches feeds while a screen is visible.

    A feed may call its listener at any time, so the listener only posts a message. The newest state
    is read when the message is handled.
    """

    def __init__(self, post: Callable[[Message], object]) -> None:
        self._post = post
        self._open: list[Subscription] = []

    def open(self, uses: Sequence[FeedUse]) -> None:
        """Watch these feeds, and stop watching the previous ones."""
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
        """Stop watching; the screen keeps its data."""
        for subscription in self._open:
            subscription.stop()
        self._open = []

    def handle(self, message: FeedChanged) -> bool:
        """Show the newest state of the feed; returns False if the feed is no longer watched.

        An error is caught and stored as ``broken``.
        """
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
        """A warning with the feeds that an error kept from being shown; empty if there are none."""
        names = ", ".join(
            subscription.feed.name for subscription in self._open if subscription.broken
        )
        return (
            f"{BROKEN} not shown because of a bug in gwtui, see its log: {names}" if names else ""
        )

    @property
    def never_shown(self) -> bool:
        """Whether errors have kept the screen from showing any state of the first feed."""
        first = self._open[0] if self._open else None
        return first is not None and first.broken and not first.delivered

    @property
    def feeds(self) -> tuple[Feed[Any], ...]:
        """The watched feeds; the first one decides the state of the screen."""
        return tuple(subscription.feed for subscription in self._open)

    @property
    def states(self) -> tuple[FeedState[Any], ...]:
        """The newest states of the watched feeds."""
        return tuple(feed.state for feed in self.feeds)

    def _changed(self, subscription: Subscription, _state: FeedState[Any]) -> None:
        self._post(FeedChanged(subscription))
