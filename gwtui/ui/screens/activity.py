"""Activity: what the last 30 completed UTC days cost and did, drawn by day and ranked.

Some of the days can be chosen: all are drawn, and the chosen ones are summed up and ranked. The
bars are stacked of the selected line, in the accent colour below all, and of those that lead the
ranking, each place of which has a colour of its own.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from typing import TYPE_CHECKING, Any

from rich.cells import cell_len
from textual import on
from textual.app import ComposeResult
from textual.containers import Vertical
from textual.content import Content

from gwtui.contract.usage import ActivityRow
from gwtui.crud import cells
from gwtui.crud.action import COPY
from gwtui.crud.resource import ResourceSpec, Scope
from gwtui.domain import activity
from gwtui.domain.activity import GROUPINGS, MEASURES, DayRange, Grouping, Measure, parse_days
from gwtui.domain.safe_text import safe_text
from gwtui.resources.actions import by_id
from gwtui.resources.activity import (
    COLUMNS,
    MEASURE_LABELS,
    RankedGroup,
    account_usage,
    key_usage,
    measure_text,
    ranked,
    total_cells,
    user_usage,
)
from gwtui.ui.commands import key_of
from gwtui.ui.screens.base import GatewayScreen
from gwtui.ui.subscriptions import FeedUse
from gwtui.ui.text import cell_content, choice_line, fit, shared_widths, toned
from gwtui.ui.widgets.bars import PICKED, REST, SERIES, Bar, Chart
from gwtui.ui.widgets.lines import DrawingView, OneLine
from gwtui.ui.widgets.prompt import Prompt
from gwtui.ui.widgets.table import Opened, ResourceTable
from gwtui.watch.feed import FeedState
from gwtui.watch.feeds.activity import (
    Activity,
    PartedActivity,
    activity_feed,
    every_user_activity_feed,
    key_activity_feed,
    user_activity_feed,
)

if TYPE_CHECKING:
    from gwtui.watch.hub import FeedHub


PEOPLE = "organization"
"""The resource whose rows open the activity of a person."""
_DAYS_HINT = "days, UTC: yesterday, last friday, 7d, 2026-11-20, 2026-11-01 .. 2026-11-07, all"
_MARGINS = 2
_TALL = [(34, "-tall")]
"""From how many lines on the bars are taller, and the class that makes them so."""
_APART = "  "
_OTHERS = "the rest"
_LONGEST, _SHORTEST = 32, 6
"""Cells of a name, at most and where there is little room."""
_SIGN = cell_len(f"{_APART}█ ")
"""Cells before a name."""


class ActivityScreen(GatewayScreen):
    """The account's activity in the workspace scope, or that of one key or person.

    ``parent`` is the hash of the key, or the id of the user, that was opened to get here,
    ``parent_name`` what it is called, ``opener`` the resource of keys or of people.
    """

    VERTICAL_BREAKPOINTS = _TALL

    def __init__(
        self,
        *,
        parent: str | None = None,
        parent_name: str = "",
        opener: ResourceSpec[Any] | None = None,
    ) -> None:
        super().__init__(
            "activity",
            title="Activity",
            tab="activity" if opener is None else opener.id,
            extra_scopes=(COPY,),
        )
        self._of_person = opener is not None and opener.id == PEOPLE
        self._of = parent
        self._of_name = parent_name or safe_text(parent or "", 60)
        self._opener = opener
        self._found: Activity | None = None
        self._ranking: Sequence[RankedGroup] = ()
        self._keys: PartedActivity | None = None
        self._users: PartedActivity | None = None
        self._parts_failed = False
        """Whether what single keys or people did could not be read."""
        self._days: tuple[date, ...] = ()
        self._chosen: DayRange | None = None
        """The days that are summed up; None for all of them."""
        self._every: tuple[ActivityRow, ...] = ()
        self._rows: tuple[ActivityRow, ...] = ()
        """The rows of the chosen days, of all that can be drawn."""
        self._grouping: Grouping = GROUPINGS[0]
        self._to_top = False
        """Whether the ranking is to begin with its first line: it is another one."""
        self._measure: Measure = MEASURES[0]
        self._table: ResourceTable[RankedGroup] = ResourceTable(
            COLUMNS, lambda one: one.identity, lambda: self.now, id="activity-ranking"
        )

    # Hooks of the frame -----------------------------------------------------------------------

    def compose_body(self) -> ComposeResult:
        """What is drawn, the days, the sums, the ranking."""
        with Vertical(id="activity-drawing"):
            yield OneLine(id="activity-measure")
            yield DrawingView(id="activity-chart")
            yield OneLine(id="activity-legend")
        yield OneLine(id="activity-totals")
        yield OneLine(id="activity-grouping")
        yield self._table

    def compose_bars(self) -> ComposeResult:
        """The days to be typed."""
        yield Prompt("@", _DAYS_HINT, id="activity-days")

    def feeds(self, hub: FeedHub) -> Sequence[FeedUse]:
        """The activity; that of single keys only while they are ranked."""
        if self._of is not None and self._of_person:
            return [(user_activity_feed(hub, Scope(parent=self._of)), self._show)]
        scope = Scope(self.gwtui.scope.workspace, self._of)
        uses: list[FeedUse] = [(activity_feed(hub, scope), self._show)]
        if self._grouping == "key":
            uses.append((key_activity_feed(hub, scope), self._show_keys))
        elif self._grouping == "user":
            uses.append((every_user_activity_feed(hub, scope), self._show_users))
        return uses

    def on_mount(self) -> None:
        """Rank by what is drawn; the days can be chosen before anything is read."""
        self._days = activity.completed_days(self.now)
        self._rank_by_measure()

    def empty_text(self) -> str | None:
        """What it means that there is nothing."""
        if self._every or self._found is None:
            return None
        return "Nothing was asked of a model on the last 30 completed days, UTC."

    def status_parts(self) -> Sequence[Content]:
        """The scope, how many days, and what could not be shown."""
        parts: list[Content] = []
        if self._of is None and self.gwtui.scope_name is not None:
            parts.append(toned(f"only {self.gwtui.scope_name}", "accent"))
        if self._chosen is not None:
            way_out = f"{key_of('app.back')} shows all"
            parts.append(toned(f"only {self._chosen} UTC, {way_out}", "accent"))
        elif self._days:
            parts.append(toned(f"{len(self._days)} completed days, today is not over", "muted"))
        if self._found is not None:
            lost = len(self._found.rows) - len(self._every)
            if lost:
                parts.append(toned(f"{lost} rows of other or unreadable days left out", "warn"))
        if self._grouping == "key":
            first, last = left_out_notes(self._keys, "key", failed=self._parts_failed)
        elif self._grouping == "user":
            first, last = left_out_notes(self._users, "user", failed=self._parts_failed)
        else:
            return parts
        return [*first, *parts, *last]

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

    @property
    def reading(self) -> bool:
        """Whether the ranking is still to come; some are made of two feeds."""
        return any(state.unanswered for state in self.states)

    def go_back(self) -> bool:
        """Show all days again, where some were chosen."""
        chosen = self._chosen is not None
        if chosen:
            self._choose(None)
        return chosen

    # What actions do --------------------------------------------------------------------------

    @property
    def grouping(self) -> Grouping:
        """What the ranking ranks."""
        return self._grouping

    def next_grouping(self) -> None:
        """Rank the next: models, providers, workspaces, keys, users; the last two by account."""
        offered = self._offered()
        self._rank_by(offered[(offered.index(self._grouping) + 1) % len(offered)])

    def rank_by_key(self) -> None:
        """Rank keys, where they can be told apart."""
        if "key" in self._offered():
            self._rank_by("key")
        else:
            self.gwtui.say("One key or person is shown: their keys are not told apart")

    def _rank_by(self, grouping: Grouping) -> None:
        self._grouping = grouping
        self._parts_failed = False
        self._to_top = True
        self.refeed()
        self._show_ranking()

    def open_days(self) -> None:
        """Let the person type the days."""
        self.query_one("#activity-days", Prompt).open()

    def step_day(self, way: int) -> None:
        """Select the day before or after the selected one; the last day where none is."""
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
        self._narrow()
        self._show_ranking()
        self.refresh_frame()

    def _narrow(self) -> None:
        """Take the rows of the chosen days; days that are no longer kept are let go of."""
        chosen = self._chosen
        if chosen is not None and chosen.first not in self._days:
            chosen = self._chosen = None
        days = [day for day in self._days if chosen is None or day in chosen]
        self._rows = activity.within(self._every, days)

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
        """Draw and rank the next: spend, BYOK cost, requests, tokens."""
        self._measure = MEASURES[(MEASURES.index(self._measure) + 1) % len(MEASURES)]
        self._rank_by_measure()
        self._show_ranking()

    # Showing ----------------------------------------------------------------------------------

    def _show(self, state: FeedState[Activity]) -> None:
        days = activity.completed_days(self.now)
        if state.value is None or (state.value is self._found and days == self._days):
            return
        self._found = state.value
        self._days = days
        self._every = activity.within(state.value.rows, self._days)
        self._narrow()
        self._show_ranking()

    def _show_keys(self, state: FeedState[PartedActivity]) -> None:
        self._keys, self._parts_failed = state.value, state.error is not None
        self._show_ranking()

    def _show_users(self, state: FeedState[PartedActivity]) -> None:
        self._users, self._parts_failed = state.value, state.error is not None
        self._show_ranking()

    def _rank_by_measure(self) -> None:
        self._table.sort_by(self._measure, descending=True)

    def _show_ranking(self) -> None:
        if self._found is None:
            return
        self._ranking = self._ranked(self._found)
        self._table.show(self._ranking)
        if self._to_top and self._table.total_count:
            self._to_top = False
            self._table.to_first()
        self.query_one("#activity-totals", OneLine).show(
            totals_line(self._rows, self.app.size.width - _MARGINS)
        )
        self.query_one("#activity-grouping", OneLine).show(
            choice_line(
                "Ranked by", self._offered(), self._grouping, toned("   b switches", "muted")
            )
        )
        labels = [MEASURE_LABELS[measure] for measure in MEASURES]
        self.query_one("#activity-measure", OneLine).show(
            choice_line(
                "Each day's", labels, MEASURE_LABELS[self._measure], toned("   m switches", "muted")
            )
        )
        self._draw()

    def on_resize(self) -> None:
        """Other widths have room for other sums."""
        self._show_ranking()

    def _offered(self) -> list[Grouping]:
        return [one for one in GROUPINGS if self._of is None or one not in {"key", "user"}]

    def _ranked(self, found: Activity) -> Sequence[RankedGroup]:
        if self._grouping == "key":
            uses = None if self._keys is None else key_usage(self._keys, found)
        elif self._grouping == "user":
            uses = None if self._users is None else user_usage(self._users, found)
        else:
            uses = account_usage(found)
        return () if uses is None else ranked(uses, self._rows, (self._grouping,), self._measure)

    def _draw(self) -> None:
        """Each day's bar: the selected line of the ranking below, then those that lead it."""
        measure = self._measure
        stack = stack_bars(self._table.selected, self._ranking)
        wholes = activity.by_day(self._every, self._days, measure)
        bars = stack.bars(wholes, self._days, measure)
        chosen = self._chosen
        ends = None
        if chosen is not None:
            ends = self._days.index(chosen.first), self._days.index(chosen.last)
        days = chosen or (DayRange(self._days[0], self._days[-1]) if self._days else None)
        chart = Chart(bars, lambda amount: measure_text(measure, amount), ends, stack.looks)
        self.query_one(DrawingView).draw(chart)
        span = "" if days is None else f"{days} UTC"
        width = self.app.size.width - _MARGINS
        legend = stack.legend(span, width)
        self.query_one("#activity-legend", OneLine).show(legend)

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


