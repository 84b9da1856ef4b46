"""Marking rows of a table: one, a range, all that are listed. Marks belong to identities."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Generic, TypeVar

from gwtui.ui.widgets.table.view import TableView

T = TypeVar("T")


class MarkingView(TableView[T], Generic[T]):
    """A table view whose rows can be marked where ``can_mark`` says so."""

    can_mark = False
    _range_start: str | None = None
    """The row that was marked last: where a range begins."""

    def _step(self, rows: int) -> None:
        """Move the cursor."""
        raise NotImplementedError

    def _moved(self) -> None:
        """Show where the cursor is, and what is marked."""
        raise NotImplementedError

    @property
    def marked(self) -> tuple[str, ...]:
        """Identities of the marked rows in the present order, hidden ones included."""
        return self.model.marked

    @property
    def marked_items(self) -> list[T]:
        """The marked rows themselves, in that order."""
        return self.model.marked_items

    @property
    def mark_count(self) -> int:
        """How many rows are marked."""
        return len(self.model.marks)

    @property
    def hidden_marks(self) -> int:
        """How many marked rows the filter does not show."""
        return self.model.hidden_marks

    def clear_marks(self) -> None:
        """Take every mark away, those of hidden rows included."""
        self.model.marks.clear()
        self._range_start = None
        self._moved()

    def action_toggle_mark(self) -> None:
        """Mark the selected row or take its mark away, and go on to the next."""
        if self.can_mark and (identity := self.model.selected_identity) is not None:
            self.model.toggle_mark(identity)
            self._range_start = identity
            self._step(1)

    def action_mark_down(self) -> None:
        """Mark the selected row and the one below, and go there."""
        self._mark_on(1)

    def action_mark_up(self) -> None:
        """Mark the selected row and the one above, and go there."""
        self._mark_on(-1)

    def _mark_on(self, step: int) -> None:
        before = self.model.selected_identity
        if self.can_mark and before is not None:
            self._step(step)
            self._range_start = before if self._range_start is None else self._range_start
            self.model.mark_range(before, self.model.selected_identity or before)
            self._moved()

    def mark_range(self) -> None:
        """Mark the rows from the one that was marked last to the selected one."""
        if self.can_mark and (identity := self.model.selected_identity) is not None:
            self.model.mark_range(self._range_start, identity)
            self._range_start = identity
            self._moved()

    def mark_visible(self) -> None:
        """Mark every row that the filter lets through."""
        if self.can_mark:
            self.model.mark_visible()
            self._moved()

    def invert_marks(self) -> None:
        """Mark the visible rows that are not marked, and take the marks of the others away."""
        if self.can_mark:
            self.model.invert_marks()
            self._moved()

    def unmark(self, identities: Iterable[str]) -> None:
        """Take the marks of these rows away."""
        self.model.marks.difference_update(identities)
        self._moved()
