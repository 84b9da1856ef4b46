"""The board: credits, watched endpoints, limits and changes.

Curves and figures are live, or those of the recorded moment that the time cursor is at.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import datetime
from functools import partial
from typing import TYPE_CHECKING, Any

from textual import events, on
from textual.app import ComposeResult
from textual.containers import Horizontal, Vertical
from textual.content import Content
from textual.worker import Worker

from gwtui.crud.action import COPY
from gwtui.crud.resource import Cell, DetailRow, DetailTable, Section
from gwtui.domain import times
from gwtui.domain.safe_text import safe_line, safe_text
from gwtui.local.caught_errors import BROKEN, guarded
from gwtui.resources.alerts import alerts_line
from gwtui.ui.board.endpoints import TALL, EndpointPanel, EndpointsPanel
from gwtui.ui.board.panels import (
    BoardPast,
    BoardState,
    BoardView,
    ChangesPanel,
    CreditsPanel,
    LimitsPanel,
    board_past,
    live_feeds,
    live_snapshot,
    moved,
    within,
)
from gwtui.ui.commands import key_of, with_keys
from gwtui.ui.screens.base import TableScreen
from gwtui.ui.subscriptions import FeedUse
from gwtui.ui.text import choice_line, toned
from gwtui.ui.widgets.detail import section_lines
from gwtui.ui.widgets.lines import OneLine
from gwtui.ui.widgets.plot import SPANS
from gwtui.ui.widgets.prompt import Prompt
from gwtui.ui.widgets.table import Highlighted
from gwtui.watch.board import BoardSnapshot, RecordingState, newest
from gwtui.watch.board import RecordingState as Known
from gwtui.watch.feed import FeedState
from gwtui.watch.feeds.alerts import alerts_feed
from gwtui.watch.history.model import HistoryError

if TYPE_CHECKING:
    from gwtui.resources.session import Session
    from gwtui.ui.app import GwtuiApp
    from gwtui.watch.history.recorder import Recorder
    from gwtui.watch.hub import FeedHub


_LONG = 160
_NAME = 34
_EXPLANATION = (
    "A reading of many requests is repeated less often: at most one request per second.",
    "Without focus, only the history recorder reads, at its own pace.",
    "After a 429, gwtui waits as long as the gateway says.",
)


def cursor_line(cursor: datetime, now: datetime) -> Content:
    """The banner with the moment of the time cursor."""
    ago = times.relative(cursor, now)
    keys = "{board.live} live again · {board.earlier} {board.later} step · {board.jump} jump"
    return Content(f" AS OF {times.utc(cursor, seconds=True)}, {ago} · {with_keys(keys)}")


def alerts_part(hub: FeedHub, *, live: bool) -> Content | None:
    """The current alerts. The app watches their feed while it is connected."""
    cell = alerts_line(alerts_feed(hub).state.value or ())
    return None if cell is None else toned(f" ! {'' if live else 'now: '}{cell.text}", cell.tone)


def recording_line(recorder: Recorder | None, known: Known | None) -> Content:
    """The process that records, or why none does, and problems with the history file."""
    if recorder is None or (not recorder.open_archive and not recorder.status.error):
        return toned("History not open", "muted")
    status = recorder.status
    if not recorder.open_archive:
        return toned(f"Not recording: {safe_text(status.error, _LONG)}", "bad")
    parts = [_who(recording=status.recording, known=known)]
    if status.error is not None:
        parts.append(toned(safe_text(status.error, _LONG), "bad"))
    if status.notice:
        parts.append(toned(safe_text(status.notice, _LONG), "warn"))
    if known is not None and known.span is not None:
        parts.append(toned(f"since {times.utc(known.span[0])}", "muted"))
    return Content(" · ").join(parts)


def _who(*, recording: bool, known: Known | None) -> Content:
    if recording:
        return toned("Recorded here", "good")
    if known is None or known.process is None:
        return toned("Not recording yet", "warn")
    return toned(f"Recorded by another gwtui (process {known.process})", "plain")


def requests_part(session: Session) -> Content:
    """The requests of the last minute; red if some were rate-limited."""
    recent = session.gateway.traffic.recent()
    rate = f"gwtui: {recent.requests} requests/min"
    if recent.limited:
        return toned(f"{rate}, {recent.limited} refused (429)", "bad")
    return toned(rate, "muted")


def request_lines(session: Session, now: datetime, width: int) -> Sequence[Content]:
    """The requests of the last minute, the expected rate, and every feed that polls."""
    sections: tuple[Section[None], ...] = (
        Section("Requests", lambda _item, _now: [*_rates(session)]),
        Section("Readings", lambda _item, _now: [_readings(session.hub)]),
    )
    lines = [*section_lines("", sections, None, now, width)[2:], Content("")]
    for text in _EXPLANATION:
        lines += toned(text, "muted").wrap(width)
    return lines


def _rates(session: Session) -> Iterator[DetailRow]:
    recent, expected = session.gateway.traffic.recent(), session.hub.expected_per_minute
    yield DetailRow("last minute", Cell(f"{recent.reads} reads, {recent.writes} writes"))
    yield DetailRow("expected", Cell(f"about {expected:.0f} per minute on this screen"))
    if recent.limited:
        words = f"{recent.limited} rate-limited (429)"
        yield DetailRow("refused", Cell(words, "bad"))


def _readings(hub: FeedHub) -> DetailTable:
    """The feeds that poll the gateway; local ones are left out."""
    loads = [(feed, load) for feed in hub.feeds if (load := feed.load) and load.requests]
    rows = [
        (
            Cell(safe_text(feed.name, _NAME)),
            Cell(times.age(load.seconds)),
            Cell(str(load.requests)),
            Cell(f"{load.per_minute:.1f}"),
            Cell("the screen" if feed.watched else "the history", "muted"),
        )
        for feed, load in loads
    ]
    return DetailTable(("reading", "every", "requests", "a minute", "for"), tuple(rows))


async def watch_model(app: GwtuiApp, model: str, *, watched: bool = True) -> None:
    """Start or stop recording a model's endpoints, and report it."""
    recorder = recorder_of(app)
    if recorder is None:
        return
    try:
        await (recorder.watch if watched else recorder.unwatch)(model)
    except (ValueError, HistoryError) as error:
        app.say(f"{'Not' if watched else 'Still'} watched: {error}", severity="warning")
    else:
        off = "removed from the board; its history stays"
        app.say(f"{safe_line(model, 80)} {'added to the board (0)' if watched else off}")


