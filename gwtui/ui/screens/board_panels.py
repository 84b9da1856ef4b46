"""Data of the board, live or recorded, and its panels for credits, limits and changes."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from typing import Any, NamedTuple, TypeVar

from textual.app import ComposeResult
from textual.containers import Vertical
from textual.content import Content

from gwtui.crud import cells
from gwtui.crud.cells import figure_column, text_column, usd_column
from gwtui.crud.plan_text import count
from gwtui.crud.resource import Cell, Column, SortValue
from gwtui.domain import money, times
from gwtui.domain.runway import Runway
from gwtui.local.caught_errors import BROKEN, caught_errors
from gwtui.resources.changes import change_text, event_cell, subject_text
from gwtui.resources.credits import Line as Words
from gwtui.resources.credits import burn_cells, left_cells, runway_cells
from gwtui.ui.commands import with_keys
from gwtui.ui.subscriptions import FeedUse
from gwtui.ui.text import cell_content, toned
from gwtui.ui.widgets.lines import DrawingView, LinesView, OneLine
from gwtui.ui.widgets.plot import SPANS, PlotFigure, PlotLine, PlotWindow, Span, fitted, window_at
from gwtui.ui.widgets.table import ResourceTable
from gwtui.watch.board import (
    MISSED,
    BoardSnapshot,
    EndpointsPast,
    Limit,
    RecentChanges,
    RecordingState,
    endpoint_curves,
    endpoints_past,
    limits,
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
from gwtui.watch.history.model import (
    Curve,
    HistoryError,
    RecordedChange,
    endpoint_identity,
)
from gwtui.watch.history.reader import HistoryReader
from gwtui.watch.history.sources import OFTEN
from gwtui.watch.hub import FeedHub, Scope

T = TypeVar("T")

_STEPS = dict(
    zip(
        (span.name for span in SPANS),
        (timedelta(minutes=1), timedelta(minutes=15), timedelta(hours=2), timedelta(hours=8)),
        strict=True,
    )
)
KEYS_EVERY = 60.0
"""Seconds between two reads of all keys; each read takes one request per workspace."""
BUDGETS_EVERY = 300.0
"""Seconds between two reads of all budgets; each read takes four requests per workspace."""


@dataclass(frozen=True, slots=True)
class BoardView:
    """The moment that the board shows, and the time span of its plots.

    ``now`` is the current time, or the time cursor if ``past`` is True.
    """

    now: datetime
    span: Span = SPANS[0]
    past: bool = False

    @property
    def window(self) -> PlotWindow:
        """The time range of the plots."""
        return window_at(self.span, self.now)


def moved(cursor: datetime | None, by: int, span: Span, now: datetime) -> datetime:
    """Return the time cursor moved by ``by`` steps; negative steps go back in time.

    A ``cursor`` of None stands for ``now``. The length of a step depends on the span.
    """
    return (cursor or now.replace(second=0, microsecond=0)) + by * _STEPS[span.name]


def within(moment: datetime, now: datetime, begin: datetime | None) -> datetime | None:
    """Limit a time cursor to the recording: not before ``begin``; None (live) from ``now`` on.

    ``begin`` is the start of the recording, if known.
    """
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
    """Return the feeds that the board watches; ``show`` is called with each new state."""
    feeds = _feeds(hub, models)
    return [
        (feeds.credits, show),
        *((feed, show) for feed in feeds.endpoints.values()),
        (feeds.keys, show, KEYS_EVERY),
        (feeds.budgets, show, BUDGETS_EVERY),
    ]


def _stale_after(state: FeedState[T], at_least: float) -> FeedState[T]:
    return replace(state, stale_after=max(state.stale_after, at_least))


def live_snapshot(hub: FeedHub, models: Iterable[str]) -> BoardSnapshot:
    """Return the present states of the feeds in ``live_feeds``.

    Values count as stale later than usual where the feeds are read less often: while the terminal
    has no focus and only the recorder polls, and for keys and budgets always.
    """
    feeds, slow = _feeds(hub, models), MISSED * OFTEN if hub.paused else 0.0
    return BoardSnapshot(
        _stale_after(feeds.credits.state, slow),
        _stale_after(feeds.keys.state, MISSED * KEYS_EVERY),
        _stale_after(feeds.budgets.state, MISSED * BUDGETS_EVERY),
        {model: _stale_after(feed.state, slow) for model, feed in feeds.endpoints.items()},
    )


@dataclass(frozen=True, slots=True)
class BoardPast:
    """The results of all history queries of the board, read in one transaction.

    ``curves`` are those of ``endpoint``, the identity of an endpoint. If ``problem`` says why the
    history could not be read, only ``recording`` is known, which names the watched models.
    """

    recording: RecordingState
    snapshot: BoardSnapshot = field(default_factory=BoardSnapshot)
    credits: CreditsPast | None = None
    endpoints: EndpointsPast = field(default_factory=EndpointsPast)
    changes: RecentChanges = field(default_factory=RecentChanges)
    endpoint: str | None = None
    curves: Mapping[str, Curve | None] = field(default_factory=dict)
    problem: str = ""


def board_past(view: BoardView, endpoint: str | None, reader: HistoryReader) -> BoardPast:
    """Query the history for everything that the board shows. Blocks, so run it in a thread.

    ``endpoint`` is the identity of the endpoint whose curves are read, None for none. Raises
    HistoryError if not even the state of the recording can be read.
    """
    recording = recording_state(reader)
    span = (view.window.since, view.now)  # the window may end after the time cursor
    try:
        snapshot = recorded(reader, view.now, recording.models)
        identities = [
            endpoint_identity(model, row.identity)
            for model, readings in snapshot.endpoints.items()
            for row in readings.value or ()
        ]
        return BoardPast(
            recording,
            snapshot,
            credits_past(reader, *span),
            endpoints_past(reader, *span, identities),
            recent_changes(reader, *span),
            endpoint,
            endpoint_curves(reader, *span, endpoint) if endpoint else {},
        )
    except HistoryError as error:
        return BoardPast(recording, problem=str(error))


@dataclass(frozen=True, slots=True)
class BoardState:
    """Everything that a panel draws.

    ``past`` is None until the history has answered. ``reading`` is True if there is a history that
    can be read, so that missing curves may still arrive.
    """

    view: BoardView
    snapshot: BoardSnapshot = field(default_factory=BoardSnapshot)
    past: BoardPast | None = None
    reading: bool = False


# The panels -------------------------------------------------------------------------------------

_MOST_LIMITS = 50
"""Maximum number of limits in the list; the ones closest to exhaustion come first."""
_BAR = 8
_GAP = 2
_INDENT = len("MM-DD HH:MM ")


class Panel(Vertical):
    """Base of the board's panels; an error while drawing is contained in the panel."""

    state: BoardState | None = None
    """The state that was drawn last."""

    def draw(self, state: BoardState) -> None:
        """Show a state. Called often, so it must be cheap if nothing has changed."""
        raise NotImplementedError

    def show(self, state: BoardState) -> None:
        """Draw a state; an error is shown in this panel, and the other panels keep working."""
        self.state = state
        try:
            self.draw(state)
        except Exception as error:
            if caught_errors.add(f"panel {self.id}", error):
                note = OneLine()
                note.show(toned(f"{BROKEN} not all shown: a bug in gwtui, see its log", "bad"))
                self.mount(note, before=0)

    def on_resize(self) -> None:
        if self.state is not None:
            self.show(self.state)


