"""The parts of a list screen: its rows, saved settings, filter, detail pane, and paths to rows."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, Generic, TypeVar, cast

from textual import on
from textual.timer import Timer
from textual.widgets import Input

from gwtui.crud.resource import ResourceSpec, Scope
from gwtui.domain.lookup import Lookup, lookup_path, nearest
from gwtui.domain.safe_text import in_sentence, safe_line
from gwtui.resources.preferences import ListPreferences, format_sort_order
from gwtui.ui.subscriptions import FeedUse
from gwtui.ui.text import toned
from gwtui.ui.widgets.detail import detail_lines
from gwtui.ui.widgets.lines import LinesView, OneLine
from gwtui.ui.widgets.prompt import FilterInput, Prompt, suggestion_line
from gwtui.ui.widgets.table import ResourceTable
from gwtui.watch.feed import FeedState

if TYPE_CHECKING:
    from gwtui.domain.filter_completion import Suggestions
    from gwtui.local.toml_file import TomlValue
    from gwtui.ui.preference_store import PreferenceStore
    from gwtui.ui.screens.resource import ResourceScreen
    from gwtui.watch.hub import FeedHub


T = TypeVar("T")

FEW = 15
"""Maximum number of rows in a list whose figures are read for all rows, in view or not."""


class ListRows(Generic[T]):
    """The rows of a list, completed with figures that take further requests.

    In a short list, the figures of all rows are read; in a long one, only those of the rows in
    view, to save hundreds of requests. A filter, or sorting by such a figure, needs the figures of
    all rows, so then all are read.

    ``shown`` is called after each update of the table.
    """

    def __init__(
        self, table: ResourceTable[T], spec: ResourceSpec[T], shown: Callable[[], None]
    ) -> None:
        self._table = table
        self._spec = spec
        self._shown = shown
        self.read: Sequence[T] | None = None
        """The rows as read, without these figures; None before the first read."""
        self._partial = False
        """Whether these rows are only the first pages of a long list."""
        self._followed: frozenset[str] | None = None
        """Identities of the rows whose figures are read one by one.

        Empty if the figures of all rows are read at once; None before the first choice.
        """
        self._known: Mapping[str, Any] | Any | None = None
        """The figures: one value for all rows, or a mapping by identity; None before the first."""

    def by_identity(self) -> dict[str, T]:
        """Return the rows by identity."""
        return {self._spec.identity(row): row for row in self.read or ()}

    # Figures ----------------------------------------------------------------------------------

    def follow_view(self, *, every: bool) -> bool:
        """Choose the rows whose figures are read; return whether the choice has changed.

        ``every`` chooses all rows; set it if the filter or the sort order needs all figures.
        """
        completion, table = self._spec.completion, self._table
        if completion is None or self.read is None:
            return False
        before, self._followed = self._followed, frozenset()
        if completion.row_feed is not None and not every and len(self.read) > FEW:
            in_view = table.model.order[table.top : table.top + table.lines]
            followed = {*in_view, table.selected_identity}
            self._followed = frozenset(self.by_identity().keys() & followed)
        return self._followed != before

    def uses(self, hub: FeedHub, scope: Scope) -> list[FeedUse]:
        """Return the feeds to watch for the figures of the chosen rows."""
        completion = self._spec.completion
        if completion is None or self._followed is None:
            return []
        if completion.row_feed is None or not self._followed:
            return [(completion.feed(hub, scope), self._take_whole)]
        rows = {name: row for name, row in self.by_identity().items() if name in self._followed}
        feeds = {identity: completion.row_feed(hub, row) for identity, row in rows.items()}
        return [
            (feed, partial(self._take_part, identity))
            for identity, feed in feeds.items()
            if feed is not None
        ]

    def _take_whole(self, state: FeedState[Any]) -> None:
        # Replaces figures that were read row by row: they are older.
        if state.value is not None and state.value is not self._known:
            self._known = state.value
            self._show()

    def _take_part(self, identity: str, state: FeedState[Any]) -> None:
        known = self._known or {}
        if state.value is not None and known.get(identity) is not state.value:
            self._known = {**known, identity: state.value}
            self._show()

    # Into the table ---------------------------------------------------------------------------

    def take(self, rows: Sequence[T], *, partial: bool = False) -> None:
        """Show new rows.

        ``partial`` means that more rows will follow. Meanwhile, a cursor on the first row stays on
        the first row, and a cursor that was sent to the last row moves on to the new last row.
        """
        grows, self._partial = self._partial or partial, partial
        if rows is not self.read:
            self.read = rows
            self._show(growing=grows)

    def _show(self, *, growing: bool = False) -> None:
        rows, completion = self.read, self._spec.completion
        if rows is None:
            return
        if completion is not None and self._known is not None:
            rows = [completion.complete(row, self._known) for row in rows]
        self._table.show(rows, keep_ends=growing)
        self._shown()


class ListSettings:
    """The saved settings of one list: sort order, columns, detail pane."""

    def __init__(self, spec: ResourceSpec[Any], store: PreferenceStore) -> None:
        self._spec = spec
        self._store = store

    @property
    def preferences(self) -> ListPreferences:
        """The saved preferences of the list."""
        return self._store.preferences.of_list(self._spec.id)

    @property
    def sorting(self) -> tuple[str, bool]:
        """The id of the initial sort column, and whether the order is descending."""
        chosen = self.preferences.sort
        ids = {column.id for column in self._spec.columns}
        return chosen if chosen is not None and chosen[0] in ids else self._spec.default_sort

    @property
    def columns(self) -> tuple[int, ...] | None:
        """Indices of the columns that the user chose, in order; None for the default."""
        ids = [column.id for column in self._spec.columns]
        return (
            tuple(ids.index(column) for column in self.preferences.columns or () if column in ids)
            or None
        )

    def save_sorting(self, column: str, descending: bool) -> None:
        """Save the sort order; the default order removes the setting."""
        usual = (column, descending) == self._spec.default_sort
        self._remember(sort=None if usual else format_sort_order(column, descending))

    def save_columns(self, columns: Sequence[str]) -> None:
        """Save the ids of the chosen columns; an empty sequence restores the default."""
        self._remember(columns=list(columns) or None)

    def save_detail(self, shown: bool) -> None:
        """Save whether the detail pane is shown."""
        self._remember(detail=None if shown else False)

    def _remember(self, **settings: TomlValue | None) -> None:
        self._store.remember(
            {f"lists.{self._spec.id}.{name}": value for name, value in settings.items()}
        )


class ListFilter(Prompt):
    """The prompt of a list's filter, below a line of suggestions; both are mounted when needed.

    The filter applies while the user types. Enter keeps it, Escape clears it.
    """

    FOCUS_KEYS = "Enter keeps the filter · Esc clears it · Tab completes"
    INPUT = FilterInput

    def __init__(self, screen: ResourceScreen) -> None:
        super().__init__("/", id="filter")
        self._list = screen
        self._help = OneLine(id="filter-help")
        self._from_top = False
        """Whether the cursor was on the first row when the filter was opened."""
        self._filter_input.suggest = self._suggestions

    @property
    def _filter_input(self) -> FilterInput:
        return cast("FilterInput", self.input)

    @property
    def text(self) -> str:
        """The filter text."""
        return self.input.value

    async def start(self) -> None:
        """Show the prompt with the current filter, and the suggestions."""
        if not self.is_mounted:
            await self._list.mount(self._help, self, after="#body")
        self._from_top = self._list.table.model.cursor in (None, 0)
        self.show()
        self._help.display = True
        self._suggest()

    def clear(self) -> bool:
        """Clear the filter and hide its prompt; return whether there was a filter."""
        filtered = bool(self.text)
        self.input.value = ""
        self.close()
        return filtered

    def reveal(self, identity: str) -> bool:
        """Select a row if it is visible; if not, clear the filter, without selecting the row.

        Returns whether a filter was cleared.
        """
        table = self._list.table
        if table.select(identity):
            return False
        cleared = self.clear()
        table.filter_by("")
        return cleared

    @on(Input.Changed)
    def _changed(self, event: Input.Changed) -> None:
        event.stop()
        table = self._list.table
        table.filter_by(event.value)
        if self._from_top and event.value and self.has_focus_within:
            table.to_first()  # a half-typed word may have moved the cursor to a chance match
        self._suggest()
        self._list.refresh_frame()

    def submit(self, text: str) -> None:
        """Keep the filter, or hide the prompt if ``text`` is empty, and focus the list."""
        if not text:
            self.clear()
        self._help.display = False
        self._list.focus_body()
        self._list.refresh_frame()

    def action_leave(self) -> None:
        """Clear the filter, and focus the list."""
        self.submit("")

    def _suggestions(self, before: str) -> Suggestions:
        from gwtui.crud.filter_fields import filter_completions  # noqa: PLC0415 - at the first use

        screen = self._list
        return filter_completions(screen.declared, screen.table.model.items, before, screen.now)

    def _suggest(self) -> None:
        self._help.show(suggestion_line(self._filter_input.suggestions))


BESIDE = 110
"""Terminal width in columns from which the detail pane is beside the list."""
_NARROWEST = 20
_REST = 0.12
"""Seconds without a cursor movement after which the pane follows; a held key repeats faster."""


class DetailPane(LinesView):
    """Shows the details of the selected row, from the top whenever another row is selected."""

    def __init__(self, screen: ResourceScreen, settings: ListSettings) -> None:
        super().__init__(id="detail")
        self._screen = screen
        self._settings = settings
        self.chosen: bool | None = None
        """Whether the user wants the pane; None lets width and settings decide."""
        self._resting: Timer | None = None
        """Timer since the last cursor movement; None if the cursor has rested long enough."""
        self._identity: str | None = None

    @property
    def shown(self) -> bool:
        """Whether the pane is shown."""
        if self.chosen is not None:
            return self.chosen
        return self._has_room and self._settings.preferences.detail is not False

    @property
    def alone(self) -> bool:
        """Whether the pane replaces the list, because both do not fit."""
        return self.shown and not self._has_room

    @property
    def _has_room(self) -> bool:
        return self._screen.app.size.width >= BESIDE

    def choose(self, shown: bool | None) -> None:
        """Show or hide the pane; None lets the terminal width and the settings decide."""
        self.chosen = shown
        self.place()

    def toggle(self) -> None:
        """Show or hide the pane; the choice is saved if the pane fits beside the list."""
        self.chosen = not self.shown
        if self._has_room:
            self._settings.save_detail(self.chosen)
        self.place()

    def place(self) -> None:
        """Show the pane beside the list or instead of it, or hide it (``shown``, ``alone``)."""
        screen = self._screen
        if not screen.is_mounted:
            return
        self.display = self.shown
        self.set_class(self.alone, "-alone")
        had_focus = screen.focused in (None, self, screen.table)
        screen.table.display = not self.alone
        if had_focus and screen.is_current:
            screen.focus_body()
        screen.call_after_refresh(self._show_selected)

    def on_resize(self) -> None:
        self._show_selected()

    def renew(self) -> None:
        """Show the details of the selected row again, unless the cursor is moving."""
        if self._resting is None:
            self._show_selected()

    def follow_cursor(self) -> None:
        """Show the details of a newly selected row, once the cursor rests."""
        if self._identity is None:  # the list just got its first row: no key was pressed
            self._show_selected()
            return
        if self._resting is None:
            self._show_selected()
        else:
            self._resting.stop()
        self._resting = self.set_timer(_REST, self._rested)

    def _rested(self) -> None:
        self._resting = None
        self._show_selected()

    def _show_selected(self) -> None:
        item, spec = self._screen.table.selected, self._screen.declared
        if not self.display or not self.size:
            return  # without a width the lines cannot be wrapped yet
        identity = None if item is None else spec.identity(item)
        if identity != self._identity:
            self._identity = identity
            self.scroll_to(0, 0, animate=False)
        if item is None:
            self.show([toned("No row selected", "muted")])
        else:
            room = max(_NARROWEST, self.scrollable_content_region.width)
            held_back = self._screen.gwtui.hold_reason_of
            self.show(detail_lines(spec, item, self._screen.now, room, held_back))


# Paths --------------------------------------------------------------------------------------------

_NAME = 60


class PathResolver:
    """Selects the row that ``path`` names in the list of ``screen``, or reports that it is missing.

    ``child`` is the id of the list to open from the row. A row only counts as missing if the list
    was read after the path was requested. Until the row is found, the selection does not change.
    """

    def __init__(self, screen: ResourceScreen, path: str, child: str | None) -> None:
        self._screen = screen
        self._spec = screen.declared
        self._path = path
        self._shown_path = f"“{safe_line(path, _NAME)}”"
        self._child = child
        self.active = True
        """Whether the list is still being read to find the row."""
        self._state = screen.states[0] if screen.states else None
        self._changed = asyncio.Event()
        # Without a connection the list has not been read, so the first rows will be fresh.
        resolving = self._resolve(is_fresh=screen.gwtui.session is None)
        screen.run_worker(resolving, group="path", exclusive=True)

    def look_in(self, state: FeedState[Any]) -> None:
        """Look for the row in a new state of the list."""
        self._state = state
        self._changed.set()

    async def _resolve(self, *, is_fresh: bool) -> None:
        """Look for the row, open it, or report that it is missing.

        ``is_fresh`` means that the list is read only after the path was requested.
        """
        state = await self._rows(is_fresh=is_fresh)
        self.active = False
        lookup = self._look_up(state.value)
        if lookup.rows:
            await self._open(lookup)
        elif await self._is_elsewhere():
            app = self._screen.gwtui
            scope, self._state = app.scope_name, None
            app.limit_to_workspace(None, None)
            app.say(f"{self._shown_path} is not in {scope}: showing all workspaces")
            await self._resolve(is_fresh=True)
        else:
            await self._miss(state)

    async def _rows(self, *, is_fresh: bool) -> FeedState[Sequence[Any]]:
        """Wait until the list contains the row, or was read after the path was requested.

        Returns the state of the list. If the list cannot be read, reports why and goes on waiting.
        """
        screen, failure = self._screen, None
        while True:
            state = self._state
            if state is not None and state.value is not None:
                if self._look_up(state.value).rows or (is_fresh and state.error is None):
                    return state
                if not is_fresh:
                    await screen.reread()  # the row may be new
                    is_fresh, self._state = True, screen.states[0] if screen.states else state
                    continue
                if state.error is not failure and state.error is not None:
                    self.active, failure = False, state.error
                    why = f"{self._spec.title} could not be read: {failure.message.rstrip('.')}"
                    named = f"gwtui looks for {self._shown_path} once it can be read"
                    screen.gwtui.say(f"{why}. {named}.", severity="warning")
            await self._changed.wait()
            self._changed.clear()

    def _look_up(self, rows: Sequence[Any] | None) -> Lookup[Any]:
        lookup = lookup_path(rows or (), self._path, self._spec.names(self._screen.now))
        opens = self._child is not None or self._spec.opens is not None
        # A path can only go on below a row that opens a list.
        return lookup if opens or not lookup.rest else Lookup(())

    async def _open(self, lookup: Lookup[Any]) -> None:
        screen, spec, app = self._screen, self._spec, self._screen.gwtui
        row, child = lookup.rows[0], self._child or self._spec.opens
        if lookup.found is None:
            count, child = len(lookup.rows), None
            plural = spec.plural or in_sentence(spec.title)
            app.say(f"{count} {plural} are called {self._shown_path}", severity="warning")
        identity = spec.identity(row)
        if screen.filtering.reveal(identity):
            app.say(f"Filter cleared: it hid {self._called(row)}")
        screen.show_row(identity, detail=self._child is None)
        if child is not None and app.navigation.screen is screen:
            name = spec.name(row) if self._child is not None else ""
            await self._open_child(identity, child, lookup.rest, name)

    async def _open_child(self, parent: str, child: str | None, rest: str, name: str = "") -> None:
        navigation = self._screen.gwtui.navigation
        await navigation.open_child(self._spec, parent, child, name=name)
        opened = navigation.screen
        if rest and opened is not None and opened is not self._screen:
            opened.resolve_path(rest)

    async def _is_elsewhere(self) -> bool:
        app = self._screen.gwtui
        if not self._spec.scoped or app.scope.workspace is None:
            return False
        everywhere = self._spec.feed(app.hub, Scope(parent=self._screen.parent_row))
        return bool(self._look_up((await everywhere.refresh()).value).rows)

    async def _miss(self, state: FeedState[Sequence[Any]]) -> None:
        screen, spec, parts = self._screen, self._spec, self._path.split("/")
        # The parent may exist without being listed: open the list below it by its id.
        if 0 < spec.opened_by_id < len(parts) and screen.gwtui.navigation.screen is screen:
            head, rest = parts[: spec.opened_by_id], parts[spec.opened_by_id :]
            await self._open_child("/".join(head), self._child, "/".join(rest))
            return
        row, names = screen.table.selected, spec.names(screen.now)
        alike = [safe_line(name, _NAME) for name in nearest(state.value or (), self._path, names)]
        missing = f"There is no {spec.singular} {self._shown_path}"
        unsure = " among those that could be read" if state.list_gaps else ""
        near = f"; there is {', '.join(alike)}" if alike else ""
        here = "" if row is None else f", the cursor is on {self._called(row)}"
        text = f"{missing}{unsure}{near}. The list is shown{here}."
        screen.gwtui.say(text, severity="warning")

    def _called(self, row: Any) -> str:
        return f"{self._spec.singular} “{self._spec.name(row)}”"
