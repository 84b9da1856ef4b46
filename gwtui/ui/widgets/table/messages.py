"""The messages of the table to its screen. Every message names identities, never row numbers."""

from __future__ import annotations

from typing import TYPE_CHECKING

from textual.binding import Binding, BindingType
from textual.message import Message
from textual.widget import Widget

from gwtui.resources.frame_actions import TABLE_KEYS

if TYPE_CHECKING:
    from gwtui.ui.widgets.table.model import Lost


class TableMessage(Message):
    """Base of the messages; ``table`` is the sender."""

    def __init__(self, table: Widget) -> None:
        super().__init__()
        self.table = table

    @property
    def control(self) -> Widget:
        """The sender, for the selector of ``on``."""
        return self.table


class LatestMessage(TableMessage):
    """A message of which only the last of a burst matters."""

    def can_replace(self, message: Message) -> bool:
        """Whether it makes an earlier one needless."""
        return type(message) is type(self) and message.table is self.table


class Highlighted(LatestMessage, namespace="resource_table"):
    """The cursor is on another identity, or on none (None) because nothing is visible."""

    def __init__(self, table: Widget, identity: str | None) -> None:
        super().__init__(table)
        self.identity = identity


class Opened(TableMessage, namespace="resource_table"):
    """Enter, or a click on the selected row."""

    def __init__(self, table: Widget, identity: str) -> None:
        super().__init__(table)
        self.identity = identity


class SelectionLost(TableMessage, namespace="resource_table"):
    """The selected row vanished."""

    def __init__(self, table: Widget, lost: Lost) -> None:
        super().__init__(table)
        self.lost = lost


class SortChanged(TableMessage, namespace="resource_table"):
    """Rows are in another order."""

    def __init__(self, table: Widget, column: str, descending: bool) -> None:
        super().__init__(table)
        self.column = column
        self.descending = descending


class CountsChanged(LatestMessage, namespace="resource_table"):
    """Another number of visible rows, of all rows, of marked rows or of hidden columns."""

    def __init__(
        self, table: Widget, visible: int, total: int, marked: int, hidden_columns: int
    ) -> None:
        super().__init__(table)
        self.visible = visible
        self.total = total
        self.marked = marked
        self.hidden_columns = hidden_columns


BINDINGS: list[BindingType] = [
    Binding(keys, action, description, show=False, id=f"table.{action}")
    for keys, action, description in TABLE_KEYS
]
