"""A saved view in force on a list: its filter, order and columns instead of the list's own."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from gwtui.crud.resource import ResourceSpec
from gwtui.resources.preferences import View
from gwtui.ui.screens.base import GatewayScreen
from gwtui.ui.screens.list_memory import ListMemory, chosen_columns
from gwtui.ui.widgets.table import ResourceTable

if TYPE_CHECKING:
    from gwtui.ui.screens.columns import ChosenColumns
    from gwtui.ui.screens.filtering import Filtering


class Viewing:
    """The view that a screen shows, None for none.

    While there is one, nothing is remembered of order and columns: they are the view's.
    """

    def __init__(
        self,
        screen: GatewayScreen,
        table: ResourceTable[Any],
        spec: ResourceSpec[Any],
        memory: ListMemory,
        filtering: Filtering,
    ) -> None:
        self._filtering = filtering
        self._screen = screen
        self._table = table
        self._spec = spec
        self._memory = memory
        self.view: View | None = None

    async def show(self, view: View) -> None:
        """Show the list by this view."""
        screen = self._screen
        self.view = view
        await self._filtering.hold(view.filter)
        self._table.filter_by(view.filter)
        column, descending = view.sort or self._memory.sorting
        if any(one.id == column for one in self._spec.columns):
            self._table.sort_by(column, descending=descending)
        self.lay_columns()
        screen.refresh_frame()

    @property
    def standing(self) -> str:
        """The view in force, and whether its filter was changed since; "" for none."""
        if self.view is None:
            return ""
        same = self._filtering.text == self.view.filter
        return f"view {self.view.name}{'' if same else ', another filter'}"

    def leave(self) -> bool:
        """Show the list as it is without a view; whether there was one."""
        view, self.view = self.view, None
        if view is None:
            return False
        screen = self._screen
        column, descending = self._memory.sorting
        self._table.sort_by(column, descending=descending)
        self.lay_columns()
        screen.refresh_frame()
        return True

    def lay_columns(self) -> None:
        """Show the columns of the view, else those that were chosen for the list."""
        choice = self._memory.columns
        if self.view is not None and self.view.columns is not None:
            widths = self._memory.preferences.widths
            choice = chosen_columns(self._spec, self.view.columns, widths)
        self._table.choose_columns(choice)

    def chose(self, chosen: ChosenColumns) -> None:
        """A person chose columns: for the list, or for the view while there is one."""
        if self.view is None:
            self._memory.chose_columns(chosen.columns, chosen.widths)
            self.lay_columns()
        else:
            choice = chosen_columns(self._spec, chosen.columns, chosen.widths)
            self._table.choose_columns(choice)

    def in_force(self, name: str) -> View:
        """What is shown now, as a view; what is as the list has it by itself is not part of it."""
        table, spec = self._table, self._spec
        shown = table.choice.shown
        columns = None if shown is None else tuple(spec.columns[one].id for one in shown)
        sort = None if table.sorting == spec.default_sort else table.sorting
        return View(name, spec.id, self._filtering.text, sort, columns)
