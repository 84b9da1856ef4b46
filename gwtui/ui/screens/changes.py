"""Changes screen: what changed between two recorded times that the user enters."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

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
from gwtui.watch.hub import FeedHub

_SEPARATOR = ".."
_BETWEEN_HINT = "from .. to, UTC: yesterday 18:00 .. 3h ago, or 2026-11-20 .. now"


class ChangesScreen(ResourceScreen):
    """The changes between two times, by default those of the last day."""

    def __init__(self) -> None:
        super().__init__(CHANGES)
        self._between: Between | None = None

    def compose_bars(self) -> ComposeResult:
        """Yield the prompt for the two times."""
        yield Prompt("@", _BETWEEN_HINT, id="changes-between")

    def feeds(self, hub: FeedHub) -> Sequence[FeedUse]:
        """Return the feed of the changes between the two times."""
        return [(changes_feed(hub, self.between), self._show)]

    def status_parts(self) -> Sequence[Content]:
        """Return the two times, then the usual parts of a list."""
        between = self.between
        until = "now" if between.until is None else times.utc(between.until)
        moments = toned(f"from {times.utc(between.since)} to {until}", "accent")
        return [moments, *super().status_parts()]

    def resolve_path(self, path: str, child: str | None = None) -> None:
        """Compare the times of ``:changes/TIME..TIME``; other paths name a row."""
        if _SEPARATOR in path:
            self.compare(path)
        else:
            super().resolve_path(path, child)

    def on_resource_table_selection_lost(self, message: SelectionLost) -> None:
        """Report a lost row, unless other times have emptied the list."""
        if message.lost.neighbour is None:
            message.prevent_default()

    # What actions do --------------------------------------------------------------------------

    @property
    def between(self) -> Between:
        """The two times."""
        if self._between is None:
            self._between = last_day(self.now)
        return self._between

    def open_between(self) -> None:
        """Open the prompt for the two times."""
        self.query_one("#changes-between", Prompt).open()

    def compare(self, text: str) -> bool:
        """Compare the two times in ``text``, such as "yesterday 18:00 .. 3h ago".

        A single time is compared with now. Returns False, after a warning, if ``text`` is invalid.
        """
        first, _, second = text.partition(_SEPARATOR)
        now = self.now
        try:
            since = times.parse_moment(first, now, past=True)
            until = times.parse_moment(second, now, past=True) if second.strip() else None
        except ValueError as error:
            self.gwtui.say(f"Invalid times: {error}", severity="warning")
            return False
        if until is not None and until < since:
            since, until = until, since
        if since >= now:
            self.gwtui.say("The earlier time is in the future", severity="warning")
            return False
        self._compare(Between(since, _past(until, now)))
        return True

    def _compare(self, between: Between) -> None:
        self._between = between
        self.table.show(())
        self.refeed()

    @on(Prompt.Entered, "#changes-between")
    def _typed(self, event: Prompt.Entered) -> None:
        if event.text and not self.compare(event.text):
            event.prompt.open(event.text)
        else:
            self.focus_body()


def _past(moment: datetime | None, now: datetime) -> datetime | None:
    # None stands for now.
    return None if moment is None or moment >= now.replace(microsecond=0) else moment
