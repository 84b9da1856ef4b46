"""The board: credits, watched endpoints, limits and changes.

Curves and figures are live, or those of the recorded moment that the time cursor is at.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

from textual import events, on
from textual.app import ComposeResult
from textual.containers import Horizontal, Vertical
from textual.content import Content

from gwtui.crud.action import COPY
from gwtui.domain import times
from gwtui.domain.safe_text import safe_text
from gwtui.local.caught_errors import BROKEN, guarded
from gwtui.resources.actions import by_id
from gwtui.ui.board.endpoints import EndpointsPanel
from gwtui.ui.board.panels import (
    BoardView,
    ChangesPanel,
    CreditsPanel,
    LimitsPanel,
    MachineZone,
    Panel,
)
from gwtui.ui.board.selected_endpoint import EndpointPanel
from gwtui.ui.board.sources import (
    Answers,
    LiveReadings,
    answers,
    moved,
    watch_model,
    within,
    written,
)
from gwtui.ui.board.status_lines import alerts_part, cursor_line, recording_line, requests_part
from gwtui.ui.screens.base import GatewayScreen
from gwtui.ui.subscriptions import FeedUse
from gwtui.ui.text import toned
from gwtui.ui.widgets.lines import OneLine
from gwtui.ui.widgets.plot import SPANS
from gwtui.ui.widgets.prompt import Prompt
from gwtui.ui.widgets.table import Opened, ResourceTable
from gwtui.watch.board import BoardSnapshot, newest
from gwtui.watch.feed import FeedState
from gwtui.watch.history.model import HistoryError
from gwtui.watch.history.queries import RecordingState

if TYPE_CHECKING:
    from gwtui.watch.history.recorder import Recorder
    from gwtui.watch.hub import FeedHub


WALL = (160, 44)
"""From this size on everything is shown at once."""
_JUMP_HINT = "moment, UTC: 2026-11-20 18:00, yesterday 18:00, 3h ago, last friday"
_TALL = 34
_ASK_EVERY = 20.0
"""Seconds between two rounds of questions while nothing else asks for one."""
_ASK_SOON = 1.0
"""The same when something new was recorded."""
_LOOK_EVERY = 10.0
"""Seconds between two looks at what only the time changes."""


class Page(NamedTuple):
    """A part: the class that the screen has while it is shown, and its title."""

    style: str
    title: str


PAGES = (
    Page("-endpoints", "Endpoints"),
    Page("-account", "Credits, limits"),
    Page("-changes", "Changes"),
)


def pages_line(page: int, span: str, hidden: Sequence[str], *, folded: bool) -> Content:
    """Which part is shown, which are hidden, how far back plots reach, which plots are hidden."""
    reach = Content.assemble(toned("   + - ", "accent"), toned(f"last {span}", "plain"))
    if hidden and (not folded or page == 0):
        reach = Content.assemble(
            reach, toned("   m ", "accent"), toned(f"{', '.join(hidden)}", "muted")
        )
    if not folded:
        return Content.assemble(toned(" Everything", "muted"), reach)
    titles = Content("  ").join(
        toned(f"[{one.title}]", "accent", bold=True)
        if number == page
        else toned(one.title, "muted")
        for number, one in enumerate(PAGES)
    )
    return Content.assemble(" ", titles, toned("  p", "accent"), reach)


class BoardScreen(GatewayScreen):
    """Gives every panel what is known, now or at the moment of the time cursor."""

    ticks_unfocused = True

    def __init__(self) -> None:
        super().__init__("board", title="Board", extra_scopes=(COPY,))
        self.cursor: datetime | None = None
        """The moment whose curves and figures are shown; None is live."""
        self.page = 0
        self.span = SPANS[0]
        self.local = False
        """Whether moments are shown in this machine's own time."""
        self.known: RecordingState | None = None
        """What is known of the recording."""
        self.problem = ""
        """Why the history gave no answer, for a person; empty while it did."""
        self.budget: Content | None = None
        """What goes out, said anew only now and then: it never rests."""
        self._live: LiveReadings | None = None
        self._recorded = BoardSnapshot()
        self._recorded_for: datetime | None = None
        """Where the cursor was when it was asked for."""
        self._asking = self._asks_again = False
        self._asked_at = self._looked_at = 0.0
        self._asked_of: object = None
        """What the recorder had written then."""
        self.credits = CreditsPanel()
        self.endpoints = EndpointsPanel(lambda: self.view.now)
        self.endpoint = EndpointPanel()
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
        self._live = LiveReadings(hub, () if self.known is None else self.known.models)
        return self._live.uses(lambda _state: self.look())

    def deciding_state(self) -> FeedState[Any] | None:
        """Only a board that knows nothing at all gives way: its panels say what they lack."""
        if self.known is not None and self.known.span is not None:
            return None
        known = (state for state in self.states if state.fetched_at is not None)
        return next(known, super().deciding_state())

    def notice(self) -> Content | None:
        """The moment of the cursor, so that nobody takes the past for the present."""
        return None if self.cursor is None else cursor_line(self.cursor, self.now, self.view.zone)

    def status_parts(self) -> Sequence[Content]:
        """What goes out, and why the history gave no answer."""
        problem = [toned(safe_text(self.problem, 120), "bad")] if self.problem else []
        return problem if self.budget is None else [*problem, self.budget]

    def target(self) -> Any | None:
        """The selected endpoint."""
        return self.endpoints.selected

    def identity(self) -> str | None:
        """Its identity in the history."""
        return self.endpoints.table.selected_identity

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
            self.endpoints.tick()
            self.limits.tick()
        patience = _ASK_EVERY if self._asked_of == written(self.recorder) else _ASK_SOON
        if self.known is None or elapsed - self._asked_at >= patience:
            self.ask()

    # How it stands ----------------------------------------------------------------------------

    @property
    def view(self) -> BoardView:
        """How it is looked at."""
        zone = (self.gwtui.local_zone or MachineZone()) if self.local else None
        return BoardView(self.cursor or self.now, self.span, self.cursor is not None, zone)

    @property
    def recorder(self) -> Recorder | None:
        """Who records for this connection; None while there is none."""
        session = self.gwtui.session
        history = None if session is None else session.history
        return None if history is None else history.recorder

    @property
    def at_rest(self) -> bool:
        """Whether the history has answered all that was asked of it."""
        return not self._asking and (self.known is not None or self.recorder is None)

    @property
    def is_wall(self) -> bool:
        """Whether there is room for everything at once."""
        return self.app.size.width >= WALL[0] and self.app.size.height >= WALL[1]

    @property
    def _panels(self) -> tuple[Panel, ...]:
        return (self.credits, self.endpoints, self.endpoint, self.limits, self.changes)

    @property
    def _is_ready(self) -> bool:
        return self.is_open and all(panel.is_mounted for panel in self._panels)

    # Showing ----------------------------------------------------------------------------------

    def fold(self) -> None:
        """Show as many panels as the screen has room for."""
        if not self.is_mounted:
            return
        wall = self.is_wall
        self.set_class(wall, "-wall")
        self.set_class(self.app.size.height >= _TALL, "-tall")
        for number, page in enumerate(PAGES):
            self.set_class(not wall and number == self.page, page.style)
        if self._is_ready:
            self._fit()
        self.call_after_refresh(self.show_pages)

    def _fit(self) -> None:
        self.endpoints.fit(tall=self.app.size.height >= _TALL)

    def show_pages(self) -> None:
        """Say what is folded away."""
        hidden, folded = self.endpoint.hidden, not self.is_wall
        line = pages_line(self.page, self.span.name, hidden, folded=folded)
        self.query_one("#board-pages", OneLine).show(line)

    def look(self) -> None:
        """Show what is known now."""
        if not self._is_ready:
            return
        view = self.view
        # Until the history has said what there was, a step of the cursor must not blank the board.
        if self.cursor in (None, self._recorded_for) or self.problem:
            snapshot = self._snapshot()
            for panel in self._panels:
                panel.attempt(panel.show_snapshot, snapshot, view)
        if self.focused is None and self.is_current:  # the list was empty before
            self.focus_body()
        self.endpoint.attempt(self.endpoint.select, self.endpoints.selected, view)
        self._fit()
        self.show_pages()
        summary = guarded("summary of the board", self.credits.summary, toned(BROKEN, "bad"))
        self.query_one("#board-summary", OneLine).show(Content.assemble(" ", summary(view)))
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

    def _snapshot(self) -> BoardSnapshot:
        live = BoardSnapshot() if self._live is None else self._live.snapshot()
        if self.cursor is None:
            return newest(live, self._recorded)
        return replace(self._recorded, keys=live.keys, workspaces=live.workspaces)

    # The history ------------------------------------------------------------------------------

    def ask(self) -> None:
        """Ask the history again; during a round of questions: once more after it."""
        if self.is_open and self.gwtui.session is not None:
            self._asks_again = True
            if not self._asking:
                self._asking = True
                self.run_worker(self._ask())

    async def _ask(self) -> None:
        try:
            while self._asks_again:
                self._asks_again = False
                await self._ask_once()
        finally:
            self._asking = False

    async def _ask_once(self) -> None:
        recorder = self.recorder
        self._asked_at = self.gwtui.clock.monotonic()
        if recorder is None or not self._is_ready:
            return
        self._asked_of = written(recorder)
        view = self.view
        questions = [panel.question(view) for panel in self._panels]
        try:
            found = await recorder.archive.read(partial(answers, view.now, questions))
        except HistoryError as error:
            self.problem = str(error)
            return
        self.problem = found.problem
        if self._is_ready:
            self._take(view, found)

    def _take(self, view: BoardView, found: Answers) -> None:
        before, self.known = self.known, found.known
        moment = view.now if view.past else None
        if self.cursor == moment:  # else another round follows
            self._recorded, self._recorded_for = found.recorded, moment
            for panel, answer in zip(self._panels, found.of_panels, strict=True):
                panel.attempt(panel.answer, answer, view)
        if before is None or before.models != found.known.models:
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

    def switch_zone(self) -> None:
        """UTC, or this machine's own time."""
        self.local = not self.local
        self.refresh_frame()
        self.ask()

    @property
    def _begin(self) -> datetime | None:
        span = None if self.known is None else self.known.span
        return None if span is None else span[0]

    # Messages ---------------------------------------------------------------------------------

    def on_mount(self) -> None:
        """The first page."""
        self.fold()
        self.call_after_refresh(self.look)

    def on_resize(self, _event: events.Resize) -> None:
        """Fold what has no room."""
        self.fold()

    @on(Prompt.Entered, "#board-jump")
    def _jump(self, event: Prompt.Entered) -> None:
        if not event.text:
            self.focus_body()
            return
        try:
            moment = times.parse_past(event.text, self.now)
        except ValueError as error:
            self.gwtui.say(f"No moment: {error}", severity="warning")
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
        self.endpoint.select(self.endpoints.selected, self.view)
        self.ask()

    @on(Opened, "#board-table")
    async def _opened(self, event: Opened) -> None:
        event.stop()
        context = self.capture()
        if context.identity == event.identity:
            await self.gwtui.perform(by_id("board.open"), context)