def recorder_of(app: GwtuiApp) -> Recorder | None:
    """The recorder, which stores the watched models; None, with a notice, if there is none."""
    session = app.session
    recorder = None if session is None else session.recorder
    if recorder is None:
        why = "there is no connection yet" if session is None else ""
        if session is not None and session.history is not None:
            why = session.history.status.error or ""
        app.say(f"No model can be watched: {why or 'the history is not open'}", severity="warning")
    return recorder


WALL = (160, 44)
"""The size, in columns and lines, from which all panels are visible at once."""
_JUMP_HINT = "moment, UTC: 2026-11-20 18:00, yesterday 18:00, 3h ago, last friday"
_LOOK_EVERY = 10.0
"""Seconds between two updates of ages and countdowns, and two queries of the history."""


PAGES = {"-endpoints": "Endpoints", "-account": "Credits, limits", "-changes": "Changes"}
"""Page titles by CSS class."""


def pages_line(page: int, span: str, hidden: Sequence[str], *, folded: bool) -> Content:
    """The visible page, the other pages, the time span, and hidden plots."""
    zoom = f"   {key_of('board.zoom_in')} {key_of('board.zoom_out')} "
    reach = Content.assemble(toned(zoom, "accent"), toned(f"last {span}", "plain"))
    if hidden and (not folded or page == 0):
        reach = Content.assemble(
            reach,
            toned(f"   {key_of('board.measure')} ", "accent"),
            toned(", ".join(hidden), "muted"),
        )
    if not folded:
        return Content.assemble(toned(" Everything", "muted"), reach)
    titles = tuple(PAGES.values())
    turn = toned(f"  {key_of('board.page')}", "accent")
    return choice_line("", titles, titles[page], Content.assemble(turn, reach))


