"""Activity: what the last 30 completed UTC days cost and did, drawn by day and ranked."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from textual import on
from textual.app import ComposeResult
from textual.containers import Vertical
from textual.content import Content

from gwtui.contract.activity import ActivityRow
from gwtui.crud import cells
from gwtui.crud.resource import ResourceSpec, Scope
from gwtui.domain import activity
from gwtui.domain.activity import GROUPINGS, MEASURES, Grouping, Measure
from gwtui.domain.safe_text import safe_text
from gwtui.local.ascii_terminal import ascii_only
from gwtui.resources.activity.resource import (
    COLUMNS,
    MEASURE_WORDS,
    Ranked,
    in_words,
    key_ranking,
    ranking,
    totals,
)
from gwtui.ui.commands import by_id
from gwtui.ui.screens.base import GatewayScreen
from gwtui.ui.subscriptions import FeedUse
from gwtui.ui.tones import cell_content, toned
from gwtui.ui.widgets.bars import Bar, BarChart, Chart
from gwtui.ui.widgets.one_line import OneLine
from gwtui.ui.widgets.table import Opened, ResourceTable
from gwtui.watch.feed import FeedState
from gwtui.watch.feeds.activity import (
    Activity,
    KeyActivity,
    activity_feed,
    key_activity_feed,
    user_activity_feed,
)

if TYPE_CHECKING:
    from gwtui.watch.hub import FeedHub


PEOPLE = "organization"
"""The resource whose rows open the activity of a person."""
_MARGINS = 2
_TALL = 34


class ActivityScreen(GatewayScreen):
    """The account's activity in the workspace scope, or that of one key or person.

    ``parent`` is the hash of the key, or the id of the user, that was opened to get here,
    ``parent_name`` what it is called, ``opener`` the resource of keys or of people.
    """

    def __init__(
        self,
        *,
        parent: str | None = None,
        parent_name: str = "",
        opener: ResourceSpec[Any] | None = None,
    ) -> None:
        super().__init__(
            "activity", title="Activity", tab="activity" if opener is None else opener.id
        )
        self._of_person = opener is not None and opener.id == PEOPLE
        self._of = parent
        self._of_name = parent_name or safe_text(parent or "", 60)
        self._opener = opener
        self._found: Activity | None = None
        self._keys: KeyActivity | None = None
        self._keys_failed = False
        self._days: tuple[Any, ...] = ()
        self._rows: tuple[ActivityRow, ...] = ()
        self._grouping: Grouping = GROUPINGS[0]
        self._measure: Measure = MEASURES[0]
        self._ascii = ascii_only(os.environ)
        self._table: ResourceTable[Ranked] = ResourceTable(
            COLUMNS, lambda one: one.identity, lambda: self.now, id="activity-ranking"
        )

    # Hooks of the frame -----------------------------------------------------------------------

    def compose_body(self) -> ComposeResult:
        """What is drawn, the days, the sums, the ranking."""
        with Vertical(id="activity-drawing"):
            yield OneLine(id="activity-measure")
            yield BarChart(id="activity-chart")
            yield OneLine(id="activity-legend")
        yield OneLine(id="activity-totals")
        yield OneLine(id="activity-grouping")
        yield self._table

    def feeds(self, hub: FeedHub) -> Sequence[FeedUse]:
        """The activity; that of single keys only while they are ranked."""
        if self._of is not None and self._of_person:
            return [(user_activity_feed(hub, self._of), self._show)]
        scope = Scope(self.gwtui.scope.workspace, self._of)
        uses: list[FeedUse] = [(activity_feed(hub, scope), self._show)]
        if self._grouping == "key":
            uses.append((key_activity_feed(hub, scope), self._show_keys))
        return uses

    def on_mount(self) -> None:
        """Rank by what is drawn."""
        self._rank_by_measure()

    def empty_text(self) -> str | None:
        """What it means that there is nothing."""
        if self._rows or self._found is None:
            return None
        return "Nothing was asked of a model on the last 30 completed days, UTC."

    def status_parts(self) -> Sequence[Content]:
        """The scope, how many days, and what could not be shown."""
        parts: list[Content] = []
        if self._of is None and self.gwtui.scope_name is not None:
            parts.append(toned(f"only {self.gwtui.scope_name}", "accent"))
        if self._days:
            parts.append(toned(f"{len(self._days)} completed days, today is not over", "muted"))
        if self._found is not None:
            lost = len(self._found.rows) - len(self._rows)
            if lost:
                parts.append(toned(f"{lost} rows of other or unreadable days left out", "warn"))
        if self._grouping == "key" and self._keys is None:
            words = "keys unreadable" if self._keys_failed else "reading key by key…"
            parts.append(toned(words, "warn" if self._keys_failed else "muted"))
        elif self._grouping == "key" and self._keys is not None and self._keys.left_out:
            read = len(self._keys.rows)
            words = f"the {read:,} busiest of {read + self._keys.left_out:,} keys"
            parts.insert(0, toned(f"{words}: w narrows to a workspace", "warn"))
        return parts

    def crumbs(self) -> Sequence[str]:
        """The key beneath the keys, the person beneath the people."""
        if self._opener is None:
            return ()
        return (self._opener.title, self._of_name, self.heading)

    def focus_body(self) -> None:
        """The ranking has the keys."""
        self._table.focus()

    def target(self) -> Any | None:
        """The selected line of the ranking."""
        return self._table.selected

    def identity(self) -> str | None:
        """Its identity."""
        return self._table.selected_identity

    # What actions do --------------------------------------------------------------------------

    @property
    def grouping(self) -> Grouping:
        """What the ranking ranks."""
        return self._grouping

    def next_grouping(self) -> None:
        """Rank the next: models, providers, workspaces, keys; keys for the account only."""
        offered = self._offered()
        self._grouping = offered[(offered.index(self._grouping) + 1) % len(offered)]
        self.refeed()
        self._show_ranking()

    def next_measure(self) -> None:
        """Draw and rank the next: spend, BYOK cost, requests, tokens."""
        self._measure = MEASURES[(MEASURES.index(self._measure) + 1) % len(MEASURES)]
        self._rank_by_measure()
        self._show_ranking()

    # Showing ----------------------------------------------------------------------------------

    def _show(self, state: FeedState[Activity]) -> None:
        if state.value is None:
            return
        self._found = state.value
        self._days = activity.completed_days(self.now)
        self._rows = activity.within(state.value.rows, self._days)
        self._show_ranking()

    def _show_keys(self, state: FeedState[KeyActivity]) -> None:
        self._keys, self._keys_failed = state.value, state.error is not None
        self._show_ranking()

    def _rank_by_measure(self) -> None:
        self._table.sort_by(self._measure, descending=True)

    def _show_ranking(self) -> None:
        if self._found is None:
            return
        self._table.show(self._ranked(self._found))
        self.query_one("#activity-totals", OneLine).show(self._totals())
        self.query_one("#activity-grouping", OneLine).show(
            _choice("Ranked by", self._offered(), self._grouping, "b")
        )
        words = [MEASURE_WORDS[measure] for measure in MEASURES]
        self.query_one("#activity-measure", OneLine).show(
            _choice("Each day's", words, MEASURE_WORDS[self._measure], "m")
        )
        self._draw()

    def _totals(self) -> Content:
        """As many of the sums as there is room for."""
        line = Content("")
        for cell in totals(activity.tally(self._rows)):
            longer = Content(" · ").join(
                [line, cell_content(cell)] if line else [cell_content(cell)]
            )
            if longer.cell_length > self.app.size.width - _MARGINS:
                break
            line = longer
        return line

    def on_resize(self) -> None:
        """Taller bars where there is room; other widths have room for other sums."""
        self.set_class(self.app.size.height >= _TALL, "-tall")
        self._show_ranking()

    def _offered(self) -> list[Grouping]:
        return [one for one in GROUPINGS if self._of is None or one != "key"]

    def _ranked(self, found: Activity) -> Sequence[Ranked]:
        if self._grouping != "key":
            return ranking(found, self._rows, self._grouping, self._measure)
        if self._keys is None:
            return ()
        return key_ranking(self._keys, self._rows, self._measure)

    def _draw(self) -> None:
        """Each day's bar, with the part of the selected line of the ranking set off."""
        one = self._table.selected
        measure = self._measure
        wholes = activity.by_day(self._rows, self._days, measure)
        parts = activity.by_day(one.rows if one else (), self._days, measure)
        bars = [
            Bar(f"{day:%m-%d}", whole, part)
            for day, whole, part in zip(self._days, wholes, parts, strict=True)
        ]
        chart = Chart(bars, lambda amount: in_words(measure, amount), self._ascii)
        self.query_one(BarChart).draw(chart)
        self.query_one("#activity-legend", OneLine).show(self._legend(one))

    def _legend(self, one: Ranked | None) -> Content:
        """Which days these are, and what is set off."""
        span = f"{self._days[0]} to {self._days[-1]} UTC" if self._days else ""
        part, whole = ("#", ":") if self._ascii else ("█", "█")
        line = toned(span, "plain")
        if one is None or not one.rows:
            return line
        name = cells.text(one.name).text
        return Content.assemble(
            line, "   ", toned(part, "accent"), f" {name}   ", toned(whole, "muted"), " the rest"
        )

    @on(ResourceTable.Highlighted)
    def _highlighted(self) -> None:
        if self._found is not None:
            self._draw()

    @on(Opened)
    async def _opened(self, event: Opened) -> None:
        event.stop()
        context = self.capture()
        if context.identity == event.identity:
            await self.gwtui.perform(by_id("activity.open"), context)


def _choice(title: str, words: Sequence[str], chosen: str, key: str) -> Content:
    """What can be chosen with a key, the present choice marked by its brackets."""
    shown = Content("  ").join(
        toned(f"[{word}]", "accent", bold=True) if word == chosen else toned(word, "muted")
        for word in words
    )
    return Content.assemble(
        toned(f"{title}  ", "plain", bold=True), shown, toned(f"   {key} switches", "muted")
    )
