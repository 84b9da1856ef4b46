"""Rows of a list on their way into the table: completed with further figures, prepared in a thread.

Every row's figures are read where rows are few, else those of the rows in view: a list of hundreds
would ask the gateway for hundreds of figures that nobody looks at. Sorting and filtering need every
row's; then all of them are read, at the pace that their cost allows.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from gwtui.client.long_work import LARGE_LIST, run_by_size
from gwtui.crud.resource import ResourceSpec, Scope
from gwtui.ui.subscriptions import FeedUse
from gwtui.watch.feed import FeedState

if TYPE_CHECKING:
    from gwtui.ui.screens.base import GatewayScreen
    from gwtui.ui.widgets.table import ResourceTable
    from gwtui.ui.widgets.table.model import Prepared
    from gwtui.watch.hub import FeedHub

T = TypeVar("T")

FEW = 15
"""Rows whose figures are all read, in view or not."""


class ListRows(Generic[T]):
    """Completes the rows that were read and brings them into the table of one screen.

    A few are shown at once. Many are completed, compared and put in order in a thread, one list
    after the other; rows that a newer reading replaced meanwhile are skipped. ``shown`` is called
    after rows were shown.
    """

    def __init__(
        self,
        screen: GatewayScreen,
        table: ResourceTable[T],
        spec: ResourceSpec[T],
        shown: Callable[[], None],
    ) -> None:
        self._screen = screen
        self._table = table
        self._spec = spec
        self._shown = shown
        self.read: Sequence[T] | None = None
        """The rows as they were read; None before the first reading."""
        self._partial = False
        """Whether these are the first of a longer reading."""
        self._followed: frozenset[str] | None = None
        """The rows that are completed one by one, empty for all at once; None before the first."""
        self._whole: Mapping[str, Any] | Any | None = None
        self._parts: dict[str, Any] = {}
        self._next: Sequence[T] | None = None
        self._growing = False
        self._working = False

    @property
    def loading(self) -> bool:
        """Whether the first rows were read and are still being prepared."""
        return self._working and not self._table.total_count

    def by_identity(self) -> dict[str, T]:
        """The rows that were read."""
        return {self._spec.identity(row): row for row in self.read or ()}

    # What completes them ----------------------------------------------------------------------

    def follow_view(self, *, every: bool) -> bool:
        """Choose the rows to complete: all, or those in view; whether these are others now.

        ``every`` says that the filter or the order takes every row's figures.
        """
        completion, table = self._spec.completion, self._table
        if completion is None or self.read is None:
            return False
        before, self._followed = self._followed, frozenset()
        if completion.one is not None and not every and len(self.read) > FEW:
            in_view = table.identities[table.top : table.top + table.lines]
            wanted = {*in_view, table.selected_identity}
            self._followed = frozenset(self.by_identity().keys() & wanted)
        return self._followed != before

    def uses(self, hub: FeedHub, scope: Scope) -> list[FeedUse]:
        """The feeds to watch for what completes the rows."""
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
        """Show rows that were read as soon as they are prepared.

        While more come, ``partial``, a cursor on the first row stays on the first row, and one
        that was sent to the last row goes on to the last row of more.
        """
        grows, self._partial = self._partial or partial, partial
        if rows is not self.read:
            self.read = rows
            self._growing |= grows
            self._show()

    def _show(self) -> None:
        if self.read is None:
            return
        self._next = self.read
        if self._working:
            return
        if len(self.read) > LARGE_LIST:
            self._working = True
            self._screen.run_worker(self._show_all(), group="rows")
        else:
            self._adopt(self._prepared(self._taken(), self._known))

    async def _show_all(self) -> None:
        try:
            while self._next is not None:
                rows = self._taken()
                work = partial(self._prepared, rows, self._known)
                self._adopt(await run_by_size(work, len(rows), LARGE_LIST))
        finally:
            self._working = False
        self._screen.refresh_frame()

    def _taken(self) -> Sequence[T]:
        rows, self._next = self._next or (), None
        return rows

    def _adopt(self, prepared: Prepared[T]) -> None:
        at_top = self._growing and self._table.model.cursor in (None, 0)
        at_end = self._growing and self._table.at_end
        self._growing = self._growing and self._next is not None
        self._table.adopt(prepared)
        if at_end:
            self._table.to_last()
        elif at_top:
            self._table.to_first()
        self._shown()

    @property
    def _known(self) -> Any | None:
        """What was read by now of what completes the rows; None before anything was."""
        return {**(self._whole or {}), **self._parts} if self._parts else self._whole

    def _prepared(self, rows: Sequence[T], known: Any | None) -> Prepared[T]:
        """The rows with what is ``known`` of them. It may run in another thread."""
        completion = self._spec.completion
        if completion is not None and known is not None:
            rows = [completion.complete(row, known) for row in rows]
        return self._table.prepare(rows)
