"""The screen with list and detail pane that every declared resource uses."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any

from textual import events, on
from textual.app import ComposeResult
from textual.containers import Horizontal
from textual.content import Content

from gwtui.crud.action import COPY, LIST
from gwtui.crud.resource import ResourceSpec, Scope
from gwtui.domain.safe_text import in_sentence, safe_text
from gwtui.ui.screens.base import TableScreen
from gwtui.ui.screens.list_parts import (
    DetailPane,
    ListFilter,
    ListRows,
    ListSettings,
    PathResolver,
)
from gwtui.ui.subscriptions import FeedUse
from gwtui.ui.text import toned
from gwtui.ui.widgets.table import ResourceTable, SelectionLost
from gwtui.watch.feed import FeedState

if TYPE_CHECKING:
    from gwtui.resources.copying import CopySource
    from gwtui.ui.actions.context import ActionContext
    from gwtui.watch.hub import FeedHub

_TICK = timedelta(seconds=15)
_SEEN = timedelta(seconds=1)
"""Time after which keys act on the first part of a list whose other rows are still being read."""


class ResourceScreen(TableScreen):
    """List, detail pane, filter and sort order of a resource, from its ResourceSpec."""

    opens = "list.open"

    def __init__(self, spec: ResourceSpec[Any], **opened_by: Any) -> None:
        super().__init__(
            spec.id, title=spec.title, extra_scopes=(LIST, COPY), spec=spec, **opened_by
        )
        self.declared = spec
        self._rows_of: Scope | None = None
        """The scope that the shown rows belong to."""
        self._pending_row: str | None = None
        self._path_resolver: PathResolver | None = None
        """Resolver of the path that was requested last."""
        self._grows_since: datetime | None = None
        """When the first part of a long list was shown; None for a complete list."""
        self._ticked: datetime | None = None
        self.table = ResourceTable(
            spec.columns, spec.identity, self.gwtui.clock.now, facets=spec.facets, can_mark=True
        )
        self.settings = ListSettings(spec, self.gwtui.preference_store)
        self.detail = DetailPane(self, self.settings)
        self.filtering = ListFilter(self)
        self.table.choose_columns(self.settings.columns)
        self.rows = ListRows(self.table, spec, self._shown)

    # Hooks of the frame -----------------------------------------------------------------------

    def compose_body(self) -> ComposeResult:
        with Horizontal(id="split"):
            yield self.table
            yield self.detail

    def feeds(self, hub: FeedHub) -> Sequence[FeedUse]:
        scope = replace(self.gwtui.scope, parent=self.parent_row)
        return [(self.declared.feed(hub, scope), self._show), *self.rows.uses(hub, scope)]

    def deciding_state(self) -> FeedState[Any] | None:
        """Return the state of the first feed, or "loading" until its rows are in the table."""
        state = super().deciding_state()
        unseen = self.rows.read is None
        if state is not None and state.shown is not None and unseen:
            return FeedState()
        return state

    def empty_text(self) -> str | None:
        """Return the text for a list without rows, or without rows that match the filter."""
        if self.table.visible_count:
            return None
        if not self.table.model.total:
            return self.declared.empty
        only = self.gwtui.scope_name if self.declared.scoped else None
        limited = f" Only {safe_text(only, 40)} is listed; {{app.workspace}} changes the workspace."
        return "{app.back} clears the filter." + ("" if only is None else limited)

    def empty_title(self) -> str:
        """Return the title for an empty list, or for a filter without matches."""
        if self.table.model.total:
            return f"No {self.declared.singular} matches the filter"
        return f"No {_noun(self.declared, 0)} here"

    def status_parts(self) -> Sequence[Content]:
        if not self.states or self.states[0].shown is None:
            return ()
        only = self.gwtui.scope_name if self.declared.scoped else None
        progress, typing = self.states[0].progress, self.filtering.has_focus_within
        parts = _status_text(self.table, self.declared, only, typing=typing, growing=bool(progress))
        return [toned(progress, "warn"), *parts] if progress else parts

    def tick(self, now: datetime) -> None:
        """Update cells that depend on the time, every 15 seconds."""
        self._follow_view()
        if self._ticked is not None and now - self._ticked < _TICK:
            return
        self._ticked = now
        self.table.tick()
        self.detail.renew()

    def copy_source(self) -> CopySource[Any]:
        from gwtui.resources.copying import declared, row_path  # noqa: PLC0415 - when asked for

        return declared(self.declared, row_path(self.resource, self.parent_row))

    def focus_body(self) -> None:
        self.set_focus(self.table if self.table.display else self.detail)

    def open_detail(self) -> None:
        """Show and focus the detail pane."""
        if not self.detail.shown:
            self.detail.toggle()
        self.set_focus(self.detail)

    def go_back(self) -> bool:
        """Leave the detail pane if it has the focus or covers the list; if not, clear the filter.

        Returns False if there was nothing to leave or clear.
        """
        if self.detail.alone:
            self.detail.choose(None)
            return True
        if self.focused is self.detail:
            self.set_focus(self.table)
            return True
        return self.filtering.clear()

    def capture(self) -> ActionContext:
        """Return the context for an action that starts now, with the marked rows in table order."""
        table = self.table
        marked = tuple(table.model[identity] for identity in table.model.marked)
        return replace(super().capture(), marked=marked, hidden=table.model.hidden_marks)

    @property
    def is_loading(self) -> bool:
        """Whether rows that an action may need are not loaded yet.

        Such rows are the first rows, a row that is to be selected, and rows that the filter has
        not searched yet. A long list counts as loaded once its first part has been visible for a
        moment.
        """
        states = self.states[:1]
        was_visible = self._grows_since is not None and self.now - self._grows_since >= _SEEN
        first = not was_visible and super().is_loading
        pending = self._pending_row is not None and any(state.refreshing for state in states)
        resolving = self._path_resolver is not None and self._path_resolver.active and bool(states)
        return first or pending or resolving or self.table.model.provisional

    # What actions do --------------------------------------------------------------------------

    def show_row(self, identity: str, *, detail: bool = True) -> None:
        """Select a row as soon as it appears, and show its details unless it opens a list."""
        self._pending_row = identity
        self._select_pending_row()
        if detail and self.declared.opens is None:
            self.detail.choose(True)

    def resolve_path(self, path: str, child: str | None = None) -> None:
        """Show the row that ``path`` names or open its list, or report why that fails."""
        self._path_resolver = PathResolver(self, path, child)

    # Actions of every list --------------------------------------------------------------------

    async def choose_sort(self) -> None:
        """Let the user choose the sort column; choosing the current column reverses the order."""
        from gwtui.crud.fields import PickOption  # noqa: PLC0415 - when asked for
        from gwtui.ui.screens.picker import Picker  # noqa: PLC0415 - when asked for

        spec, (present, descending) = self.declared, self.table.model.sorting
        sign = "▼" if descending else "▲"
        choices = [
            PickOption(c.id, f"{c.title} {sign}" if c.id == present else c.title, c.help)
            for c in spec.columns
        ]
        chosen = await self.gwtui.push_screen_wait(
            Picker(f"Sort {in_sentence(spec.title)} by", choices, current=present)
        )
        for picked in spec.columns:
            if picked.id == chosen:
                self.table.sort_by(*picked.order_after(self.table.model.sorting))

    def reverse_order(self) -> None:
        """Reverse the sort order."""
        column, descending = self.table.model.sorting
        self.table.sort_by(column, descending=not descending)

    async def choose_columns(self) -> None:
        """Let the user choose the visible columns and their order."""
        from gwtui.ui.screens.picker import ColumnsScreen  # noqa: PLC0415 - when asked for

        spec, table = self.declared, self.table
        chosen = await self.gwtui.push_screen_wait(
            ColumnsScreen(f"Columns of {spec.title}", spec.columns, table.choice, table.shape.width)
        )
        if chosen is not None:
            self.settings.save_columns(chosen)
            table.choose_columns(self.settings.columns)

    # Messages ---------------------------------------------------------------------------------

    @on(events.Mount)
    def _begin(self) -> None:
        column, descending = self.settings.sorting
        self.table.sort_by(column, descending=descending)
        self.detail.place()

    def on_resize(self, _event: events.Resize) -> None:
        self.detail.place()

    def _show(self, state: FeedState[Any]) -> None:
        if state.shown is not None:
            first = self.rows.read is None
            if state.progress and self._grows_since is None:
                self._grows_since = self.now
            self._expect_narrowed(state.shown)
            self.rows.take(state.shown, partial=bool(state.progress))
            if first:  # further figures are read once the rows are painted
                self.call_after_refresh(self._follow_view)
            else:
                self._follow_view()
        if self._path_resolver is not None:
            self._path_resolver.look_in(state)

    def _expect_narrowed(self, rows: Sequence[Any]) -> None:
        # No notice for a row that disappears because the user changed the workspace.
        before, self._rows_of = self._rows_of, self.gwtui.scope
        selected = self.table.selected_identity
        if before not in (None, self._rows_of) and selected:
            self.expect_gone({selected} - {self.declared.identity(row) for row in rows})

    def _shown(self) -> None:
        self._select_pending_row()
        self.detail.renew()

    def _follow_view(self) -> None:
        completion = self.declared.completion
        sorted_by = self.table.model.sorting[0]
        every = completion is not None and sorted_by in completion.columns
        if self.rows.follow_view(every=every or bool(self.filtering.text)):
            self.refeed()

    def on_resource_table_highlighted(self) -> None:
        self.detail.follow_cursor()

    def on_resource_table_selection_lost(self, message: SelectionLost) -> None:
        """Report that the selected row no longer exists, unless gwtui removed it."""
        lost = message.lost
        if lost.identity in self.expected_gone:
            self.expected_gone.discard(lost.identity)
        elif lost.reason == "deleted":
            self.gwtui.say(f"The selected {self.declared.singular} is no longer in the list")

    def on_resource_table_sort_changed(self) -> None:
        self.settings.save_sorting(*self.table.model.sorting)
        self.refresh_frame()

    def on_resource_table_counts_changed(self) -> None:
        self.refresh_frame()

    # Inside -----------------------------------------------------------------------------------

    def _select_pending_row(self) -> None:
        if self._pending_row is not None and self.table.select(self._pending_row):
            self._pending_row = None


def _status_text(
    table: ResourceTable[Any],
    spec: ResourceSpec[Any],
    only: str | None,
    *,
    typing: bool,
    growing: bool,
) -> list[Content]:
    """Return the parts of the status line.

    ``only`` is the name of the workspace that the list is limited to, None for all. ``typing``: the
    filter is being typed. ``growing``: more rows are still being read.
    """
    shown, total = table.visible_count, table.model.total
    parts: list[Content] = []
    if table.model.filter_error is not None:
        parts.append(toned(table.model.filter_error, "muted" if typing else "bad"))
    elif table.model.unknown_columns:
        names = ", ".join(safe_text(name, 20) for name in table.model.unknown_columns)
        parts.append(toned(f"no column {names}: searched as text", "warn"))
    if only is not None:
        parts.append(toned(f"only {only}", "accent"))
    count = f"{shown:,} of {total:,}" if shown != total else f"{total:,}"
    noun = _noun(spec, total)
    parts.append(toned(f"{count} {noun} shown" if growing else f"{count} {noun}"))
    if table.model.marked:
        hidden = f" ({table.model.hidden_marks} hidden)" if table.model.hidden_marks else ""
        parts.append(toned(f"{len(table.model.marked):,} marked{hidden}", "accent"))
    parts.append(toned(f"by {_sorted_by(table, spec)}", "muted"))
    return parts


def _noun(spec: ResourceSpec[Any], count: int) -> str:
    return spec.singular if count == 1 else spec.plural or in_sentence(spec.title)


def _sorted_by(table: ResourceTable[Any], spec: ResourceSpec[Any]) -> str:
    column, descending = table.model.sorting
    title = next((c.title for c in spec.columns if c.id == column), column)
    return f"{in_sentence(title)} {'▼' if descending else '▲'}"