class BoardScreen(TableScreen):
    """The board: draws every panel, live or at the moment of the time cursor."""

    opens = "board.open"
    ticks_unfocused = True

    def __init__(self) -> None:
        super().__init__("board", title="Board", extra_scopes=(COPY,))
        self.cursor: datetime | None = None
        """The time cursor; None is live."""
        self.page = 0
        self.span = SPANS[0]
        self.past: BoardPast | None = None
        """The last answer of the history."""
        self._past_of: datetime | None = None
        """The time cursor of that query."""
        self.problem = ""
        """Why the history could not be read; empty if it could."""
        self.budget: Content | None = None
        """The request rate, cached because it changes all the time."""
        self._asking: Worker[None] | None = None
        self._looked_at = 0.0
        self.credits = CreditsPanel()
        self.endpoints = EndpointsPanel(lambda: self.view.now)
        self.table = self.endpoints.table
        self.endpoint = EndpointPanel(lambda: self.endpoints.selected)
        self.limits = LimitsPanel(lambda: self.now)
        self.changes = ChangesPanel()

    # Hooks of the frame -----------------------------------------------------------------------

    def compose_body(self) -> ComposeResult:
        """The summary, the pages, the panels, the recorder."""
        yield OneLine(id="board-summary")
        yield OneLine(id="board-alerts")
        yield OneLine(id="board-pages")
        with Horizontal(id="board-panels"):
            with Vertical(id="board-left"):
                yield self.endpoints
                yield self.endpoint
            with Vertical(id="board-right"):
                yield self.credits
                yield self.limits
                yield self.changes
        yield OneLine(id="board-recording")

    def compose_bars(self) -> ComposeResult:
        """The prompts for a moment and for a model."""
        yield Prompt("@", _JUMP_HINT, id="board-jump")
        yield Prompt("+", "model to watch: author/slug", id="board-watch")

    def feeds(self, hub: FeedHub) -> Sequence[FeedUse]:
        """The feeds of all panels."""
        return live_feeds(hub, self._models, lambda _state: self.look())

    def deciding_state(self) -> FeedState[Any] | None:
        """A board without any data is replaced; otherwise each panel reports missing data."""
        if self.known is not None and self.known.span is not None:
            return None
        known = (state for state in self.states if state.fetched_at is not None)
        return next(known, super().deciding_state())

    def notice(self) -> Content | None:
        """The moment of the time cursor, to make clear that the board shows the past."""
        return None if self.cursor is None else cursor_line(self.cursor, self.now)

    def status_parts(self) -> Sequence[Content]:
        """The request rate, and the error of the history."""
        problem = [toned(safe_text(self.problem, 120), "bad")] if self.problem else []
        return problem if self.budget is None else [*problem, self.budget]

    def focus_body(self) -> None:
        """Focus the table of the visible page."""
        tables = (self.endpoints.table, self.limits.table, self.changes.lines)
        self.set_focus(tables[0 if self.is_wall else self.page])

    def go_back(self) -> bool:
        """Return to live."""
        was_live = self.cursor is None
        self.show_moment(None)
        return not was_live

    def tick(self, _now: datetime) -> None:
        """Update ages and countdowns, and query the history, which other processes may write."""
        elapsed = self.gwtui.clock.monotonic()
        is_due = elapsed - self._looked_at >= _LOOK_EVERY
        if is_due:
            self._looked_at = elapsed
            self.budget = None
            self.look()
            self.endpoints.table.tick()
            self.limits.table.tick()
        if not self.is_asking and (is_due or self.past is None):
            self.ask()

    # How it stands ----------------------------------------------------------------------------

    @property
    def view(self) -> BoardView:
        """The moment and the span of the board."""
        return BoardView(self.cursor or self.now, self.span, self.cursor is not None)

    @property
    def recorder(self) -> Recorder | None:
        """The recorder of this connection, if any."""
        session = self.gwtui.session
        return None if session is None else session.recorder

    @property
    def known(self) -> RecordingState | None:
        """The state of the recording; None before the history has answered."""
        return None if self.past is None else self.past.recording

    @property
    def _models(self) -> Sequence[str]:
        return () if self.known is None else self.known.models

    @property
    def is_asking(self) -> bool:
        """Whether the history has not answered yet."""
        return self._asking is not None and not self._asking.is_finished

    @property
    def is_wall(self) -> bool:
        """Whether all panels fit at once."""
        return self.app.size.width >= WALL[0] and self.app.size.height >= WALL[1]

    # Showing ----------------------------------------------------------------------------------

    def fold(self) -> None:
        """Show the panels that fit."""
        wall = self.is_wall
        self.set_class(wall, "-wall")
        self.set_class(self.app.size.height >= TALL, "-tall")
        for number, style in enumerate(PAGES):
            self.set_class(not wall and number == self.page, style)
        self.call_after_refresh(self.look)

    def look(self) -> None:
        """Redraw all panels."""
        if not self.is_open:
            return
        state = BoardState(self.view, self._snapshot(), self.past)
        # Until the history has said what there was, a step of the cursor must not blank the board.
        if self.cursor in (None, self._past_of) or self.problem:
            for panel in (self.credits, self.endpoints, self.endpoint, self.limits, self.changes):
                panel.show(state)
        if self.focused is None and self.is_current:  # the list was empty before
            self.focus_body()
        self.show_pages()
        summary = guarded("summary of the board", self.credits.summary, toned(BROKEN, "bad"))
        self.query_one("#board-summary", OneLine).show(Content.assemble(" ", summary(state)))
        session = self.gwtui.session
        if session is not None:
            alerts = alerts_part(session.hub, live=self.cursor is None)
            line = self.query_one("#board-alerts", OneLine)
            line.display = alerts is not None
            line.show(alerts or Content(""))
            if self.budget is None and session.gateway.traffic.recent().requests:
                self.budget = requests_part(session)
            recording = recording_line(session.history, self.known)
            self.query_one("#board-recording", OneLine).show(Content.assemble(" ", recording))

    def show_pages(self) -> None:
        """Show which pages and plots are hidden."""
        hidden, folded = self.endpoint.hidden, not self.is_wall
        line = pages_line(self.page, self.span.name, hidden, folded=folded)
        self.query_one("#board-pages", OneLine).show(line)

    def _snapshot(self) -> BoardSnapshot:
        session = self.gwtui.session
        live = BoardSnapshot() if session is None else live_snapshot(session.hub, self._models)
        past = BoardSnapshot() if self.past is None else self.past.snapshot
        if self.cursor is None:
            return newest(live, past)
        return replace(past, keys=live.keys, workspaces=live.workspaces)

    # The history ------------------------------------------------------------------------------

    def ask(self) -> None:
        """Query the history; replaces a running query."""
        if self.is_open and self.recorder is not None:
            ask = partial(self._ask, self.recorder)
            self._asking = self.run_worker(ask, group="history", exclusive=True)

    async def _ask(self, recorder: Recorder) -> None:
        view, line = self.view, self.endpoints.selected
        endpoint = None if line is None or line.row is None else line.identity
        try:
            past = await recorder.archive.read(partial(board_past, view, endpoint))
        except HistoryError as error:
            self.problem = str(error)
            return
        models, self.past, self.problem = self._models, past, past.problem
        self._past_of = view.now if view.past else None
        if models != self._models:
            self.refeed()
        self.look()

    # What actions do --------------------------------------------------------------------------

    def next_page(self) -> None:
        """Show the next page."""
        self.page = (self.page + 1) % len(PAGES)
        self.fold()
        self.focus_body()

    def next_order(self) -> None:
        """Sort the endpoints by model or by status."""
        self.gwtui.say(f"Endpoints {self.endpoints.next_order()}")

    def next_measure(self) -> None:
        """Show the next plot of the endpoint, on its page."""
        if not self.is_wall and self.page:
            self.page = 0
            self.fold()
            self.focus_body()
        self.endpoint.next_measure()
        self.show_pages()

    def zoom(self, by: int) -> None:
        """Change the span: 1 is longer, -1 shorter."""
        place = min(len(SPANS) - 1, max(0, SPANS.index(self.span) + by))
        if SPANS[place] != self.span:
            self.span = SPANS[place]
            self.fold()
            self.ask()

    def step(self, by: int, *, leap: bool = False) -> None:
        """Move the time cursor."""
        moment = moved(self.cursor, by, self.span, self.now, leap=leap)
        self.show_moment(within(moment, self.now, self._begin))

    def show_moment(self, moment: datetime | None) -> None:
        """Move the time cursor; None is live."""
        if moment == self.cursor:
            return
        self.cursor = moment
        self.set_class(moment is not None, "-past")
        self.refresh_frame()
        self.look()
        self.ask()

    @property
    def _begin(self) -> datetime | None:
        span = None if self.known is None else self.known.span
        return None if span is None else span[0]

    # Messages ---------------------------------------------------------------------------------

    def on_mount(self) -> None:
        """Show the first page."""
        self.fold()

    def on_resize(self, _event: events.Resize) -> None:
        """Hide the panels that do not fit."""
        if self.is_mounted:
            self.fold()

    @on(Prompt.Entered, "#board-jump")
    def _jump(self, event: Prompt.Entered) -> None:
        if not event.text:
            self.focus_body()
            return
        try:
            moment = times.parse_past(event.text, self.now)
        except ValueError as error:
            self.gwtui.say(f"Invalid time: {error}", severity="warning")
            event.prompt.open(event.text)
            return
        self.focus_body()
        if self._begin is not None and moment < self._begin:
            self.gwtui.say(f"The recording begins at {times.utc(self._begin)}")
        self.show_moment(within(moment, self.now, self._begin))

    @on(Prompt.Entered, "#board-watch")
    async def _watch(self, event: Prompt.Entered) -> None:
        self.focus_body()
        if event.text:
            await watch_model(self.gwtui, event.text)
            self.ask()

    @on(Highlighted, "#board-table")
    def _selected(self) -> None:
        self.endpoint.on_resize()
        self.ask()
