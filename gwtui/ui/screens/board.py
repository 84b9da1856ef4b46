"""The board: credits, watched endpoints, limits and changes, live or as of a recorded moment.

``BoardBody`` lays the panels out and brings them what is known; ``BoardScreen`` adds what keys,
prompts and the mouse do.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from datetime import datetime
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
from gwtui.resources.alerts.resource import alerts_line
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
    HistoryQueries,
    HistoryQuery,
    LiveReadings,
    Replay,
    watch_model,
)
from gwtui.ui.board.status_lines import recording_line, requests_part
from gwtui.ui.screens.base import GatewayScreen
from gwtui.ui.subscriptions import FeedUse
from gwtui.ui.text import toned
from gwtui.ui.widgets.lines import OneLine
from gwtui.ui.widgets.plot import SPANS, PlotView
from gwtui.ui.widgets.prompt import JumpPrompt, TextPrompt, WatchPrompt
from gwtui.ui.widgets.table import Opened, ResourceTable
from gwtui.watch.board import BoardSnapshot, newest
from gwtui.watch.feed import FeedState
from gwtui.watch.feeds.alerts import alerts_feed
from gwtui.watch.history.model import RESOURCES, Resource
from gwtui.watch.history.queries import RecordingState

if TYPE_CHECKING:
    from gwtui.watch.history.recorder import Recorder
    from gwtui.watch.hub import FeedHub


WALL = (160, 44)
"""From this size on everything is shown at once."""
_TALL = 34
_ASK_EVERY = 20.0
"""Seconds between two rounds of questions while nothing else asks for one."""
_ASK_SOON = 5.0
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


class BoardBody(GatewayScreen):
    """Gives every panel what is known, now or at a recorded moment; a subclass adds the keys."""

    ticks_unfocused = True

    def __init__(self) -> None:
        super().__init__("board", title="Board", extra_scopes=(COPY,))
        self.replay = Replay()
        self.page = 0
        self.span = SPANS[0]
        self.local = False
        """Whether moments are shown in this machine's own time."""
        self.known: RecordingState | None = None
        """What is known of the recording."""
        self.budget: Content | None = None
        """What goes out, said anew only now and then: it never rests."""
        self._live = LiveReadings(self.look)
        self._past: BoardSnapshot | None = None
        self._asked_at = self._looked_at = 0.0
        self._written_at: datetime | None = None
        self._filled = 0
        self._queries = HistoryQueries(self._query, self._take, self.run_worker)
        self.credits = CreditsPanel()
        self.endpoints = EndpointsPanel(lambda: self.view.now)
        self.endpoint = EndpointPanel()
        self.limits = LimitsPanel(lambda: self.view.now)
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
        yield JumpPrompt(id="board-jump")
        yield WatchPrompt(id="board-watch")

    def feeds(self, hub: FeedHub) -> Sequence[FeedUse]:
        """Everything that is shown; nothing while the past is."""
        models = () if self.known is None else self.known.models
        return self._live.uses(hub, models) if self.replay.live else ()

    def deciding_state(self) -> FeedState[Any] | None:
        """Only a board that knows nothing at all gives way: its panels say what they lack."""
        if self.known is not None and self.known.span is not None:
            return None
        known = (state for state in self.states if state.fetched_at is not None)
        return next(known, super().deciding_state())

    def tick(self, _now: datetime) -> None:
        """Ages and times to reset; now and then the history, which others may write."""
        elapsed = self.gwtui.clock.monotonic()
        if elapsed - self._looked_at >= _LOOK_EVERY:
            self._looked_at = elapsed
            self.budget = None
            self.look()
            self.endpoints.tick()
            self.limits.tick()
        if self.known is None or elapsed - self._asked_at >= self._patience:
            self.ask()

    # How it stands ----------------------------------------------------------------------------

    @property
    def view(self) -> BoardView:
        """How it is looked at."""
        zone = (self.gwtui.local_zone or MachineZone()) if self.local else None
        moment = self.replay.moment
        return BoardView(moment or self.now, self.span, moment is not None, zone)

    @property
    def recorder(self) -> Recorder | None:
        """Who records for this connection; None while there is none."""
        session = self.gwtui.session
        history = None if session is None else session.history
        return None if history is None else history.recorder

    @property
    def at_rest(self) -> bool:
        """Whether the history has answered all that was asked of it."""
        return not self._queries.busy and (self.known is not None or self.recorder is None)

    @property
    def problem(self) -> str:
        """Why the history gave no answer, for a person; empty while it did."""
        return self._queries.problem

    @property
    def is_wall(self) -> bool:
        """Whether there is room for everything at once."""
        return self.app.size.width >= WALL[0] and self.app.size.height >= WALL[1]

    @property
    def _panels(self) -> tuple[Panel, ...]:
        return (self.credits, self.endpoints, self.endpoint, self.limits, self.changes)

    @property
    def _is_ready(self) -> bool:
        return self._is_whole and all(panel.is_mounted for panel in self._panels)

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
        if not self._is_reading:
            snapshot = self._snapshot()
            for panel in self._panels:
                panel.attempt(panel.show_snapshot, snapshot, view)
        if any(panel.wants for panel in self._panels):
            self.ask()
        if self.focused is None and self.is_current:  # the list was empty before
            self.focus_body()
        self.endpoint.attempt(self.endpoint.select, self.endpoints.selected, view)
        self._fit()
        self.show_pages()
        summary = guarded("summary of the board", self.credits.summary, toned(BROKEN, "bad"))
        self.query_one("#board-summary", OneLine).show(Content.assemble(" ", summary(view)))
        session = self.gwtui.session
        if session is not None:
            self._show_alerts(session.hub)
            if self.budget is None and session.gateway.traffic.recent().requests:
                self.budget = requests_part(session)
            line = recording_line(session.history, self.known, self.now)
            self.query_one("#board-recording", OneLine).show(Content.assemble(" ", line))

    def _show_alerts(self, hub: FeedHub) -> None:
        """Those of now, also in a replay. The app watches their feed as long as it is connected."""
        cell = alerts_line(alerts_feed(hub).state.value or ())
        line = self.query_one("#board-alerts", OneLine)
        line.display = cell is not None
        if cell is not None:
            when = "" if self.replay.live else "now: "
            line.show(toned(f" ! {when}{cell.text}", cell.tone))

    def _snapshot(self) -> BoardSnapshot:
        if not self.replay.live:
            return self._past or BoardSnapshot()
        if not self._needed:
            self.forget_past()
        live = self._live.snapshot()
        return live if self._past is None else newest(live, self._past)

    @property
    def _is_reading(self) -> bool:
        """Whether the history is about to say what there was: a step must not blank the board."""
        return not self.replay.live and self._past is None and not self.problem

    def forget_past(self) -> None:
        """Keep nothing of what was recorded as of a moment; of a large account it is megabytes."""
        self._past = None

    def on_screen_resume(self) -> None:
        """Ask for what was forgotten while it was not shown."""
        if self._past is None and self._needed:
            self.ask()

    def on_screen_suspend(self) -> None:
        """Forget what is asked for again when it is shown: what was recorded up to the present."""
        if self.replay.live and self._past is not None and not self._is_here:
            self.forget_past()
            for panel in self._panels if self._is_ready else ():
                panel.attempt(panel.show_snapshot, self._live.snapshot(), self.view)

    @property
    def _is_here(self) -> bool:
        """Whether it is shown, perhaps beneath a dialog."""
        return self in self.app.screen_stack

    # The history ------------------------------------------------------------------------------

    def ask(self) -> None:
        """Ask the history again."""
        if self._is_whole and self.gwtui.session is not None:
            self._queries.soon()

    def _query(self) -> HistoryQuery | None:
        self._asked_at = self.gwtui.clock.monotonic()
        recorder = self.recorder
        if recorder is None or not self._is_ready:
            return None
        self._written_at = recorder.status.written_at
        self._filled = recorder.status.filled
        view = self.view
        questions = [panel.question(view) for panel in self._panels]
        return HistoryQuery(recorder.archive, view, questions, self._needed)

    def _take(self, answers: Answers) -> None:
        if not self._is_ready:
            return
        before, self.known = self.known, answers.known
        view = answers.view
        if self.replay.moment == (view.now if view.past else None):  # else another round follows
            self._past = answers.past if view.past or self._is_here else None
            for panel, found in zip(self._panels, answers.found, strict=True):
                panel.attempt(panel.answer, found, view)
        if before is None or before.models != answers.known.models:
            self.refeed()
        self.look()

    @property
    def _needed(self) -> Collection[Resource]:
        """Of what the history says more than the feeds of this instance."""
        session, recorder = self.gwtui.session, self.recorder
        if not self.replay.live or session is None or recorder is None:
            return RESOURCES
        if session.hub.paused and not recorder.status.recording:
            return RESOURCES
        return self._live.unread

    @property
    def _patience(self) -> float:
        """Seconds between two rounds: fewer when this instance wrote something that is shown."""
        recorder = self.recorder
        if recorder is None or self.known is None or not self.replay.live:
            return _ASK_EVERY
        status = recorder.status
        if status.filled != self._filled:
            return 0.0
        if status.recording and status.models != self.known.models:
            return 0.0
        return _ASK_EVERY if status.written_at == self._written_at else _ASK_SOON


