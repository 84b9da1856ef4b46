"""The board: credits, watched endpoints, limits and changes, live or as of a recorded moment."""

from __future__ import annotations

import os
from collections.abc import Sequence
from datetime import datetime
from functools import partial
from typing import TYPE_CHECKING, Any

from textual import events, on
from textual.app import ComposeResult
from textual.containers import Horizontal, Vertical
from textual.content import Content

from gwtui.domain import times
from gwtui.ui.ascii_terminal import ascii_only
from gwtui.ui.board.asking import Answers, Asking, Wish
from gwtui.ui.board.changes_panel import ChangesPanel
from gwtui.ui.board.credits_panel import CreditsPanel
from gwtui.ui.board.endpoint_panel import EndpointPanel
from gwtui.ui.board.endpoints_panel import EndpointsPanel
from gwtui.ui.board.limits_panel import LimitsPanel
from gwtui.ui.board.machine_zone import MachineZone
from gwtui.ui.board.pages import PAGES, pages_line
from gwtui.ui.board.panel import Panel
from gwtui.ui.board.prompts import BoardPrompt, JumpPrompt, WatchPrompt
from gwtui.ui.board.recording_words import recording_line
from gwtui.ui.board.replaying import Replay, parse_past
from gwtui.ui.board.request_words import requests_part
from gwtui.ui.board.seeing import LiveSight
from gwtui.ui.board.view import View
from gwtui.ui.commands import by_id
from gwtui.ui.resources.alert_words import alerts_line
from gwtui.ui.screens.base import GatewayScreen
from gwtui.ui.subscriptions import FeedUse
from gwtui.ui.tones import toned
from gwtui.ui.widgets.one_line import OneLine
from gwtui.ui.widgets.plot import SPANS, PlotView
from gwtui.ui.widgets.table import Opened, ResourceTable
from gwtui.watch.board.questions import Recording
from gwtui.watch.board.sight import Sight, newest
from gwtui.watch.feed import FeedState
from gwtui.watch.feeds.alerts import alerts_feed

if TYPE_CHECKING:
    from gwtui.watch.history.recorder import Recorder
    from gwtui.watch.hub import FeedHub

WALL = (160, 44)
"""From this size on everything is shown at once."""
_TALL = 34
_ASK_EVERY = 20.0
"""Seconds between two rounds of questions while nothing else asks for one."""
_LOOK_EVERY = 5.0
"""Seconds between two looks at what only the time changes."""


