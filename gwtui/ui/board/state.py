"""The state of the board: the gateway now, and the past from the history."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from typing import Any, NamedTuple, TypeVar

from gwtui.ui.subscriptions import FeedUse
from gwtui.ui.widgets.plot import SPANS, PlotWindow, Span, window_at
from gwtui.watch.board import (
    MISSED,
    BoardSnapshot,
    EndpointsPast,
    RecentChanges,
    RecordingState,
    endpoint_curves,
    endpoints_past,
    recent_changes,
    recorded,
    recording_state,
)
from gwtui.watch.feed import Feed, FeedState
from gwtui.watch.feeds.credits import credits_feed
from gwtui.watch.feeds.keys import keys_feed
from gwtui.watch.feeds.models import endpoints_feed
from gwtui.watch.feeds.recorded import CreditsPast, credits_past
from gwtui.watch.feeds.workspaces import figures_feed
from gwtui.watch.history.model import Curve, HistoryError, endpoint_identity
from gwtui.watch.history.reader import HistoryReader
from gwtui.watch.history.sources import DEFAULT_PACES
from gwtui.watch.hub import FeedHub, Scope

T = TypeVar("T")

_LEAP = 10
"""Number of steps in a leap."""
_STEPS = dict(
    zip(
        (span.name for span in SPANS),
        (timedelta(minutes=1), timedelta(minutes=15), timedelta(hours=2), timedelta(hours=8)),
        strict=True,
    )
)
KEYS_EVERY = 60.0
"""Seconds between reads of the keys, which take one request per workspace."""
BUDGETS_EVERY = 300.0
"""Seconds between reads of the budgets, which take four requests per workspace."""


@dataclass(frozen=True, slots=True)
class BoardView:
    """The moment that the board shows, and the span before it.

    ``now`` is the present, or the moment of the time cursor if ``past`` is True.
    """

    now: datetime
    span: Span = SPANS[0]
    past: bool = False

    @property
    def window(self) -> PlotWindow:
        """The time window of the plots."""
        return window_at(self.span, self.now)


def moved(
    cursor: datetime | None, by: int, span: Span, now: datetime, *, leap: bool = False
) -> datetime:
    """The time cursor moved by ``by`` steps, negative for back.

    A step depends on the span; ``leap`` takes larger steps.
    """
    stride = _STEPS[span.name] * (_LEAP if leap else 1)
    return (cursor or now.replace(second=0, microsecond=0)) + by * stride


def within(moment: datetime, now: datetime, begin: datetime | None) -> datetime | None:
    """The moment, no earlier than ``begin``; None, which means live, from ``now`` on."""
    if moment >= now:
        return None
    return moment if begin is None else max(moment, begin)


class _Feeds(NamedTuple):
    credits: Feed[Any]
    keys: Feed[Any]
    budgets: Feed[Any]
    endpoints: Mapping[str, Feed[Any]]


def _feeds(hub: FeedHub, models: Iterable[str]) -> _Feeds:
    return _Feeds(
        credits_feed(hub, Scope()),
        keys_feed(hub, Scope()),
        figures_feed(hub, Scope()),
        {model: endpoints_feed(hub, Scope(parent=model)) for model in models},
    )


def live_feeds(
    hub: FeedHub, models: Iterable[str], show: Callable[[FeedState[object]], None]
) -> list[FeedUse]:
    """The feeds that the board watches; ``show`` receives each new state."""
    feeds = _feeds(hub, models)
    return [
        (feeds.credits, show),
        *((feed, show) for feed in feeds.endpoints.values()),
        (feeds.keys, show, KEYS_EVERY),
        (feeds.budgets, show, BUDGETS_EVERY),
    ]


def _patient(state: FeedState[T], at_least: float) -> FeedState[T]:
    """The state of a feed, which is not stale for ``at_least`` seconds."""
    return replace(state, stale_after=max(state.stale_after, at_least))


def live_snapshot(hub: FeedHub, models: Iterable[str]) -> BoardSnapshot:
    """The current values; without terminal focus only the recorder polls, so they may be older."""
    feeds, slow = _feeds(hub, models), MISSED * DEFAULT_PACES.credits if hub.paused else 0.0
    return BoardSnapshot(
        _patient(feeds.credits.state, slow),
        _patient(feeds.keys.state, MISSED * KEYS_EVERY),
        _patient(feeds.budgets.state, MISSED * BUDGETS_EVERY),
        {model: _patient(feed.state, slow) for model, feed in feeds.endpoints.items()},
    )


@dataclass(frozen=True, slots=True)
class BoardPast:
    """The answers of the history in one round, from one consistent snapshot.

    ``curves`` are those of ``endpoint``, an identity. ``problem`` says why some of it could not be
    read, for a person.
    """

    recording: RecordingState
    snapshot: BoardSnapshot
    credits: CreditsPast | None
    endpoints: EndpointsPast
    changes: RecentChanges
    endpoint: str | None
    curves: Mapping[str, Curve | None]
    problem: str


def board_past(view: BoardView, endpoint: str | None, reader: HistoryReader) -> BoardPast:
    """Query the history for everything on the board; runs in a thread."""
    recording = recording_state(reader)
    span = (view.window.since, view.now)  # nothing after the moment that is shown
    problems: list[str] = []

    def attempt(nothing: T, question: Callable[..., T], *given: object) -> T:
        try:
            return question(reader, *given)
        except HistoryError as error:
            problems.append(str(error))
            return nothing

    snapshot = attempt(BoardSnapshot(), recorded, view.now, recording.models)
    identities = [
        endpoint_identity(model, row.identity)
        for model, readings in snapshot.endpoints.items()
        for row in readings.value or ()
    ]
    return BoardPast(
        recording,
        snapshot,
        attempt(None, credits_past, *span),
        attempt(EndpointsPast(), endpoints_past, *span, identities),
        attempt(RecentChanges(), recent_changes, *span),
        endpoint,
        attempt({}, endpoint_curves, *span, endpoint) if endpoint else {},
        next(iter(problems), ""),
    )


@dataclass(frozen=True, slots=True)
class BoardState:
    """The state that panels draw; ``past`` is None before the history has answered."""

    view: BoardView
    snapshot: BoardSnapshot = field(default_factory=BoardSnapshot)
    past: BoardPast | None = None
