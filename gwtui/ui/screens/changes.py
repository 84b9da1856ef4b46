"""What changed between two recorded moments, chosen by typing them."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import TYPE_CHECKING

from textual import on
from textual.app import ComposeResult
from textual.content import Content

from gwtui.domain import times
from gwtui.resources.changes import CHANGES
from gwtui.ui.screens.resource import ResourceScreen
from gwtui.ui.subscriptions import FeedUse
from gwtui.ui.text import toned
from gwtui.ui.widgets.prompt import Prompt
from gwtui.ui.widgets.table import SelectionLost
from gwtui.watch.feeds.recorded import Between, changes_feed, last_day

if TYPE_CHECKING:
    from gwtui.watch.hub import FeedHub

NO_EVENT = "No price, endpoint, key, budget or guardrail changed between these times."
_SEPARATOR = ".."
_BETWEEN_HINT = "from .. to, UTC: yesterday 18:00 .. 3h ago, or 2026-11-20 .. now"


class ChangesScreen(ResourceScreen):
    """The net between two moments, or every change between them; the last day at first."""

    def __init__(self) -> None:
        super().__init__(CHANGES)
        self._between: Between | None = None

    def compose_bars(self) -> ComposeResult:
        """Where the moments are typed."""
        yield Prompt("@", _BETWEEN_HINT, id="changes-between")

    def feeds(self, hub: FeedHub) -> Sequence[FeedUse]:
        """The history, nothing else."""
        return [(changes_feed(hub, self.between), self._show)]

    def status_parts(self) -> Sequence[Content]:
        """The two moments before everything else."""
        between = self.between
        until = "now" if between.until is None else times.utc(between.until)
        each = "every change" if between.each else "net"
        moments = toned(f"{each} from {times.utc(between.since)} to {until}", "accent")
        return [moments, *super().status_parts()]

    def empty_text(self) -> str | None:
        """Among single changes there are no figures: those move all the time."""
        empty = super().empty_text()
        return NO_EVENT if empty == self.declared.empty and self.between.each else empty

    def resolve_path(self, path: str, child: str | None = None) -> None:
        """``:changes/MOMENT..MOMENT`` compares these."""
        if _SEPARATOR in path:
            self.compare(path)
        else:
            super().resolve_path(path, child)

    def on_resource_table_selection_lost(self, message: SelectionLost) -> None:
        """With other moments come other rows: nothing that was looked at went away."""
        if message.lost.neighbour is None:
            message.prevent_default()

    # What actions do --------------------------------------------------------------------------

    @property
    def between(self) -> Between:
        """The two moments."""
        if self._between is None:
            self._between = last_day(self.now)
        return self._between

    def open_between(self) -> None:
        """Let the person type the moments."""
        self.query_one("#changes-between", Prompt).open()

    def switch_each(self) -> None:
        """The net, or every change by itself."""
        now = self.between
        self._compare(Between(now.since, now.until, each=not now.each))

    def compare(self, text: str) -> bool:
        """Compare the moments that were typed: "yesterday 18:00 .. 3h ago", or one and now.

        Whether they were understood; if not, it is said why.
        """
        first, _, second = text.partition(_SEPARATOR)
        now = self.now
        try:
            since = times.parse_past(first, now)
            until = times.parse_past(second, now) if second.strip() else None
        except ValueError as error:
            self.gwtui.say(f"Invalid times: {error}", severity="warning")
            return False
        if until is not None and until < since:
            since, until = until, since
        if since >= now:
            self.gwtui.say("The earlier time is in the future", severity="warning")
            return False
        self._compare(Between(since, _past(until, now), each=self.between.each))
        return True

    def _compare(self, between: Between) -> None:
        self._between = between
        column, descending = ("at", True) if between.each else CHANGES.default_sort
        self.table.sort_by(column, descending=descending)
        self.table.show(())
        self.refeed()

    @on(Prompt.Entered, "#changes-between")
    def _typed(self, event: Prompt.Entered) -> None:
        if event.text and not self.compare(event.text):
            event.prompt.open(event.text)
        else:
            self.focus_body()


def _past(moment: datetime | None, now: datetime) -> datetime | None:
    """A moment that is not over yet is now, and moves on with it; typed ones are whole seconds."""
    return None if moment is None or moment >= now.replace(microsecond=0) else moment