class BoardScreen(GatewayScreen):
    """Every panel of the board, folded into pages where there is little room."""

    def __init__(self) -> None:
        super().__init__("board", title="Board")
        self.replay = Replay()
        self._page = 0
        self._span = SPANS[0]
        self._local = False
        self._ascii = ascii_only(os.environ)
        self._live = LiveSight(self.look)
        self._past: Sight | None = None
        self.known: Recording | None = None
        """What is known of the recording."""
        self._asked_at = self._looked_at = 0.0
        start = partial(self.run_worker, exit_on_error=False)
        self._asking = Asking(self._wish, self._take, start)
        self.credits = CreditsPanel()
        self.endpoints = EndpointsPanel(lambda: self.view.now)
        self.endpoint = EndpointPanel()
        self.limits = LimitsPanel(lambda: self.view.now)
        self.changes = ChangesPanel()

    # Hooks of the frame -----------------------------------------------------------------------

    ticks_unfocused = True

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

    def notice(self) -> Content | None:
        """What is replayed, so that nobody takes the past for the present."""
        moment = self.replay.moment
        if moment is None:
            return None
        shown = times.utc(moment, seconds=True)
        if self._local:
            shown = f"{shown} ({times.local_preview(moment, self.view.zone)})"
        ago = times.relative(moment, self.now)
        return Content(f" REPLAY {shown}, {ago} · , . step · @ jump · L live again")

    def status_parts(self) -> Sequence[Content]:
        """What goes out; in a replay, that nothing is read for it."""
        session = self.gwtui.session
        parts: list[Content] = []
        if not self.replay.live:
            parts.append(toned("replay: from the history alone", "accent"))
        if self._asking.problem:
            parts.append(toned(self._asking.problem, "bad"))
        if session is not None:
            parts.append(requests_part(session))
        return parts

    def tick(self, _now: datetime) -> None:
        """Ages and times to reset; now and then the history, which others may write."""
        elapsed = self.gwtui.clock.monotonic()
        if elapsed - self._looked_at >= _LOOK_EVERY:
            self._looked_at = elapsed
            self.look()
            self.endpoints.tick()
            self.limits.tick()
        if self.known is None or elapsed - self._asked_at >= _ASK_EVERY:
            self.ask()

    def target(self) -> Any | None:
        """The selected endpoint."""
        return self.endpoints.selected

    def identity(self) -> str | None:
        """Its identity in the history."""
        return self.endpoints.table.selected_identity

    def focus_body(self) -> None:
        """What has rows on the shown page."""
        tables = (self.endpoints.table, self.limits.table, self.changes.lines)
        self.set_focus(tables[0 if self._is_wall else self._page])

    def go_back(self) -> bool:
        """Leave the replay."""
        if self.replay.live:
            return False
        self.show_replay(Replay())
        return True

    # What actions do --------------------------------------------------------------------------

    @property
    def view(self) -> View:
        """How it is looked at."""
        zone = (self.gwtui.local_zone or MachineZone()) if self._local else None
        moment = self.replay.moment
        return View(moment or self.now, self._span, moment is not None, zone, self._ascii)

    @property
    def recorder(self) -> Recorder | None:
        """Who records for this connection; None while there is none."""
        session = self.gwtui.session
        return None if session is None else session.history.recorder

    @property
    def at_rest(self) -> bool:
        """Whether the history has answered all that was asked of it."""
        return not self._asking.busy and (self.known is not None or self.recorder is None)

    def next_page(self) -> None:
        """Show the next part."""
        self._page = (self._page + 1) % len(PAGES)
        self._arrange()
        self.focus_body()

    def next_measure(self) -> None:
        """Draw the next figure of the endpoint."""
        self.endpoint.next_measure()
        self._show_pages()

    def zoom(self, by: int) -> None:
        """Another span: 1 is longer."""
        place = min(len(SPANS) - 1, max(0, SPANS.index(self._span) + by))
        if SPANS[place] != self._span:
            self._span = SPANS[place]
            self._arrange()
            self.ask()

    def step(self, by: int, *, leap: bool = False) -> None:
        """Move through recorded time."""
        self.show_replay(self.replay.step(by, self._span, self.now, self._begin, leap=leap))

    def show_replay(self, replay: Replay) -> None:
        """Show another moment, or the present."""
        if replay == self.replay:
            return
        turned = replay.live != self.replay.live
        self.replay, self._past = replay, None
        self.set_class(not replay.live, "-replay")
        if turned:
            self.refeed()
        self.refresh_frame()
        self.look()
        self.ask()

    def switch_zone(self) -> None:
        """UTC, or this machine's own time."""
        self._local = not self._local
        self.refresh_frame()
        self.ask()

    def open_prompt(self, kind: type[BoardPrompt]) -> None:
        """Let the person type."""
        self.query_one(kind).open()

    @property
    def _begin(self) -> datetime | None:
        span = None if self.known is None else self.known.span
        return None if span is None else span[0]

    # Messages ---------------------------------------------------------------------------------

    def on_mount(self) -> None:
        """The first page."""
        self._arrange()
        self.call_after_refresh(self.look)

    def on_resize(self, _event: events.Resize) -> None:
        """Fold what has no room."""
        self._arrange()

    @on(BoardPrompt.Entered, "#board-jump")
    def _jump(self, event: BoardPrompt.Entered) -> None:
        self.focus_body()
        if not event.text:
            return
        try:
            moment = parse_past(event.text, self.now)
        except ValueError as error:
            self.gwtui.say(f"No moment: {error}", severity="warning")
            return
        if self._begin is not None and moment < self._begin:
            self.gwtui.say(f"The recording begins at {times.utc(self._begin)}")
        self.show_replay(self.replay.at(moment, self.now, self._begin))

    @on(BoardPrompt.Entered, "#board-watch")
    async def _watch(self, event: BoardPrompt.Entered) -> None:
        from gwtui.ui.board_actions import watch_model  # noqa: PLC0415 - it names this screen

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

    # Showing ----------------------------------------------------------------------------------

    @property
    def _panels(self) -> tuple[Panel, ...]:
        return (self.credits, self.endpoints, self.endpoint, self.limits, self.changes)

    @property
    def _is_wall(self) -> bool:
        return self.app.size.width >= WALL[0] and self.app.size.height >= WALL[1]

    @property
    def _is_ready(self) -> bool:
        return self._is_whole and all(panel.is_mounted for panel in self._panels)

    def _arrange(self) -> None:
        if not self.is_mounted:
            return
        wall = self._is_wall
        self.set_class(wall, "-wall")
        self.set_class(self.app.size.height >= _TALL, "-tall")
        for number, page in enumerate(PAGES):
            self.set_class(not wall and number == self._page, page.style)
        self.call_after_refresh(self._show_pages)

    def _show_pages(self) -> None:
        hidden, folded = self.endpoint.hidden, not self._is_wall
        line = pages_line(self._page, self._span.name, hidden, folded=folded)
        self.query_one("#board-pages", OneLine).show(line)

    def look(self) -> None:
        """Show what is known now."""
        if not self._is_ready:
            return
        view = self.view
        sight = self._sight()
        for panel in self._panels:
            panel.see(sight, view)
        if any(panel.wants for panel in self._panels):
            self.ask()
        if self.focused is None and self.is_current:  # the list was empty before
            self.focus_body()
        self.endpoint.select(self.endpoints.selected, view)
        self.endpoints.fit(wall=self._is_wall)
        self._show_pages()
        self.query_one("#board-summary", OneLine).show(
            Content.assemble(" ", self.credits.summary(view))
        )
        session = self.gwtui.session
        if session is not None:
            self._show_alerts(session.hub)
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

    def _sight(self) -> Sight:
        past = self._past
        if not self.replay.live:
            return past or Sight()
        live = self._live.sight()
        return live if past is None else newest(live, past)

    # The history ------------------------------------------------------------------------------

    def ask(self) -> None:
        """Ask the history again."""
        if self._is_whole and self.gwtui.session is not None:
            self._asking.soon()

    def _wish(self) -> Wish | None:
        self._asked_at = self.gwtui.clock.monotonic()
        recorder = self.recorder
        if recorder is None or not self._is_ready:
            return None
        view = self.view
        questions = [panel.question(view) for panel in self._panels]
        return Wish(recorder.archive, view, questions, self._needs_past)

    def _take(self, answers: Answers) -> None:
        if not self._is_ready:
            return
        before, self.known = self.known, answers.known
        view = answers.view
        if self.replay.moment == (view.now if view.past else None):  # else another round follows
            self._past = answers.past
            for panel, found in zip(self._panels, answers.found, strict=True):
                panel.answer(found, view)
        if before is None or before.models != answers.known.models:
            self.refeed()
        self.look()

    @property
    def _needs_past(self) -> bool:
        """Whether what is recorded says more than the feeds of this instance."""
        session, recorder = self.gwtui.session, self.recorder
        if not self.replay.live or session is None or recorder is None:
            return True
        unread = any(state.value is None for state in self.states)
        return unread or (session.hub.paused and not recorder.status.recording)
