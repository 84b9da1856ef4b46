"""Complete the rows of a list with further figures, and show them in the table.

Every row's figures are read where rows are few, else those of the rows in view: a list of hundreds
would ask the gateway for hundreds of figures that nobody looks at. Sorting and filtering need every
row's; then all of them are read, at the pace that their cost allows.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from gwtui.crud.resource import ResourceSpec, Scope
from gwtui.ui.subscriptions import FeedUse
from gwtui.watch.feed import FeedState

if TYPE_CHECKING:
    from gwtui.ui.widgets.table import ResourceTable
    from gwtui.watch.hub import FeedHub

T = TypeVar("T")

FEW = 15
"""Maximum number of rows that are completed even if they are not in view."""


class ListRows(Generic[T]):
    """Completes the rows of one screen and shows them in its table.

    ``shown`` is called after rows were shown.
    """

    def __init__(
        self, table: ResourceTable[T], spec: ResourceSpec[T], shown: Callable[[], None]
    ) -> None:
        self._table = table
        self._spec = spec
        self._shown = shown
        self.read: Sequence[T] | None = None
        """The rows as read; None before the first read."""
        self._partial = False
        """Whether these are the first pages of a long list."""
        self._followed: frozenset[str] | None = None
        """The rows that are completed one by one; empty for all at once, None at the start."""
        self._whole: Mapping[str, Any] | Any | None = None
        self._parts: dict[str, Any] = {}

    def by_identity(self) -> dict[str, T]:
        """The rows by identity."""
        return {self._spec.identity(row): row for row in self.read or ()}

    # What completes them ----------------------------------------------------------------------

    def follow_view(self, *, every: bool) -> bool:
        """Choose the rows to complete: all, or those in view. Returns whether they changed.

        ``every``: the filter or the sort order needs the figures of every row.
        """
        completion, table = self._spec.completion, self._table
        if completion is None or self.read is None:
            return False
        before, self._followed = self._followed, frozenset()
        if completion.one is not None and not every and len(self.read) > FEW:
            in_view = table.identities[table.top : table.top + table.lines]
            followed = {*in_view, table.selected_identity}
            self._followed = frozenset(self.by_identity().keys() & followed)
        return self._followed != before

    def uses(self, hub: FeedHub, scope: Scope) -> list[FeedUse]:
        """The feeds that complete the rows."""
        completion = self._spec.completion
        if completion is None or self._followed is None:
            return []
        if completion.one is None or not self._followed:
            return [(completion.feed(hub, scope), self._take_whole)]
        rows = {name: row for name, row in self.by_identity().items() if name in self._followed}
        feeds = {identity: completion.one(hub, row) for identity, row in rows.items()}
        return [
            (feed, partial(self._take_part, identity))
            for identity, feed in feeds.items()
            if feed is not None
        ]

    def _take_whole(self, state: FeedState[Any]) -> None:
        if state.value is not None and (state.value is not self._whole or self._parts):
            self._whole = state.value
            # What was read row by row is older now, or of rows that are gone.
            self._parts.clear()
            self._show()

    def _take_part(self, identity: str, state: FeedState[Any]) -> None:
        if state.value is not None and self._parts.get(identity) is not state.value:
            self._parts[identity] = state.value
            self._show()

    # Into the table ---------------------------------------------------------------------------

    def take(self, rows: Sequence[T], *, partial: bool = False) -> None:
        """Show new rows.

        While more come, ``partial``, a cursor on the first row stays on the first row, and one
        that was sent to the last row goes on to the last row of more.
        """
        grows, self._partial = self._partial or partial, partial
        if rows is not self.read:
            self.read = rows
            self._show(growing=grows)

    def _show(self, *, growing: bool = False) -> None:
        rows, completion, known = self.read, self._spec.completion, self._known
        if rows is None:
            return
        if completion is not None and known is not None:
            rows = [completion.complete(row, known) for row in rows]
        at_top = growing and self._table.model.cursor in (None, 0)
        at_end = growing and self._table.at_end
        self._table.show(rows)
        if at_end:
            self._table.to_last()
        elif at_top:
            self._table.to_first()
        self._shown()

    @property
    def _known(self) -> Any | None:
        """The data so far that completes the rows; None before the first."""
        return {**(self._whole or {}), **self._parts} if self._parts else self._whole
