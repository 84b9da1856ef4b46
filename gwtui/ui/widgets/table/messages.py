"""The messages of the table to its screen. Every message names identities, never row numbers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from textual.binding import Binding, BindingType
from textual.message import Message
from textual.widget import Widget

from gwtui.resources.actions import TABLE_KEYS

if TYPE_CHECKING:
    from gwtui.ui.widgets.table.model import Lost


@dataclass
class TableMessage(Message):
    """Base of the messages; ``table`` is the sender."""

    table: Widget

    @property
    def control(self) -> Widget:
        """The sender, for the selector of ``on``."""
        return self.table


class LatestMessage(TableMessage):
    """A message that replaces an earlier one of its kind which was not handled yet."""

    def can_replace(self, message: Message) -> bool:
        """Whether this replaces an earlier message."""
        return type(message) is type(self) and message.table is self.table


@dataclass
class Highlighted(LatestMessage, namespace="resource_table"):
    """The cursor is on another identity, or on none (None) because nothing is visible."""

    identity: str | None


@dataclass
class Opened(TableMessage, namespace="resource_table"):
    """The person pressed Enter on the selected row, or clicked it."""

    identity: str


@dataclass
class SelectionLost(TableMessage, namespace="resource_table"):
    """The selected row vanished."""

    lost: Lost


@dataclass
class SortChanged(TableMessage, namespace="resource_table"):
    """The rows are in another order."""

    column: str
    descending: bool


@dataclass
class CountsChanged(LatestMessage, namespace="resource_table"):
    """The number of visible rows, all rows, marked rows or hidden columns has changed."""

    visible: int
    total: int
    marked: int
    hidden_columns: int


BINDINGS: list[BindingType] = [
    Binding(keys, action, description, show=False, id=f"table.{action}")
    for keys, action, description in TABLE_KEYS
]
