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
from gwtui.crud.resource import Completion, Scope
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


class RowCompletion(Generic[T]):
    """Knows which further feeds a list needs now, and completes its rows with what they gave.

    Without a ``completion`` there are none, and rows stay as they are.
    """

    def __init__(self, completion: Completion[T] | None) -> None:
        self._completion = completion
        self._whole: Any | None = None
        self._parts: dict[str, Any] = {}
        self._made: tuple[Sequence[T], Any, Sequence[T]] = ((), None, ())

    def needs(self, rows: Mapping[str, T], in_view: Sequence[str], *, every: bool) -> Sequence[str]:
        """The rows to be read one by one, by identity; none where all are read at once.

        ``every`` says that what is asked of the list takes every row's figures.
        """
        completion = self._completion
        if completion is None or completion.one is None or every or len(rows) <= FEW:
            return ()
        return tuple(identity for identity in in_view if identity in rows)

    def uses(
        self, hub: FeedHub, scope: Scope, one_by_one: Mapping[str, T], changed: Any
    ) -> list[FeedUse]:
        """The feeds to watch; ``changed`` is called after one gave something new."""
        if self._completion is None:
            return []
        one = self._completion.one
        if one is None or not one_by_one:
            return [(self._completion.feed(hub, scope), partial(self._take, changed))]
        feeds = {identity: one(hub, row) for identity, row in one_by_one.items()}
        return [
            (feed, partial(self._take_part, identity, changed))
            for identity, feed in feeds.items()
            if feed is not None
        ]

    @property
    def known(self) -> Any | None:
        """What was read by now; None before anything was."""
        if self._parts:
            return {**(self._whole or {}), **self._parts}
        return self._whole

    def complete(self, rows: Sequence[T], known: Any | None) -> Sequence[T]:
        """The rows with what is ``known`` of them; the same rows with the same are not made anew.

        It may run in another thread, one call at a time.
        """
        completion = self._completion
        if completion is None or known is None:
            return rows
        of, by, made = self._made
        if of is not rows or by is not known:
            made = tuple(completion.complete(row, known) for row in rows)
            self._made = rows, known, made
        return made

    def _take(self, changed: Any, state: FeedState[Any]) -> None:
        if state.value is not None and (state.value is not self._whole or self._parts):
            self._whole = state.value
            # What was read row by row is older now, or of rows that are gone.
            self._parts.clear()
            changed()

    def _take_part(self, identity: str, changed: Any, state: FeedState[Any]) -> None:
        if state.value is not None and self._parts.get(identity) is not state.value:
            self._parts[identity] = state.value
            changed()


class RowLoader(Generic[T]):
    """Brings the rows of a list into its table, completed with what is known of them.

    A few are shown at once. Many are completed, compared and put in order in a thread,
    one list after the other; rows that a newer reading replaced meanwhile are skipped.
    ``shown`` is called after rows were shown.
    """

    def __init__(
        self,
        screen: GatewayScreen,
        table: ResourceTable[T],
        completing: RowCompletion[T],
        shown: Callable[[], None],
    ) -> None:
        self._screen = screen
        self._table = table
        self._row_completion = completing
        self._shown = shown
        self._next: Sequence[T] | None = None
        self._growing = False
        self._working = False

    @property
    def first(self) -> bool:
        """Whether rows are being prepared while none were ever shown."""
        return self._working and not self._table.total_count

    def show(self, rows: Sequence[T], *, growing: bool = False) -> None:
        """Show these rows as soon as they are prepared.

        While they are ``growing`` a cursor on the first row stays on the first row, and one that
        was sent to the last row goes on to the last row of more.
        """
        self._next = rows
        self._growing |= growing
        if self._working:
            return
        if len(rows) > LARGE_LIST:
            self._working = True
            self._screen.run_worker(self._show_all(), group="rows")
        else:
            self._next = None
            self._adopt(self._prepared(rows, self._row_completion.known))

    async def _show_all(self) -> None:
        try:
            while self._next is not None:
                rows, self._next = self._next, None
                work = partial(self._prepared, rows, self._row_completion.known)
                self._adopt(await run_by_size(work, len(rows), LARGE_LIST))
        finally:
            self._working = False
        self._screen.refresh_frame()

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

    def _prepared(self, rows: Sequence[T], known: Any | None) -> Prepared[T]:
        return self._table.prepare(self._row_completion.complete(rows, known))
