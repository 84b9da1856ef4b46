"""The virtual table that draws every resource list."""

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
