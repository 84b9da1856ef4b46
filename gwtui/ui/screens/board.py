"""The board: credits, watched endpoints, limits and changes, live or as of a recorded moment."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Any

from textual import events, on
from textual.content import Content

from gwtui.domain import times
from gwtui.domain.safe_text import safe_text
from gwtui.resources.actions import by_id
from gwtui.ui.board.body import PAGES, BoardBody
from gwtui.ui.board.sources import Replay, parse_past
from gwtui.ui.text import toned
from gwtui.ui.widgets.plot import SPANS, PlotView
from gwtui.ui.widgets.prompt import TextPrompt
from gwtui.ui.widgets.table import Opened, ResourceTable


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

    @on(TextPrompt.Entered, "#board-watch")
    async def _watch(self, event: TextPrompt.Entered) -> None:
        from gwtui.ui.actions.board import watch_model  # noqa: PLC0415 - it names this screen

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
