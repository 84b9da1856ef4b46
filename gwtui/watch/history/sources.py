"""The recorded feeds, how often they are recorded, and the conversion of their values."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable
from datetime import datetime
from functools import partial
from math import ceil
from typing import Any

from gwtui.client.errors import NotFoundError
from gwtui.domain.clock import Clock
from gwtui.watch import cadence
from gwtui.watch.feed import Feed, FeedState
from gwtui.watch.feeds.credits import credits_feed
from gwtui.watch.feeds.guardrails import guardrails_feed
from gwtui.watch.feeds.keys import keys_feed
from gwtui.watch.feeds.models import endpoints_feed
from gwtui.watch.feeds.workspaces import figures_feed
from gwtui.watch.history.model import Observation, ReadingsSnapshot, endpoints_source
from gwtui.watch.history.observers import (
    ObservedReading,
    observe_credits,
    observe_endpoints,
    observe_guardrails,
    observe_keys,
    observe_workspaces,
)
from gwtui.watch.history.writer import most_used
from gwtui.watch.hub import FeedHub, FeedReader, FeedSpec, Scope

_EARLY = 0.75
"""The share of the interval after which a reading is recorded; earlier ones are for screens."""
_BELIEVED = 2


OFTEN = 60
"""Seconds between two recorded readings of credits, keys and endpoints.

With W workspaces and M watched models, these are at most 1 + M + W + 1 requests per minute, and
every ``RARELY`` seconds 4 W + 2 for budgets and W + 1 for guardrails. In large accounts, readings
are rarer, because no feed exceeds ``REQUESTS_PER_SECOND``.
"""
RARELY = 300
"""Seconds between two recorded readings of workspaces and guardrails."""

Build = Callable[[], Observation]
Convert = Callable[[Any, ObservedReading], Observation]
Arrived = Callable[[str, Build], None]


class Source:
    """One recorded feed. With a ``clock``, a resource that is not found counts as empty."""

    def __init__(
        self,
        name: str,
        feed: Feed[Any],
        every: int,
        convert: Convert,
        arrived: Arrived,
        clock: Clock | None = None,
    ) -> None:
        self.name = name
        self.feed = feed
        self._clock = clock
        self._misses = 0
        self._every = every
        self._convert = convert
        self._arrived = arrived
        self._taken_at: datetime | None = None
        self.close = feed.watch(self.update, background=True, every=every)
        """Stop recording the feed."""

    def update(self, state: FeedState[Any]) -> None:
        """Record a successful read; a failed one leaves a gap.

        With a clock, two 404 responses in a row count as an empty list.
        """
        if state.refreshing:
            return
        self._misses = self._misses + 1 if isinstance(state.error, NotFoundError) else 0
        if self._clock is not None and self._misses >= _BELIEVED:
            self.record((), self._clock.now(), complete=True)
        elif state.fetched_at is not None and state.error is None:
            self.record(state.value, state.fetched_at, complete=not state.lacks)

    def record(self, value: Any, at: datetime, *, complete: bool) -> None:
        """Pass a reading on, unless the previous one is too recent."""
        if not self._is_due(at):
            return
        self._taken_at = at
        reading = ObservedReading(at, self._pace(), complete)
        self._arrived(self.name, lambda: self._convert(value, reading))

    def _pace(self) -> int:
        return max(self._every, ceil(self.feed.least_pace))

    def _is_due(self, at: datetime) -> bool:
        if self._taken_at is None:
            return True
        return not 0 <= (at - self._taken_at).total_seconds() < self._every * _EARLY


class Sources:
    """All recorded feeds; ``arrived`` is called with each reading to record."""

    def __init__(self, hub: FeedHub, arrived: Arrived) -> None:
        self._hub = hub
        self._arrived = arrived
        self._account: list[Source] = []
        self._models: dict[str, Source] = {}

    def open(self) -> None:
        """Start reading the lists of the account. May be called again."""
        if self._account:
            return
        hub = self._hub
        feeds: tuple[tuple[str, int, Convert, Feed[Any]], ...] = (
            ("credits", OFTEN, observe_credits, credits_feed(hub)),
            ("keys", OFTEN, observe_keys, keys_feed(hub)),
            ("workspaces", RARELY, observe_workspaces, figures_feed(hub)),
            ("guardrails", RARELY, observe_guardrails, guardrails_feed(hub)),
        )
        self._account = [
            Source(name, feed, every, convert, self._arrived)
            for name, every, convert, feed in feeds
        ]

    def follow(self, models: Iterable[str]) -> None:
        """Read the endpoints of exactly these models."""
        chosen = tuple(models)
        for model in [model for model in self._models if model not in chosen]:
            self._models.pop(model).close()
        for model in chosen:
            if model not in self._models:
                name, convert = endpoints_source(model), partial(observe_endpoints, model)
                feed = endpoints_feed(self._hub, Scope(parent=model))
                source = Source(name, feed, OFTEN, convert, self._arrived, self._hub.clock)
                self._models[model] = source

    def close(self) -> None:
        """Stop reading."""
        for source in (*self._account, *self._models.values()):
            source.close()
        self._account = []
        self._models = {}

    def states(self) -> dict[str, FeedState[Any]]:
        """The states of the feeds by the name of the reading."""
        every = (*self._account, *self._models.values())
        return {source.name: source.feed.state for source in every}

    async def settled(self) -> None:
        """Wait until every reading has succeeded or failed once."""
        # A failed first read does not call back.
        while any(state.unanswered for state in self.states().values()):  # noqa: ASYNC110
            await asyncio.sleep(0.02)


async def _most_used(reader: FeedReader, _scope: Scope) -> tuple[str, ...]:
    return most_used((await reader.client.activity.list()).items)


most_used_feed = FeedSpec("models:most-used", _most_used, cadence.ACTIVITY)
"""The most used models of the last 30 days."""


# The latest readings, for the exporter ------------------------------------------------------------

PATIENCE = 3
"""The number of missed readings after which a figure is dropped."""


class Readings(Sources):
    """Reads all recorded lists and keeps the latest reading of each, for the exporter."""

    def __init__(self, hub: FeedHub) -> None:
        self._latest: dict[str, Observation] = {}
        super().__init__(hub, self._keep)

    async def start(self, models: Iterable[str] | None = None) -> None:
        """Start recording; ``models`` are the watched models, None for the most used ones."""
        self.open()
        if models is None:
            models = (await most_used_feed(self._hub).refresh()).value or ()
        self.follow(models)

    def _keep(self, name: str, build: Build) -> None:
        self._latest[name] = build()

    def snapshot(self) -> ReadingsSnapshot:
        """The latest readings, without outdated ones."""
        now, states = self._hub.clock.now(), self.states()
        fresh = {
            name: observation
            for name, observation in self._latest.items()
            if name in states
            and (now - observation.at).total_seconds() <= PATIENCE * observation.every
        }
        up = {
            name: state.error is None and state.fetched_at is not None
            for name, state in states.items()
        }
        return ReadingsSnapshot(fresh, up, self._hub.client.skew.seconds)
