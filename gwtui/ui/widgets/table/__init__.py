"""The virtual table that every resource list is drawn with."""

from gwtui.ui.widgets.table.widget import (
    CountsChanged,
    Highlighted,
    Opened,
    ResourceTable,
    SelectionLost,
    SortChanged,
)

__all__ = [
    "CountsChanged",
    "Highlighted",
    "Opened",
    "ResourceTable",
    "SelectionLost",
    "SortChanged",
]
