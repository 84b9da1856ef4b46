"""What the feeds give the board."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence

from gwtui.contract.credits import Credits
from gwtui.ui.subscriptions import FeedUse
from gwtui.watch.board.sight import MISSED, Seen, Sight
from gwtui.watch.feed import Feed, FeedState
from gwtui.watch.feeds.credits import credits_feed, measured_rate
from gwtui.watch.feeds.endpoints import EndpointRow, endpoints_feed
from gwtui.watch.feeds.keys import KeyRow, keys_feed
from gwtui.watch.feeds.scope import Scope
from gwtui.watch.feeds.workspaces import Figures, figures_feed
from gwtui.watch.history.sources import DEFAULT_PACES
from gwtui.watch.hub import FeedHub

KEYS_EVERY = 60.0
"""Seconds: a request per workspace each time, for a list that is looked at in passing."""
BUDGETS_EVERY = 300.0
"""Seconds: four requests per workspace each time."""


class LiveSight:
    """Keeps the feeds of one connection; ``news`` is called when one has another state."""

    def __init__(self, news: Callable[[], None]) -> None:
        self._news = news
        self._hub: FeedHub | None = None
        self._endpoints: Mapping[str, Feed[Sequence[EndpointRow]]] = {}

    def uses(self, hub: FeedHub, models: Iterable[str]) -> list[FeedUse]:
        """What to watch for these models."""
        self._hub = hub
        self._endpoints = {model: endpoints_feed(hub, Scope(parent=model)) for model in models}
        return [
            (self._credits(hub), self._deliver),
            *((feed, self._deliver) for feed in self._endpoints.values()),
            (self._keys(hub), self._deliver, KEYS_EVERY),
            (self._budgets(hub), self._deliver, BUDGETS_EVERY),
        ]

    def sight(self) -> Sight:
        """What is known now; while the terminal has no focus only the recorder reads."""
        hub = self._hub
        if hub is None:
            return Sight()
        slow = MISSED * DEFAULT_PACES.credits if hub.paused else 0.0
        return Sight(
            Seen.of(self._credits(hub).state, at_least=slow),
            Seen.of(self._keys(hub).state, at_least=MISSED * KEYS_EVERY),
            Seen.of(self._budgets(hub).state, at_least=MISSED * BUDGETS_EVERY),
            {model: Seen.of(feed.state, at_least=slow) for model, feed in self._endpoints.items()},
            measured_rate(hub, self._credits(hub).state),
        )

    def _deliver(self, _state: FeedState[object]) -> None:
        self._news()

    def _credits(self, hub: FeedHub) -> Feed[Credits]:
        return credits_feed(hub, Scope())

    def _keys(self, hub: FeedHub) -> Feed[Sequence[KeyRow]]:
        return keys_feed(hub, Scope())

    def _budgets(self, hub: FeedHub) -> Feed[Mapping[str, Figures]]:
        return figures_feed(hub, Scope())
