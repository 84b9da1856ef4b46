"""The virtual table that every resource list is drawn with."""

from gwtui.ui.widgets.table.messages import (
    CountsChanged,
    Highlighted,
    Opened,
    SelectionLost,
    SortChanged,
)
from gwtui.ui.widgets.table.widget import ResourceTable

__all__ = [
    "CountsChanged",
    "Highlighted",
    "Opened",
    "ResourceTable",
    "SelectionLost",
    "SortChanged",
]
