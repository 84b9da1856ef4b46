"""Where the board's figures come from: feeds, watched models, and the moment of the time cursor."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from datetime import datetime, timedelta
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

from gwtui.domain.safe_text import safe_line
from gwtui.ui.board.panels import Question
from gwtui.ui.subscriptions import FeedUse
from gwtui.ui.widgets.plot import SPANS, Span
from gwtui.watch.board import MISSED, BoardReadings, BoardSnapshot, recorded
from gwtui.watch.feed import FeedState
from gwtui.watch.feeds.credits import credits_feed, measured_rate
from gwtui.watch.feeds.endpoints import endpoints_feed
from gwtui.watch.feeds.keys import keys_feed
from gwtui.watch.feeds.workspaces import figures_feed
from gwtui.watch.history.model import HistoryError
from gwtui.watch.history.queries import RecordingState, recording_state
from gwtui.watch.history.reader import HistoryReader
from gwtui.watch.history.sources import DEFAULT_PACES
from gwtui.watch.hub import FeedHub, Scope

if TYPE_CHECKING:
    from gwtui.ui.app import GwtuiApp
    from gwtui.watch.history.recorder import Recorder


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


def moved(
    cursor: datetime | None, by: int, span: Span, now: datetime, *, leap: bool = False
) -> datetime:
    """The time cursor moved back (-1) or forward (1) by a step that suits the span."""
    stride = _STEPS[span.name] * (_LEAP if leap else 1)
    return (cursor or now.replace(second=0, microsecond=0)) + by * stride


def within(moment: datetime, now: datetime, begin: datetime | None) -> datetime | None:
    """The moment, not before the recording begins; None, which is live, from the present on."""
    if moment >= now:
        return None
    return moment if begin is None else max(moment, begin)


class LiveReadings:
    """The feeds of one connection that the board shows."""

    def __init__(self, hub: FeedHub, models: Iterable[str]) -> None:
        self._hub = hub
        self._credits = credits_feed(hub, Scope())
        self._keys = keys_feed(hub, Scope())
        self._budgets = figures_feed(hub, Scope())
        self._endpoints = {model: endpoints_feed(hub, Scope(parent=model)) for model in models}

    def uses(self, show: Callable[[FeedState[object]], None]) -> list[FeedUse]:
        """What to watch; ``show`` is given each new state."""
        return [
            (self._credits, show),
            *((feed, show) for feed in self._endpoints.values()),
            (self._keys, show, KEYS_EVERY),
            (self._budgets, show, BUDGETS_EVERY),
        ]

    def snapshot(self) -> BoardSnapshot:
        """What is known now; while the terminal has no focus only the recorder reads."""
        slow = MISSED * DEFAULT_PACES.credits if self._hub.paused else 0.0
        return BoardSnapshot(
            BoardReadings.of(self._credits.state, at_least=slow),
            BoardReadings.of(self._keys.state, at_least=MISSED * KEYS_EVERY),
            BoardReadings.of(self._budgets.state, at_least=MISSED * BUDGETS_EVERY),
            {
                model: BoardReadings.of(feed.state, at_least=slow)
                for model, feed in self._endpoints.items()
            },
            measured_rate(self._hub, self._credits.state),
        )


def written(recorder: Recorder | None) -> object:
    """What was recorded, to be compared: there is something to ask for when it is another."""
    status = None if recorder is None else recorder.status
    return None if status is None else (status.written_at, status.models)


class Answers(NamedTuple):
    """What the history said in one round, all of it from one consistent state."""

    known: RecordingState
    recorded: BoardSnapshot
    of_panels: Sequence[Any]
    problem: str = ""
    """Why some of it could not be read, for a person."""


def answers(
    moment: datetime, questions: Sequence[Question | None], reader: HistoryReader
) -> Answers:
    """Ask the questions of the panels, and what was recorded as of a moment."""
    known = recording_state(reader)
    problems: list[str] = []

    def attempt(question: Callable[[], T], nothing: T) -> T:
        try:
            return question()
        except HistoryError as error:
            problems.append(str(error))
            return nothing

    snapshot = attempt(lambda: recorded(reader, moment, known.models), BoardSnapshot())
    of_panels = [ask and attempt(partial(ask, reader, snapshot), None) for ask in questions]
    return Answers(known, snapshot, of_panels, problems[0] if problems else "")


async def watch_model(app: GwtuiApp, model: str) -> None:
    """Record a model's endpoints from now on, and say so."""
    recorder = recorder_of(app)
    if recorder is None:
        return
    try:
        await recorder.watch(model)
    except (ValueError, HistoryError) as error:
        app.say(f"Not watched: {error}", severity="warning")
    else:
        app.say(f"{safe_line(model, 80)} is on the board now (0)")


async def unwatch_model(app: GwtuiApp, model: str) -> None:
    """Record a model's endpoints no more, and say so."""
    recorder = recorder_of(app)
    if recorder is None:
        return
    try:
        await recorder.unwatch(model)
    except HistoryError as error:
        app.say(f"Still watched: {error}", severity="warning")
    else:
        app.say(f"{safe_line(model, 80)} is off the board; what was recorded of it stays")


def recorder_of(app: GwtuiApp) -> Recorder | None:
    """What keeps the list of watched models; None where nothing does, which is said."""
    session = app.session
    history = None if session is None else session.history
    if history is None or history.recorder is None:
        why = "there is no connection yet" if session is None else history and history.problem
        app.say(f"No model can be watched: {why or 'the history is not open'}", severity="warning")
        return None
    return history.recorder
