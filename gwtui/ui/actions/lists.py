"""Actions of every list that its screen does: filter, order, columns, marks, detail pane."""

from __future__ import annotations

from collections.abc import Mapping

from gwtui.ui.actions.context import Handler, on_screen
from gwtui.ui.screens.resource import ResourceScreen
from gwtui.ui.widgets.table.model import TableModel

IMMEDIATE: Mapping[str, Handler] = {
    "list.filter": on_screen(ResourceScreen, lambda screen: screen.filtering.open()),
    "list.sort_left": on_screen(ResourceScreen, lambda screen: screen.sort_beside(-1)),
    "list.sort_right": on_screen(ResourceScreen, lambda screen: screen.sort_beside(1)),
    "list.reverse": on_screen(ResourceScreen, lambda screen: screen.reverse_order()),
    "list.detail": on_screen(ResourceScreen, lambda screen: screen.detail.toggle()),
    "list.detail_wider": on_screen(ResourceScreen, lambda screen: screen.detail.widen(1)),
    "list.detail_narrower": on_screen(ResourceScreen, lambda screen: screen.detail.widen(-1)),
    "list.mark": on_screen(ResourceScreen, lambda screen: screen.table.action_toggle_mark()),
    "list.mark_range": on_screen(
        ResourceScreen, lambda screen: screen.table.change_marks(TableModel.mark_range)
    ),
    "list.mark_all": on_screen(
        ResourceScreen, lambda screen: screen.table.change_marks(TableModel.mark_visible)
    ),
    "list.invert_marks": on_screen(
        ResourceScreen, lambda screen: screen.table.change_marks(TableModel.invert_marks)
    ),
    "list.unmark": on_screen(
        ResourceScreen, lambda screen: screen.table.change_marks(TableModel.clear_marks)
    ),
}
HANDLERS: Mapping[str, Handler] = {
    "list.sort": on_screen(ResourceScreen, lambda screen: screen.choose_sort()),
    "list.columns": on_screen(ResourceScreen, lambda screen: screen.choose_columns()),
}
