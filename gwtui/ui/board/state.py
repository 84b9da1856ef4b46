"""What the board knows: of the gateway now, and of the past from the history."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any, NamedTuple, TypeVar

from gwtui.ui.subscriptions import FeedUse
from gwtui.ui.widgets.plot import SPANS, PlotWindow, Span, window_at
from gwtui.watch.board import (
    MISSED,
    BoardReadings,
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
"""Steps in a leap."""
_STEPS = dict(
    zip(
        (span.name for span in SPANS),
        (timedelta(minutes=1), timedelta(minutes=15), timedelta(hours=2), timedelta(hours=8)),
        strict=True,
    )
)
KEYS_EVERY = 60.0
"""Seconds: a request per workspace each time, for a list that is looked at in passing."""
BUDGETS_EVERY = 300.0
"""Seconds: four requests per workspace each time."""


@dataclass(frozen=True, slots=True)
class BoardView:
    """What the board shows: the moment, and how far back.

    ``now`` is the present, or in the ``past`` the moment of the time cursor.
    """

    now: datetime
    span: Span = SPANS[0]
    past: bool = False

    @property
    def window(self) -> PlotWindow:
        """What plots show."""
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
    """The moment, not before the recording begins; None, which is live, from the present on."""
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
    """The feeds that the board watches; ``show`` is given each new state."""
    feeds = _feeds(hub, models)
    return [
        (feeds.credits, show),
        *((feed, show) for feed in feeds.endpoints.values()),
        (feeds.keys, show, KEYS_EVERY),
        (feeds.budgets, show, BUDGETS_EVERY),
    ]


def live_snapshot(hub: FeedHub, models: Iterable[str]) -> BoardSnapshot:
    """What is known now; while the terminal has no focus only the recorder reads."""
    feeds, slow = _feeds(hub, models), MISSED * DEFAULT_PACES.credits if hub.paused else 0.0
    return BoardSnapshot(
        BoardReadings.of(feeds.credits.state, at_least=slow),
        BoardReadings.of(feeds.keys.state, at_least=MISSED * KEYS_EVERY),
        BoardReadings.of(feeds.budgets.state, at_least=MISSED * BUDGETS_EVERY),
        {
            model: BoardReadings.of(feed.state, at_least=slow)
            for model, feed in feeds.endpoints.items()
        },
    )


@dataclass(frozen=True, slots=True)
class BoardPast:
    """What the history answered in one round, all of it from one consistent state.

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
    """Ask the history for everything that the board shows; runs in a thread."""
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
    """What the panels draw. ``past`` is None before the history has answered."""

    view: BoardView
    snapshot: BoardSnapshot = field(default_factory=BoardSnapshot)
    past: BoardPast | None = None
