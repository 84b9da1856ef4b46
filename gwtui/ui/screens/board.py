"""The board: credits, watched endpoints, limits and changes.

Curves and figures are live, or those of the recorded moment that the time cursor is at.
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
from gwtui.domain.safe_text import safe_text
from gwtui.local.caught_errors import BROKEN, guarded
from gwtui.ui.board.endpoints import TALL, EndpointsPanel
from gwtui.ui.board.panels import ChangesPanel, CreditsPanel, LimitsPanel
from gwtui.ui.board.selected_endpoint import EndpointPanel
from gwtui.ui.board.state import (
    BoardPast,
    BoardState,
    BoardView,
    board_past,
    live_feeds,
    live_snapshot,
    moved,
    within,
)
from gwtui.ui.board.status_lines import alerts_part, cursor_line, recording_line, requests_part
from gwtui.ui.board.watching import watch_model
from gwtui.ui.screens.base import TableScreen
from gwtui.ui.subscriptions import FeedUse
from gwtui.ui.text import choice_line, toned
from gwtui.ui.widgets.lines import OneLine
from gwtui.ui.widgets.plot import SPANS
from gwtui.ui.widgets.prompt import Prompt
from gwtui.ui.widgets.table import ResourceTable
from gwtui.watch.board import BoardSnapshot, RecordingState, newest
from gwtui.watch.feed import FeedState
from gwtui.watch.history.model import HistoryError

if TYPE_CHECKING:
    from gwtui.watch.history.recorder import Recorder
    from gwtui.watch.hub import FeedHub


WALL = (160, 44)
"""From this size on everything is shown at once."""
_JUMP_HINT = "moment, UTC: 2026-11-20 18:00, yesterday 18:00, 3h ago, last friday"
_ASK_EVERY = 20.0
"""Seconds between two rounds of questions while nothing else asks for one."""
_ASK_SOON = 1.0
"""The same when something new was recorded."""
_LOOK_EVERY = 10.0
"""Seconds between two looks at what only the time changes."""


PAGES = {"-endpoints": "Endpoints", "-account": "Credits, limits", "-changes": "Changes"}
"""Titles by the class that the screen has while a page is shown."""


def pages_line(page: int, span: str, hidden: Sequence[str], *, folded: bool) -> Content:
    """Which part is shown, which are hidden, how far back plots reach, which plots are hidden."""
    reach = Content.assemble(toned("   + - ", "accent"), toned(f"last {span}", "plain"))
    if hidden and (not folded or page == 0):
        reach = Content.assemble(
            reach, toned("   m ", "accent"), toned(f"{', '.join(hidden)}", "muted")
        )
    if not folded:
        return Content.assemble(toned(" Everything", "muted"), reach)
    titles = tuple(PAGES.values())
    return choice_line("", titles, titles[page], Content.assemble(toned("  p", "accent"), reach))


class BoardScreen(TableScreen):
    """Gives every panel what is known, now or at the moment of the time cursor."""

    opens = "board.open"
    ticks_unfocused = True

    def __init__(self) -> None:
        super().__init__("board", title="Board", extra_scopes=(COPY,))
        self.cursor: datetime | None = None
        """The moment whose curves and figures are shown; None is live."""
        self.page = 0
        self.span = SPANS[0]
        self.past: BoardPast | None = None
        """What the history answered last."""
        self._past_of: datetime | None = None
        """Where the cursor was when it was asked for that."""
        self.problem = ""
        """Why the history gave no answer, for a person; empty while it did."""
        self.budget: Content | None = None
        """What goes out, said anew only now and then: it never rests."""
        self._asking: Worker[None] | None = None
        self._asked_at = self._looked_at = 0.0
        self._asked_of: object = None
        """What the recorder had written then."""
        self.credits = CreditsPanel()
        self.endpoints = EndpointsPanel(lambda: self.view.now)
        self.table = self.endpoints.table
        self.endpoint = EndpointPanel(lambda: self.endpoints.selected)
        self.limits = LimitsPanel(lambda: self.now)
        self.changes = ChangesPanel()

    # Hooks of the frame -----------------------------------------------------------------------

    def compose_body(self) -> ComposeResult:
        """The summary, the pages, the panels, who records."""
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
        """Where a moment or a model is typed."""
        yield Prompt("@", _JUMP_HINT, id="board-jump")
        yield Prompt("+", "model to watch: author/slug", id="board-watch")

    def feeds(self, hub: FeedHub) -> Sequence[FeedUse]:
        """Everything that is shown."""
        return live_feeds(hub, self._models, lambda _state: self.look())

    def deciding_state(self) -> FeedState[Any] | None:
        """Only a board that knows nothing at all gives way: its panels say what they lack."""
        if self.known is not None and self.known.span is not None:
            return None
        known = (state for state in self.states if state.fetched_at is not None)
        return next(known, super().deciding_state())

    def notice(self) -> Content | None:
        """The moment of the cursor, so that nobody takes the past for the present."""
        return None if self.cursor is None else cursor_line(self.cursor, self.now)

    def status_parts(self) -> Sequence[Content]:
        """What goes out, and why the history gave no answer."""
        problem = [toned(safe_text(self.problem, 120), "bad")] if self.problem else []
        return problem if self.budget is None else [*problem, self.budget]

    def focus_body(self) -> None:
        """What has rows on the shown page."""
        tables = (self.endpoints.table, self.limits.table, self.changes.lines)
        self.set_focus(tables[0 if self.is_wall else self.page])

    def go_back(self) -> bool:
        """Be live again."""
        was_live = self.cursor is None
        self.show_moment(None)
        return not was_live

    def tick(self, _now: datetime) -> None:
        """Ages and times to reset; now and then the history, which others may write."""
        elapsed = self.gwtui.clock.monotonic()
        if elapsed - self._looked_at >= _LOOK_EVERY:
            self._looked_at = elapsed
            self.budget = None
            self.look()
            self.endpoints.table.tick()
            self.limits.table.tick()
        patience = _ASK_EVERY if self._asked_of == _written(self.recorder) else _ASK_SOON
        if not self.is_asking and (self.past is None or elapsed - self._asked_at >= patience):
            self.ask()

    # How it stands ----------------------------------------------------------------------------

    @property
    def view(self) -> BoardView:
        """How it is looked at."""
        return BoardView(self.cursor or self.now, self.span, self.cursor is not None)

    @property
    def recorder(self) -> Recorder | None:
        """Who records for this connection; None while there is none."""
        session = self.gwtui.session
        return None if session is None else session.recorder

    @property
    def known(self) -> RecordingState | None:
        """What is known of the recording."""
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
        """Whether there is room for everything at once."""
        return self.app.size.width >= WALL[0] and self.app.size.height >= WALL[1]

    # Showing ----------------------------------------------------------------------------------

    def fold(self) -> None:
        """Show as many panels as the screen has room for."""
        wall = self.is_wall
        self.set_class(wall, "-wall")
        self.set_class(self.app.size.height >= TALL, "-tall")
        for number, style in enumerate(PAGES):
            self.set_class(not wall and number == self.page, style)
        self.call_after_refresh(self.look)

    def look(self) -> None:
        """Show what is known now."""
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
        """Say what is folded away."""
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
        """Ask the history again, instead of what was asked before."""
        if self.is_open and self.recorder is not None:
            ask = partial(self._ask, self.recorder)
            self._asking = self.run_worker(ask, group="history", exclusive=True)

    async def _ask(self, recorder: Recorder) -> None:
        self._asked_at = self.gwtui.clock.monotonic()
        self._asked_of = _written(recorder)
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
        """Show the next part."""
        self.page = (self.page + 1) % len(PAGES)
        self.fold()
        self.focus_body()

    def next_order(self) -> None:
        """Order the endpoints by model, or the worst first."""
        self.gwtui.say(f"Endpoints {self.endpoints.next_order()}")

    def next_measure(self) -> None:
        """Draw the next figure of the endpoint, on the page that shows it."""
        if not self.is_wall and self.page:
            self.page = 0
            self.fold()
            self.focus_body()
        self.endpoint.next_measure()
        self.show_pages()

    def zoom(self, by: int) -> None:
        """Another span: 1 is longer."""
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
        """Put the time cursor there; None is live."""
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
        """The first page."""
        self.fold()

    def on_resize(self, _event: events.Resize) -> None:
        """Fold what has no room."""
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

    @on(ResourceTable.Highlighted, "#board-table")
    def _selected(self) -> None:
        self.endpoint.on_resize()
        self.ask()


def _written(recorder: Recorder | None) -> object:
    """What was recorded, to be compared: there is something to ask for when it is another."""
    status = None if recorder is None else recorder.status
    return None if status is None else (status.written_at, status.models)
