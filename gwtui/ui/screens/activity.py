"""Activity screen: cost and usage of the last 30 complete UTC days, by day and as a ranking.

The user can select some of the days: the chart still shows all days, but totals and ranking
cover only the selected ones.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import date
from typing import Any, NamedTuple

from textual import on
from textual.app import ComposeResult
from textual.containers import Vertical
from textual.content import Content

from gwtui.contract.usage import ActivityRow
from gwtui.crud.action import COPY
from gwtui.crud.resource import Scope
from gwtui.domain import activity
from gwtui.domain.activity import GROUPINGS, MEASURES, DayRange, Grouping, Measure, parse_days
from gwtui.domain.safe_text import safe_text
from gwtui.resources.activity import (
    COLUMNS,
    MEASURE_LABELS,
    RankedGroup,
    UsageRows,
    account_usage,
    columns,
    key_usage,
    measure_text,
    ranked,
    total_cells,
    user_usage,
)
from gwtui.ui.commands import key_of
from gwtui.ui.screens.base import TableScreen
from gwtui.ui.subscriptions import FeedUse
from gwtui.ui.text import cell_content, choice_line, toned
from gwtui.ui.widgets.lines import DrawingView, OneLine
from gwtui.ui.widgets.plot import Bar, Chart
from gwtui.ui.widgets.prompt import Prompt
from gwtui.ui.widgets.table import ResourceTable
from gwtui.watch.feed import Feed, FeedState
from gwtui.watch.feeds.activity import (
    Activity,
    GroupedActivity,
    activity_feed,
    every_user_activity_feed,
    key_activity_feed,
    user_activity_feed,
)
from gwtui.watch.hub import FeedHub

PEOPLE = "organization"
"""Id of the resource whose rows open the activity of one person."""
_DAYS_HINT = "days, UTC: yesterday, last friday, 7d, 2026-11-20, 2026-11-01 .. 2026-11-07, all"
_TALL = [(34, "-tall")]
"""Terminal height in lines from which the bars are taller, with the CSS class for it."""


class _Parted(NamedTuple):
    """A ranking whose data takes one request per key or person."""

    feed: Callable[[FeedHub, Scope], Feed[GroupedActivity]]
    usage: Callable[[GroupedActivity, Activity], UsageRows]
    noun: str
    plural: str
    which: str
    """Which keys or people are read if there are too many to read all, such as "busiest"."""


_PARTED: Mapping[str, _Parted] = {
    "key": _Parted(key_activity_feed, key_usage, "key", "keys", "busiest"),
    "user": _Parted(every_user_activity_feed, user_usage, "person", "people", "first"),
}


class ActivityScreen(TableScreen):
    """The activity of the account in the workspace scope, or of one key or person (``parent``)."""

    opens = "activity.open"
    VERTICAL_BREAKPOINTS = _TALL

    def __init__(self, **opened_by: Any) -> None:
        super().__init__("activity", title="Activity", extra_scopes=(COPY,), **opened_by)
        self._of_person = self.opener is not None and self.opener.id == PEOPLE
        self._activity: Activity | None = None
        self._parts: GroupedActivity | None = None
        """Activity per key or person, while keys or people are ranked."""
        self._days: tuple[date, ...] = ()
        self._chosen: DayRange | None = None
        """The days that the user selected; None for all days."""
        self._rows: tuple[ActivityRow, ...] = ()
        """The activity of the complete days."""
        self.grouping: Grouping = GROUPINGS[0]
        self._to_top = False
        """Whether to move the cursor to the first row: the ranking has changed."""
        self._measure: Measure = MEASURES[0]
        self.table = ResourceTable(
            COLUMNS, lambda row: row.identity, lambda: self.now, id="activity-ranking"
        )

    # Hooks of the frame -----------------------------------------------------------------------

    def compose_body(self) -> ComposeResult:
        with Vertical(id="activity-drawing"):
            yield OneLine(id="activity-measure")
            yield DrawingView(id="activity-chart")
        yield OneLine(id="activity-totals")
        yield OneLine(id="activity-grouping")
        yield self.table

    def compose_bars(self) -> ComposeResult:
        yield Prompt("@", _DAYS_HINT, id="activity-days")

    def feeds(self, hub: FeedHub) -> Sequence[FeedUse]:
        if self.parent_row is not None and self._of_person:
            return [(user_activity_feed(hub, Scope(parent=self.parent_row)), self._show)]
        scope = Scope(self.gwtui.scope.workspace, self.parent_row)
        uses: list[FeedUse] = [(activity_feed(hub, scope), self._show)]
        parted = _PARTED.get(self.grouping)
        if parted is not None:
            uses.append((parted.feed(hub, scope), self._show_parts))
        return uses

    def on_mount(self) -> None:
        self._days = activity.completed_days(self.now)
        self._rank_by_measure()

    def empty_text(self) -> str | None:
        """Return the text for an account without requests; None with requests or while loading."""
        if self._rows or self._activity is None:
            return None
        return "No requests in the last 30 complete days (UTC)."

    def status_parts(self) -> Sequence[Content]:
        parts: list[Content] = []
        if self.parent_row is None and self.gwtui.scope_name is not None:
            parts.append(toned(f"only {self.gwtui.scope_name}", "accent"))
        if self._chosen is not None:
            way_out = f"{key_of('app.back')} shows all"
            parts.append(toned(f"only {self._chosen} UTC, {way_out}", "accent"))
        elif self._days:
            span = f"{DayRange(self._days[0], self._days[-1])} UTC, excluding today"
            parts.append(toned(span, "muted"))
        if self._activity is not None:
            lost = len(self._activity.rows) - len(self._rows)
            if lost:
                parts.append(toned(f"{lost} rows with unreadable or other dates left out", "warn"))
        return [*self._left_out(), *parts]

    def _left_out(self) -> Iterator[Content]:
        parted, parts = _PARTED.get(self.grouping), self._parts
        if parted is None:
            return
        if parts is None and any(state.error is not None for state in self.states[1:]):
            yield toned(f"{parted.plural} unreadable", "warn")
        elif parts is None:
            yield toned(f"reading {parted.noun} by {parted.noun}…", "muted")
        elif parts.left_out:
            count = len(parts.rows)
            note = f"the {count:,} {parted.which} of {count + parts.left_out:,} {parted.plural}"
            yield toned(f"{note}: {key_of('app.workspace')} limits it to a workspace", "warn")

    @property
    def is_loading(self) -> bool:
        """Whether a feed has not answered yet; some rankings need two feeds."""
        return any(state.unanswered for state in self.states)

    def go_back(self) -> bool:
        """Select all days again; return False if all were selected already."""
        chosen = self._chosen is not None
        if chosen:
            self._choose(None)
        return chosen

    # What actions do --------------------------------------------------------------------------

    def next_grouping(self) -> None:
        """Rank by the next grouping: models, providers, workspaces, keys, people."""
        offered = self._offered()
        self._rank_by(offered[(offered.index(self.grouping) + 1) % len(offered)])

    def rank_by_key(self) -> None:
        """Rank by key, or say why that is impossible for one key or person."""
        if "key" in self._offered():
            self._rank_by("key")
        else:
            self.gwtui.say("Keys cannot be ranked here: only one key or person is shown")

    def _rank_by(self, grouping: Grouping) -> None:
        self.grouping = grouping
        self._parts = None
        self._to_top = True
        self.refeed()
        self._show_ranking()

    def open_days(self) -> None:
        """Open the prompt for selecting days."""
        self.query_one("#activity-days", Prompt).open()

    def step_day(self, way: int) -> None:
        """Select a single day: the day after (``way`` 1) or before (-1) the selected one.

        If several or all days are selected, select the last one of them.
        """
        if not self._days:
            return
        chosen = self._chosen
        if chosen is None or chosen.count > 1:
            place = len(self._days) - 1 if chosen is None else self._days.index(chosen.last)
        else:
            place = self._days.index(chosen.first) + way
        day = self._days[min(max(place, 0), len(self._days) - 1)]
        self._choose(DayRange(day, day))

    def _choose(self, chosen: DayRange | None) -> None:
        whole = chosen is not None and chosen.count >= len(self._days)
        self._chosen = None if whole else chosen
        self._show_ranking()
        self.refresh_frame()

    @on(Prompt.Entered, "#activity-days")
    def _days_typed(self, event: Prompt.Entered) -> None:
        event.stop()
        try:
            if event.text and self._days:
                self._choose(parse_days(event.text, self._days))
        except ValueError as error:
            self.gwtui.say(safe_text(error, 120), severity="warning")
            event.prompt.open(event.text)
        else:
            self.focus_body()

    def next_measure(self) -> None:
        """Draw and rank by the next measure: spend, BYOK cost, requests, tokens."""
        self._measure = MEASURES[(MEASURES.index(self._measure) + 1) % len(MEASURES)]
        self._rank_by_measure()
        self._show_ranking()

    # Showing ----------------------------------------------------------------------------------

    def _show(self, state: FeedState[Activity]) -> None:
        days = activity.completed_days(self.now)
        if state.value is None or (state.value is self._activity and days == self._days):
            return
        self._activity = state.value
        self._days = days
        self._rows = activity.within(state.value.rows, days)
        if self._chosen is not None and self._chosen.first not in days:
            self._chosen = None
        self._show_ranking()

    def _show_parts(self, state: FeedState[GroupedActivity]) -> None:
        self._parts = state.value
        self._show_ranking()

    def _rank_by_measure(self) -> None:
        self.table.model.columns = columns(self._measure)
        self.table.sort_by(self._measure, descending=True)

    def _show_ranking(self) -> None:
        if self._activity is None:
            return
        days = [day for day in self._days if self._chosen is None or day in self._chosen]
        rows = activity.within(self._rows, days)
        self.table.show(self._ranked(self._activity, rows))
        if self._to_top and self.table.model.total:
            self._to_top = False
            self.table.to_first()
        totals = map(cell_content, total_cells(activity.summarize(rows)))
        self.query_one("#activity-totals", OneLine).show(Content(" · ").join(totals))
        self.query_one("#activity-grouping", OneLine).show(
            choice_line(
                "Grouped by",
                self._offered(),
                self.grouping,
                toned(f"   {key_of('activity.group')} switches", "muted"),
            )
        )
        labels = [MEASURE_LABELS[measure] for measure in MEASURES]
        self.query_one("#activity-measure", OneLine).show(
            choice_line(
                "Each day's",
                labels,
                MEASURE_LABELS[self._measure],
                toned(f"   {key_of('activity.measure')} switches", "muted"),
            )
        )
        self._draw()

    def _offered(self) -> list[Grouping]:
        return [
            grouping for grouping in GROUPINGS if self.parent_row is None or grouping not in _PARTED
        ]

    def _ranked(self, account: Activity, rows: Sequence[ActivityRow]) -> Sequence[RankedGroup]:
        parted = _PARTED.get(self.grouping)
        if parted is None:
            uses = account_usage(account)
        elif self._parts is None:
            return ()
        else:
            uses = parted.usage(self._parts, account)
        return ranked(uses, rows, self.grouping, self._measure)

    def _draw(self) -> None:
        measure, days, chosen = self._measure, self._days, self._chosen
        amounts = activity.by_day(self._rows, days, measure)
        bars = [Bar(f"{day:%m-%d}", amount) for day, amount in zip(days, amounts, strict=True)]
        ends = (days.index(chosen.first), days.index(chosen.last)) if chosen else None
        chart = Chart(bars, lambda amount: measure_text(measure, amount), ends)
        self.query_one(DrawingView).draw(chart)
