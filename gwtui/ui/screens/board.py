"""The board: credits, watched endpoints, limits and changes on one screen.

Without a time cursor everything is live; with one, plots and figures show the recorded past.
"""

from __future__ import annotations

from collections.abc import Sequence
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
from gwtui.domain import times
from gwtui.domain.safe_text import safe_line, safe_text
from gwtui.local.caught_errors import BROKEN, guarded
from gwtui.resources.alerts import alerts_line
from gwtui.ui.commands import key_of, with_keys
from gwtui.ui.screens.base import TableScreen
from gwtui.ui.screens.board_endpoints import TALL, EndpointPanel, EndpointsPanel
from gwtui.ui.screens.board_panels import (
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
from gwtui.ui.subscriptions import FeedUse
from gwtui.ui.text import choice_line, toned
from gwtui.ui.widgets.lines import OneLine
from gwtui.ui.widgets.plot import SPANS
from gwtui.ui.widgets.prompt import Prompt
from gwtui.ui.widgets.table import Highlighted
from gwtui.watch.board import BoardSnapshot, RecordingState, newest
from gwtui.watch.feed import FeedState
from gwtui.watch.feeds.alerts import alerts_feed
from gwtui.watch.history.model import HistoryError

if TYPE_CHECKING:
    from gwtui.ui.app import GwtuiApp
    from gwtui.watch.history.recorder import Recorder
    from gwtui.watch.hub import FeedHub


_LONG = 160


def cursor_line(cursor: datetime, now: datetime) -> Content:
    """Return the banner that shows the time cursor and the keys to move it."""
    ago = times.relative(cursor, now)
    keys = "{board.live} live · {board.earlier} back · {board.later} forward · {board.jump} jump"
    return Content(f" AS OF {times.utc(cursor, seconds=True)}, {ago} · {with_keys(keys)}")


def alerts_part(hub: FeedHub, *, live: bool) -> Content | None:
    """Return the active alerts as one text; None without any.

    If ``live`` is False, the board shows the past, and the text says that the alerts are live.
    """
    cell = alerts_line(alerts_feed(hub).state.value or ())
    return None if cell is None else toned(f" ! {'' if live else 'now: '}{cell.text}", cell.tone)


def recording_line(recorder: Recorder | None, known: RecordingState | None) -> Content:
    """Return a line on who records the history, or why nobody does, and on errors of its file.

    ``known`` is the state of the recording according to the history; None if not read yet.
    """
    if recorder is None or (not recorder.open_archive and not recorder.status.error):
        return toned("History not open", "muted")
    status = recorder.status
    if not recorder.open_archive:
        return toned(f"Not recording: {safe_text(status.error, _LONG)}", "bad")
    parts = [_recorded_by(recording=status.recording, known=known)]
    if status.error is not None:
        parts.append(toned(safe_text(status.error, _LONG), "bad"))
    if status.notice:
        parts.append(toned(safe_text(status.notice, _LONG), "warn"))
    if known is not None and known.span is not None:
        parts.append(toned(f"oldest sample {times.utc(known.span[0])}", "muted"))
    return Content(" · ").join(parts)


def _recorded_by(*, recording: bool, known: RecordingState | None) -> Content:
    if recording:
        return toned("Recorded on this machine", "good")
    if known is None or known.process is None:
        return toned("Not recording yet", "warn")
    return toned(f"Recorded by another gwtui (process {known.process})", "plain")


async def watch_model(app: GwtuiApp, model: str, *, watched: bool = True) -> None:
    """Start (``watched``) or stop recording the endpoints of a model, and report the result."""
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
    """Return the recorder of the session, which stores the watched models.

    If there is none, show a warning that says why, and return None.
    """
    session = app.session
    recorder = None if session is None else session.recorder
    if recorder is None:
        why = "there is no connection yet" if session is None else ""
        if session is not None and session.history is not None:
            why = session.history.status.error or ""
        app.say(f"No model can be watched: {why or 'the history is not open'}", severity="warning")
    return recorder


WALL = (160, 44)
"""Terminal size, in columns and lines, from which all panels are visible at once."""
_JUMP_HINT = "moment, UTC: 2026-11-20 18:00, yesterday 18:00, 3h ago, last friday"
_LOOK_EVERY = 10.0
"""Seconds between two history queries, and between two updates of ages and countdowns."""


PAGES = {"-endpoints": "Endpoints", "-account": "Credits, limits", "-changes": "Changes"}
"""Page titles by the CSS class that shows the page."""


def pages_line(page: int, span: str, hidden: Sequence[str], *, folded: bool) -> Content:
    """Return the line with the titles of the pages, the time span, and the names of hidden plots.

    ``page`` is the index of the visible page. ``folded`` is False if all panels fit at once.
    """
    reach = toned(f"   last {span}", "plain")
    if hidden and (not folded or page == 0):
        reach = Content.assemble(
            reach,
            toned(f"   {key_of('board.measure')} ", "accent"),
            toned(f"shows {', '.join(hidden)}", "muted"),
        )
    if not folded:
        return Content.assemble(toned(" All panels", "muted"), reach)
    titles = tuple(PAGES.values())
    return choice_line("", titles, titles[page], reach)


class BoardScreen(TableScreen):
    """The board: draws all panels, live or at the time cursor."""

    opens = "board.open"
    ticks_unfocused = True

    def __init__(self) -> None:
        super().__init__("board", title="Board", extra_scopes=(COPY,))
        self.cursor: datetime | None = None
        """The moment in the past that the board shows; None shows live data."""
        self.page = 0
        self.span = SPANS[0]
        self.past: BoardPast | None = None
        """The newest results of the history queries; None before the first ones."""
        self._past_of: datetime | None = None
        """The time cursor that ``past`` belongs to; None for live data."""
        self.problem = ""
        """Why the history could not be read; empty without an error."""
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
        yield Prompt("@", _JUMP_HINT, id="board-jump")

    def feeds(self, hub: FeedHub) -> Sequence[FeedUse]:
        return live_feeds(hub, self._models, lambda _state: self.draw_panels())

    def deciding_state(self) -> FeedState[Any] | None:
        """Return the state of a feed that has answered, or of the first one if none has.

        None if there is a recording, because each panel then reports missing data itself.
        """
        if self.recording is not None and self.recording.span is not None:
            return None
        answered = (state for state in self.states if state.fetched_at is not None)
        return next(answered, super().deciding_state())

    def notice(self) -> Content | None:
        """Return the banner with the time cursor, so that nobody takes the past for live data."""
        return None if self.cursor is None else cursor_line(self.cursor, self.now)

    def status_parts(self) -> Sequence[Content]:
        problem = [toned(safe_text(self.problem, 120), "bad")] if self.problem else []
        return (
            problem
            if self.cursor is None
            else [*problem, toned("limits and alerts stay live", "muted")]
        )

    def focus_body(self) -> None:
        tables = (self.endpoints.table, self.limits.table, self.changes.lines)
        self.set_focus(tables[0 if self.is_wall else self.page])

    def go_back(self) -> bool:
        """Return to live data; returns False if the board was live already."""
        was_live = self.cursor is None
        self.show_moment(None)
        return not was_live

    def tick(self, _now: datetime) -> None:
        """Query the history, and update ages and countdowns, every ten seconds.

        Other processes may write to the history at any time. Until the history has answered once,
        it is queried every second.
        """
        elapsed = self.gwtui.clock.monotonic()
        is_due = elapsed - self._looked_at >= _LOOK_EVERY
        if is_due:
            self._looked_at = elapsed
            self.draw_panels()
            self.endpoints.table.tick()
            self.limits.table.tick()
        if not self.is_querying and (is_due or self.past is None):
            self.query_history()

    # State ------------------------------------------------------------------------------------

    @property
    def view(self) -> BoardView:
        """The moment that the board shows, and its time span."""
        return BoardView(self.cursor or self.now, self.span, self.cursor is not None)

    @property
    def recorder(self) -> Recorder | None:
        """The recorder of this connection; None without a connection or a history."""
        session = self.gwtui.session
        return None if session is None else session.recorder

    @property
    def recording(self) -> RecordingState | None:
        """The state of the recording according to the history; None before it has answered."""
        return None if self.past is None else self.past.recording

    @property
    def _models(self) -> Sequence[str]:
        return () if self.recording is None else self.recording.models

    @property
    def is_querying(self) -> bool:
        """Whether a history query is running."""
        return self._asking is not None and not self._asking.is_finished

    @property
    def is_wall(self) -> bool:
        """Whether the terminal is large enough for all panels at once."""
        return self.app.size.width >= WALL[0] and self.app.size.height >= WALL[1]

    # Showing ----------------------------------------------------------------------------------

    def arrange_panels(self) -> None:
        """Show all panels if they fit, else those of the current page."""
        wall = self.is_wall
        self.set_class(wall, "-wall")
        self.set_class(self.app.size.height >= TALL, "-tall")
        for number, style in enumerate(PAGES):
            self.set_class(not wall and number == self.page, style)
        self.call_after_refresh(self.draw_panels)

    def draw_panels(self) -> None:
        """Redraw all panels, the summary, the alerts and the recording line."""
        if not self.is_open:
            return
        reading = self.recorder is not None and not self.problem
        state = BoardState(self.view, self._snapshot(), self.past, reading)
        # After a step of the cursor, the panels stay as they are until the history has answered.
        if self.cursor in (None, self._past_of) or self.problem:
            for panel in (self.credits, self.endpoints, self.endpoint, self.limits, self.changes):
                panel.show(state)
        if self.focused is None and self.is_current:  # the list may have been empty until now
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
            recording = recording_line(session.history, self.recording)
            self.query_one("#board-recording", OneLine).show(Content.assemble(" ", recording))

    def show_pages(self) -> None:
        """Update the line with the pages, the time span and the hidden plots."""
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

    def query_history(self) -> None:
        """Start to query the history, without waiting; a running query is cancelled."""
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
        if past.problem and self.past is not None:
            self.problem = past.problem
            return
        models, self.past, self.problem = self._models, past, past.problem
        self._past_of = view.now if view.past else None
        if models != self._models:
            self.refeed()
        self.draw_panels()

    # What actions do --------------------------------------------------------------------------

    def next_page(self) -> None:
        """Show the next page."""
        self.page = (self.page + 1) % len(PAGES)
        self.arrange_panels()
        self.focus_body()

    def switch_order(self) -> None:
        """Switch the endpoints between sorting by model and by status."""
        self.gwtui.say(f"Endpoints {self.endpoints.switch_order()}")

    def next_measure(self) -> None:
        """Show the next plot of the endpoint, on the page with the endpoints."""
        if not self.is_wall and self.page:
            self.page = 0
            self.arrange_panels()
            self.focus_body()
        self.endpoint.next_measure()
        self.show_pages()

    def zoom(self, by: int) -> None:
        """Show the next longer (1) or shorter (-1) time span."""
        place = min(len(SPANS) - 1, max(0, SPANS.index(self.span) + by))
        if SPANS[place] != self.span:
            self.span = SPANS[place]
            self.arrange_panels()
            self.query_history()

    def step(self, by: int) -> None:
        """Move the time cursor by ``by`` steps, negative for back."""
        moment = moved(self.cursor, by, self.span, self.now)
        self.show_moment(within(moment, self.now, self._begin))

    def show_moment(self, moment: datetime | None) -> None:
        """Set the time cursor; None returns to live data."""
        if moment == self.cursor:
            return
        self.cursor = moment
        self.set_class(moment is not None, "-past")
        self.refresh_frame()
        self.draw_panels()
        self.query_history()

    @property
    def _begin(self) -> datetime | None:
        span = None if self.recording is None else self.recording.span
        return None if span is None else span[0]

    # Messages ---------------------------------------------------------------------------------

    def on_mount(self) -> None:
        self.arrange_panels()

    def on_resize(self, _event: events.Resize) -> None:
        if self.is_mounted:
            self.arrange_panels()

    @on(Prompt.Entered, "#board-jump")
    def _jump(self, event: Prompt.Entered) -> None:
        if not event.text:
            self.focus_body()
            return
        try:
            moment = times.parse_moment(event.text, self.now, past=True)
        except ValueError as error:
            self.gwtui.say(f"Invalid time: {error}", severity="warning")
            event.prompt.open(event.text)
            return
        self.focus_body()
        if self._begin is not None and moment < self._begin:
            self.gwtui.say(f"The recording begins at {times.utc(self._begin)}")
        self.show_moment(within(moment, self.now, self._begin))

    @on(Highlighted, "#board-table")
    def _selected(self) -> None:
        self.endpoint.on_resize()
        self.query_history()
