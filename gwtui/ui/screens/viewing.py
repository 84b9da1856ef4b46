"""A saved view in force on a list: its filter, order and columns instead of the list's own."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

from gwtui.resources.preferences import View
from gwtui.ui.screens.list_memory import chosen_columns
from gwtui.ui.widgets.prompt import FilterPrompt

if TYPE_CHECKING:
    from gwtui.crud.resource import ResourceSpec
    from gwtui.ui.screens.columns import ChosenColumns
    from gwtui.ui.screens.list_memory import ListMemory
    from gwtui.ui.widgets.table import ResourceTable


class ListScreen(Protocol):
    """A screen of a list, as a view needs it."""

    declared: ResourceSpec[Any]
    table: ResourceTable[Any]
    memory: ListMemory

    def query_one(self, selector: type[FilterPrompt], /) -> FilterPrompt:
        """The filter."""

    def refresh_frame(self) -> None:
        """Bring the status line up to date."""


class Viewing:
    """The view that a screen shows, None for none.

    While there is one, nothing is remembered of order and columns: they are the view's.
    """

    def __init__(self, screen: ListScreen) -> None:
        self._screen = screen
        self.view: View | None = None

    def show(self, view: View) -> None:
        """Show the list by this view."""
        screen = self._screen
        self.view = view
        screen.query_one(FilterPrompt).restore(view.filter)
        screen.table.filter_by(view.filter)
        column, descending = view.sort or screen.memory.sorting
        if any(one.id == column for one in screen.declared.columns):
            screen.table.sort_by(column, descending=descending)
        self.lay_columns()
        screen.refresh_frame()

    @property
    def standing(self) -> str:
        """The view in force, and whether its filter was changed since; "" for none."""
        if self.view is None:
            return ""
        same = self._screen.query_one(FilterPrompt).text == self.view.filter
        return f"view {self.view.name}{'' if same else ', another filter'}"

    def leave(self) -> bool:
        """Show the list as it is without a view; whether there was one."""
        view, self.view = self.view, None
        if view is None:
            return False
        screen = self._screen
        column, descending = screen.memory.sorting
        screen.table.sort_by(column, descending=descending)
        self.lay_columns()
        screen.refresh_frame()
        return True

    def lay_columns(self) -> None:
        """Show the columns of the view, else those that were chosen for the list."""
        screen = self._screen
        choice = screen.memory.columns
        if self.view is not None and self.view.columns is not None:
            widths = screen.memory.preferences.widths
            choice = chosen_columns(screen.declared, self.view.columns, widths)
        screen.table.choose_columns(choice)

    def chose(self, chosen: ChosenColumns) -> None:
        """A person chose columns: for the list, or for the view while there is one."""
        screen = self._screen
        if self.view is None:
            screen.memory.chose_columns(chosen.columns, chosen.widths)
            self.lay_columns()
        else:
            choice = chosen_columns(screen.declared, chosen.columns, chosen.widths)
            screen.table.choose_columns(choice)

    def in_force(self, name: str) -> View:
        """What is shown now, as a view; what is as the list has it by itself is not part of it."""
        screen = self._screen
        table, spec = screen.table, screen.declared
        shown = table.choice.shown
        columns = None if shown is None else tuple(spec.columns[one].id for one in shown)
        sort = None if table.sorting == spec.default_sort else table.sorting
        return View(name, spec.id, screen.query_one(FilterPrompt).text, sort, columns)