class CreditsPanel(Panel):
    """A plot of the balance; ``summary`` has balance, runway and burn rates in one line."""

    def __init__(self) -> None:
        super().__init__(id="board-credits", classes="panel")

    def compose(self) -> ComposeResult:
        yield DrawingView(id="board-balance-plot")

    def draw(self, state: BoardState) -> None:
        if state.past is not None:
            curve = None if state.past.credits is None else state.past.credits.curve
            window, credits = fitted(state.view.window, (curve,)), state.snapshot.credits.value
            balance = None if credits is None else credits.balance
            self.query_one(DrawingView).draw(
                PlotFigure(
                    "Balance",
                    window,
                    (PlotLine(curve, newest=balance),),
                    money.usd,
                    absent="not reported",
                )
            )

    def summary(self, state: BoardState) -> Content:
        view, credits = state.view, state.snapshot.credits
        past, runway = None if state.past is None else state.past.credits, _runway(state)
        parts: Words = (Cell("Balance ", "muted"), *left_cells(credits, view.now, past=view.past))
        if past is not None or runway is not None:
            parts += (Cell("  runway ", "muted"), *runway_cells(credits.value, runway, view.now))
        if past is not None:
            parts += (Cell("  burn ", "muted"), *burn_cells(past.state.rates, brief=True))
        return Content("").join(map(cell_content, parts))


def _runway(state: BoardState) -> Runway | None:
    past = None if state.past is None else state.past.credits
    return state.snapshot.runway(() if past is None else past.state.rates)


def _used(limit: Limit) -> Cell:
    share = limit.share
    return cells.NOTHING if share is None else cells.share(share, cells.share_tone(share))


def _bar(limit: Limit, _now: datetime) -> Cell:
    if limit.share is None:
        return cells.NOTHING
    return Cell(cells.bar(limit.share, _BAR), cells.share_tone(limit.share))


def _resets(limit: Limit, now: datetime) -> Cell:
    moment = limit.resets_at(now)
    if moment is not None:
        return Cell(times.relative(moment, now))
    known = limit.schedule is None or limit.schedule == "lifetime"
    return Cell("never", "muted") if known else cells.NOTHING