def totals_line(rows: Sequence[ActivityRow], width: int) -> Content:
    """As many of the sums as there is room for."""
    line = Content("")
    for cell in total_cells(activity.summarize(rows)):
        longer = Content(" · ").join([line, cell_content(cell)] if line else [cell_content(cell)])
        if longer.cell_length > width:
            break
        line = longer
    return line


def left_out_notes(
    read: PartedActivity | None, part: str, *, failed: bool
) -> tuple[list[Content], list[Content]]:
    """What was left out of single keys or users, and how far the others are read."""
    noun, plural = ("key", "keys") if part == "key" else ("person", "people")
    if read is None:
        note = f"{plural} unreadable" if failed else f"reading {noun} by {noun}…"
        return [], [toned(note, "warn" if failed else "muted")]
    if not read.left_out:
        return [], []
    count = len(read.rows)
    which = "busiest" if part == "key" else "first"
    note = f"the {count:,} {which} of {count + read.left_out:,} {plural}"
    return [toned(f"{note}: {key_of('app.workspace')} narrows to a workspace", "warn")], []


@dataclass(frozen=True, slots=True)
class StackedBars:
    """Lines of the ranking that are told apart, from below, each with its style."""

    lines: tuple[tuple[RankedGroup, str], ...]

    @property
    def looks(self) -> tuple[str, ...]:
        """Their styles, from below."""
        return tuple(look for _, look in self.lines)

    def bars(
        self, wholes: Sequence[Decimal | None], days: Sequence[date], measure: Measure
    ) -> list[Bar]:
        """A bar for each day; ``wholes`` is what everything came to on it, None for unknown."""
        parts = [activity.by_day(one.rows, days, measure) for one, _ in self.lines]
        return [
            Bar(f"{day:%m-%d}", whole, tuple(part[at] or Decimal(0) for part in parts))
            for at, (day, whole) in enumerate(zip(days, wholes, strict=True))
        ]

    def legend(self, span: str, width: int) -> Content:
        """The days, and whose parts are told apart, in ``width`` cells.

        What stands before a slash in a name is left out, the longest are cut, down to a few
        letters; what finds no room even so is left out at the end.
        """
        line = toned(span, "plain")
        if not self.lines:
            return line
        names, looks = [cells.text(one.name).text for one, _ in self.lines], self.looks
        rest = Content.assemble(_APART, _legend_part(_OTHERS, REST))
        room = width - line.cell_length - rest.cell_length
        names = [name.rpartition("/")[2] for name in names][: room // (_SHORTEST + _SIGN)]
        widths = shared_widths(
            [cell_len(name) for name in names], room - _SIGN * len(names), _LONGEST
        )
        for name, cut, look in zip(names, widths, looks, strict=False):
            line = Content.assemble(line, _APART, _legend_part(fit(name, cut), look))
        return Content.assemble(line, rest)


def stack_bars(selected: RankedGroup | None, ranking: Sequence[RankedGroup]) -> StackedBars:
    """The selected line first, then the leading ones in the order of the ranking."""
    one = selected if selected is not None and selected.rows else None
    leading = [
        (other, look)
        for other, look in zip(ranking, SERIES, strict=False)
        if other.rows and (one is None or other.identity != one.identity)
    ]
    return StackedBars(tuple(leading if one is None else [(one, PICKED), *leading]))


def _legend_part(name: str, style: str) -> Content:
    return Content.assemble(Content.styled("█", style), " ", toned(name, "muted"))