class BoardScreen(BoardBody):
    """What keys, prompts and the mouse do on the board."""

    # Hooks of the frame -----------------------------------------------------------------------

    def notice(self) -> Content | None:
        """What is replayed, so that nobody takes the past for the present."""
        moment = self.replay.moment
        if moment is None:
            return None
        zone = self.view.zone
        shown = (
            times.utc(moment, seconds=True) if zone is None else times.local_preview(moment, zone)
        )
        ago = times.relative(moment, self.now)
        return Content(f" REPLAY {shown}, {ago} · L live again · , . step · @ jump")

    def status_parts(self) -> Sequence[Content]:
        """What goes out; in a replay, that nothing is read for it."""
        parts: list[Content] = []
        if not self.replay.live:
            parts.append(toned("replay: from the history alone", "accent"))
        if self.problem:
            parts.append(toned(safe_text(self.problem, 120), "bad"))
        if self.budget is not None:
            parts.append(self.budget)
        return parts

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
        """Leave the replay."""
        if self.replay.live:
            return False
        self.show_replay(Replay())
        return True

    # What actions do --------------------------------------------------------------------------

    def next_page(self) -> None:
        """Show the next part."""
        self.page = (self.page + 1) % len(PAGES)
        self.fold()
        self.focus_body()

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
        """Move through recorded time."""
        self.show_replay(self.replay.step(by, self.span, self.now, self._begin, leap=leap))

    def show_replay(self, replay: Replay) -> None:
        """Show another moment, or the present."""
        if replay == self.replay:
            return
        turned = replay.live != self.replay.live
        self.replay = replay
        self.forget_past()
        self.set_class(not replay.live, "-replay")
        if turned:
            self.refeed()
        self.refresh_frame()
        self.look()
        self.ask()

    def switch_zone(self) -> None:
        """UTC, or this machine's own time."""
        self.local = not self.local
        self.refresh_frame()
        self.ask()

    def open_prompt(self, kind: type[TextPrompt]) -> None:
        """Let the person type."""
        self.query_one(kind).open()

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

    @on(TextPrompt.Entered, "#board-jump")
    def _jump(self, event: TextPrompt.Entered) -> None:
        if not event.text:
            self.focus_body()
            return
        try:
            moment = times.parse_past(event.text, self.now)
        except ValueError as error:
            self.gwtui.say(f"No moment: {error}", severity="warning")
            event.prompt.open_again(event.text)
            return
        self.focus_body()
        if self._begin is not None and moment < self._begin:
            self.gwtui.say(f"The recording begins at {times.utc(self._begin)}")
        self.show_replay(self.replay.at(moment, self.now, self._begin))

    @on(TextPrompt.Entered, "#board-watch")
    async def _watch(self, event: TextPrompt.Entered) -> None:
        self.focus_body()
        if event.text:
            await watch_model(self.gwtui, event.text)
            self.ask()

    @on(PlotView.Zoomed)
    def _zoomed(self, event: PlotView.Zoomed) -> None:
        self.zoom(event.by)

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
