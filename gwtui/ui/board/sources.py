"""Where the board's figures come from: the feeds, the history, and the moment that is replayed."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import partial
from typing import TYPE_CHECKING, Any

from gwtui.contract.usage import Credits
from gwtui.domain.safe_text import safe_line
from gwtui.ui.board.panels import BoardView, Question
from gwtui.ui.subscriptions import FeedUse
from gwtui.ui.widgets.plot import SPANS, Span
from gwtui.watch.board import MISSED, BoardReadings, BoardSnapshot, recorded
from gwtui.watch.feed import Feed, FeedState
from gwtui.watch.feeds.credits import credits_feed, measured_rate
from gwtui.watch.feeds.endpoints import EndpointRow, endpoints_feed
from gwtui.watch.feeds.keys import KeyRow, keys_feed
from gwtui.watch.feeds.workspaces import Figures, figures_feed
from gwtui.watch.history.model import HistoryError, Resource
from gwtui.watch.history.queries import RecordingState, recording_state
from gwtui.watch.history.reader import HistoryReader
from gwtui.watch.history.replay import snapshot_at
from gwtui.watch.history.sources import DEFAULT_PACES
from gwtui.watch.hub import FeedHub, Scope

if TYPE_CHECKING:
    from gwtui.ui.app import GwtuiApp
    from gwtui.watch.history.archive import Archive
    from gwtui.watch.history.recorder import Recorder


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
class Replay:
    """The moment that is shown; None is live."""

    moment: datetime | None = None

    @property
    def live(self) -> bool:
        """Whether the present is shown."""
        return self.moment is None

    def step(
        self, by: int, span: Span, now: datetime, begin: datetime | None, *, leap: bool = False
    ) -> Replay:
        """Go back (-1) or forward (1) by a step that suits the span; past the present is live.

        ``begin`` is when the recording begins: there is nothing before it.
        """
        stride = _STEPS[span.name] * (_LEAP if leap else 1)
        start = self.moment or now.replace(second=0, microsecond=0)
        return Replay(start + by * stride)._within(begin, now)

    def at(self, moment: datetime, now: datetime, begin: datetime | None) -> Replay:
        """Show this moment."""
        return Replay(moment)._within(begin, now)

    def _within(self, begin: datetime | None, now: datetime) -> Replay:
        moment = self.moment
        if moment is None or moment >= now:
            return Replay()
        return Replay(max(moment, begin)) if begin is not None else self


class LiveReadings:
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

    @property
    def unread(self) -> frozenset[Resource]:
        """Of what no feed has a value yet."""
        if self._hub is None:
            return frozenset()
        known = self.snapshot()
        parts: dict[Resource, Sequence[BoardReadings[Any]]] = {
            "credits": [known.credits],
            "key": [known.keys],
            "workspace": [known.workspaces],
            "endpoint": [*known.endpoints.values()],
        }
        return frozenset(
            part for part, found in parts.items() if any(one.value is None for one in found)
        )

    def snapshot(self) -> BoardSnapshot:
        """What is known now; while the terminal has no focus only the recorder reads."""
        hub = self._hub
        if hub is None:
            return BoardSnapshot()
        slow = MISSED * DEFAULT_PACES.credits if hub.paused else 0.0
        return BoardSnapshot(
            BoardReadings.of(self._credits(hub).state, at_least=slow),
            BoardReadings.of(self._keys(hub).state, at_least=MISSED * KEYS_EVERY),
            BoardReadings.of(self._budgets(hub).state, at_least=MISSED * BUDGETS_EVERY),
            {
                model: BoardReadings.of(feed.state, at_least=slow)
                for model, feed in self._endpoints.items()
            },
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


@dataclass(frozen=True, slots=True)
class HistoryQuery:
    """A round: a question for each panel, and ``past``: of what all that was known is needed.

    A snapshot of a large account takes megabytes: it is made of nothing that need not be in it.
    """

    archive: Archive
    view: BoardView
    questions: Sequence[Question | None]
    past: Collection[Resource]


@dataclass(frozen=True, slots=True)
class Answers:
    """What came of a round, all of it from one consistent state of the history."""

    view: BoardView
    known: RecordingState
    past: BoardSnapshot | None
    found: Sequence[Any]


class HistoryQueries:
    """Asks the history in rounds, one at a time; who asks during a round gets another one after it.

    ``query`` gives what to ask now, None for nothing; ``take`` is given the answers; ``start`` runs
    the coroutine of the rounds.
    """

    def __init__(
        self,
        query: Callable[[], HistoryQuery | None],
        take: Callable[[Answers], None],
        start: Callable[[Any], object],
    ) -> None:
        self._query = query
        self._take = take
        self._start = start
        self._again = False
        self.busy = False
        """Whether a round is under way."""
        self.problem = ""
        """Why the last round had no answer, for a person."""

    def soon(self) -> None:
        """Ask."""
        if self.busy:
            self._again = True
            return
        self.busy = True
        self._start(self._run())

    async def _run(self) -> None:
        try:
            while True:
                self._again = False
                await self._round()
                if not self._again:
                    return
        finally:
            self.busy = False

    async def _round(self) -> None:
        query = self._query()
        if query is None:
            return
        try:
            answers = await query.archive.read(partial(_answered, query))
        except HistoryError as error:
            self.problem = str(error)
        else:
            self.problem = ""
            self._take(answers)


def _with_names(parts: Collection[Resource]) -> Collection[Resource]:
    """A key is shown with its workspace."""
    return {*parts, "workspace"} if "key" in parts else parts


def _answered(query: HistoryQuery, reader: HistoryReader) -> Answers:
    return Answers(
        query.view,
        recording_state(reader),
        recorded(snapshot_at(reader, query.view.now, _with_names(query.past)))
        if query.past
        else None,
        [None if ask is None else ask(reader) for ask in query.questions],
    )


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