def _resets_at(limit: Limit, now: datetime) -> SortValue:
    return limit.resets_at(now)


def _limit_name(limit: Limit) -> str | None:
    if limit.kind == "key" or limit.name is None:
        return limit.name
    return f"{limit.name} · {limit.schedule} budget"


_LIMIT_COLUMNS: tuple[Column[Limit], ...] = (
    text_column(
        "name",
        "Nearest to their limits",
        _limit_name,
        22,
        help="name of the key, or of the workspace with its budget",
        grow=True,
    ),
    figure_column(
        "used",
        "Used",
        lambda limit: cells.in_percent(limit.share),
        6,
        show=_used,
        help="share of the limit that is used",
    ),
    usd_column("left", "Left", lambda limit: limit.left, 10, "remaining amount, USD"),
    Column("resets", "Resets", _resets, _resets_at, 10, help="when the limit resets, UTC"),
    Column("bar", "", _bar, lambda limit, _now: limit.share, _BAR, help="the used share as a bar"),
    text_column("kind", "Kind", lambda limit: limit.kind, 9, help="key or workspace"),
    usd_column("limit", "Limit", lambda limit: limit.limit, 10, "limit, USD"),
)


class LimitsPanel(Panel):
    """The keys and workspaces closest to their limits; always live."""

    def __init__(self, now: Callable[[], datetime]) -> None:
        super().__init__(id="board-limits", classes="panel")
        self._now = now
        self.table: ResourceTable[Limit] = ResourceTable(
            _LIMIT_COLUMNS, lambda row: row.identity, now, id="board-limits-table"
        )

    def compose(self) -> ComposeResult:
        yield OneLine(id="board-limits-state")
        yield self.table

    def on_mount(self) -> None:
        self.table.sort_by("used", descending=True)

    def draw(self, state: BoardState) -> None:
        """Show all active limits, and whether the keys or budgets are stale or unreadable."""
        keys, spaces, now = state.snapshot.keys, state.snapshot.workspaces, self._now()
        active = limits(keys.value or (), spaces.value or {}, now)
        self.table.show(active[:_MOST_LIMITS])
        words = [_state("keys", keys, now), _state("budgets", spaces, now)]
        if state.view.past:
            words.append(f"limits as of now, not {state.view.now:%H:%M} UTC")
        text = " · ".join(word for word in words if word)
        if not text and not active:
            text = "no key or workspace has a limit"
        line = self.query_one("#board-limits-state", OneLine)
        line.display = bool(text)
        line.show(toned(f" {text}", "warn" if active else "muted"))


def _state(what: str, readings: FeedState[Any], now: datetime) -> str:
    if readings.value is None:
        return f"{what} cannot be read" if readings.error is not None else f"reading {what}…"
    return f"{what} {times.age(readings.age(now))} old" if readings.is_old(now) else ""


class ChangesPanel(Panel):
    """Recorded changes in the time span of the board, newest first."""

    def __init__(self) -> None:
        super().__init__(id="board-changes", classes="panel")
        self.lines = LinesView(id="board-changes-lines")

    def compose(self) -> ComposeResult:
        yield OneLine(id="board-changes-title")
        yield self.lines

    def draw(self, state: BoardState) -> None:
        """Show each change in one line, or in two on a narrow panel."""
        if state.past is None:
            return
        news, room = state.past.changes, self.lines.size.width
        self.query_one("#board-changes-title", OneLine).show(
            Content.assemble(
                toned(_count(news)),
                toned(_extent(news, state.view), "muted"),
                toned(with_keys("   {board.changes} all changes"), "muted"),
            )
        )
        self.lines.show([line for change in news.changes for line in _change_lines(change, room)])


def _extent(news: RecentChanges, view: BoardView) -> str:
    if news.late and news.since is not None:
        return f" since recording began, {news.since:%m-%d %H:%M} UTC"
    return f" in {view.span.name if view.span.name != '1h' else '24h'}"


def _count(news: RecentChanges) -> str:
    if news.since is None:
        return "Changes not recorded"
    changes = count(len(news.changes), "change")
    return f"The newest {changes}" if news.cut else changes


def _change_lines(change: RecordedChange, room: int) -> Iterator[Content]:
    event = event_cell(change.kind)
    head = Content.assemble(
        toned(f"{change.at:%m-%d %H:%M} ", "muted"),
        toned(f"{event.text:<8} ", event.tone),
        toned(subject_text(*change.subject, change.name)),
    )
    words = toned(change_text(change) if change.field else "", "muted")
    if head.cell_length + _GAP + words.cell_length <= room:
        yield Content.assemble(head, " " * _GAP, words)
        return
    # No room for the values: they move to a second line.
    yield head
    yield Content.assemble(" " * _INDENT, words)
