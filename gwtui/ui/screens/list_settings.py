"""How a list is looked at: what is remembered of it, and the saved view that is in force."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from gwtui.crud.resource import ResourceSpec
from gwtui.domain.safe_text import safe_line
from gwtui.resources.preferences import DETAIL_WIDTHS, ListPreferences, View, sorting_text
from gwtui.resources.registry import in_sentence
from gwtui.ui.screens.base import GatewayScreen
from gwtui.ui.widgets.table import ResourceTable
from gwtui.ui.widgets.table.layout import ColumnChoice

if TYPE_CHECKING:
    from gwtui.local.toml_file import TomlValue
    from gwtui.ui.preference_store import PreferenceStore
    from gwtui.ui.screens.columns import ChosenColumns
    from gwtui.ui.screens.list_filter import ListFilter


_NAME = 40
_STEP = 5
"""Percent of the terminal by which the detail pane becomes wider or narrower at once."""


def chosen_columns(
    spec: ResourceSpec[Any], columns: tuple[str, ...] | None, widths: Mapping[str, int]
) -> ColumnChoice:
    """Columns and widths by id as the table wants them; what is no column of the list is left."""
    places = {column.id: index for index, column in enumerate(spec.columns)}
    shown = tuple(places[one] for one in columns or () if one in places)
    known = {places[one]: width for one, width in widths.items() if one in places}
    return ColumnChoice(shown or None, known)


class ListSettings:
    """What is remembered of one list: sorting, columns, widths, the detail pane."""

    def __init__(self, spec: ResourceSpec[Any], store: PreferenceStore) -> None:
        self._spec = spec
        self._store = store

    @property
    def preferences(self) -> ListPreferences:
        """What was chosen so far."""
        return self._store.preferences.of_list(self._spec.id)

    @property
    def sorting(self) -> tuple[str, bool]:
        """The column that rows are sorted by at first, and whether descending."""
        chosen = self.preferences.sort
        ids = {column.id for column in self._spec.columns}
        return chosen if chosen is not None and chosen[0] in ids else self._spec.default_sort

    @property
    def columns(self) -> ColumnChoice:
        """The columns that are shown."""
        chosen = self.preferences
        return chosen_columns(self._spec, chosen.columns, chosen.widths)

    def say_unknown(self) -> None:
        """Warn of preferences that name no column of the list."""
        chosen, ids = self.preferences, {column.id for column in self._spec.columns}
        sort = () if chosen.sort is None else (chosen.sort[0],)
        named = dict.fromkeys((*sort, *(chosen.columns or ()), *chosen.widths))
        unknown = [safe_line(one, _NAME) for one in named if one not in ids]
        if unknown:
            self._store.say(
                f"No column of {in_sentence(self._spec.title)}: {', '.join(unknown)}. "
                "gwtui config list says where it stands"
            )

    def sorted_by(self, column: str, descending: bool) -> None:
        """The order was changed."""
        usual = (column, descending) == self._spec.default_sort
        self._remember(sort=None if usual else sorting_text(column, descending))

    def chose_columns(self, columns: tuple[str, ...] | None, widths: Mapping[str, int]) -> None:
        """Other columns are shown, or other widths; None for the usual ones."""
        before = self.preferences.widths
        self._remember(columns=None if columns is None else list(columns))
        changes: dict[str, TomlValue | None] = {name: None for name in before if name not in widths}
        self._store.remember(
            {self._name("widths", name): width for name, width in {**changes, **widths}.items()}
        )

    def showed_detail(self, shown: bool) -> None:
        """The detail pane was shown or hidden where there is room for it."""
        self._remember(detail=None if shown else False)

    @property
    def detail_width(self) -> int | None:
        """Percent of the terminal that the detail pane takes; None for the usual width."""
        return self.preferences.detail_width

    def widen_detail(self, way: int, now: int) -> None:
        """The detail pane becomes wider (1) or narrower (-1) than the percentage ``now``."""
        width = round(now / _STEP) * _STEP + way * _STEP
        self._remember(detail_width=min(max(width, DETAIL_WIDTHS.start), DETAIL_WIDTHS[-1]))

    def _remember(self, **settings: TomlValue | None) -> None:
        self._store.remember({self._name(name): value for name, value in settings.items()})

    def _name(self, *parts: str) -> tuple[str, ...]:
        return ("lists", self._spec.id, *parts)


class ActiveView:
    """The view that a screen shows, None for none.

    While there is one, nothing is remembered of order and columns: they are the view's.
    """

    def __init__(
        self,
        screen: GatewayScreen,
        table: ResourceTable[Any],
        spec: ResourceSpec[Any],
        memory: ListSettings,
        filtering: ListFilter,
    ) -> None:
        self._filtering = filtering
        self._screen = screen
        self._table = table
        self._spec = spec
        self._settings = memory
        self.view: View | None = None

    async def show(self, view: View) -> None:
        """Show the list by this view."""
        screen = self._screen
        self.view = view
        await self._filtering.hold(view.filter)
        self._table.filter_by(view.filter)
        column, descending = view.sort or self._settings.sorting
        if any(one.id == column for one in self._spec.columns):
            self._table.sort_by(column, descending=descending)
        self.apply_columns()
        screen.refresh_frame()

    @property
    def label(self) -> str:
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
        column, descending = self._settings.sorting
        self._table.sort_by(column, descending=descending)
        self.apply_columns()
        screen.refresh_frame()
        return True

    def apply_columns(self) -> None:
        """Show the columns of the view, else those that were chosen for the list."""
        choice = self._settings.columns
        if self.view is not None and self.view.columns is not None:
            widths = self._settings.preferences.widths
            choice = chosen_columns(self._spec, self.view.columns, widths)
        self._table.choose_columns(choice)

    def choose_columns(self, chosen: ChosenColumns) -> None:
        """A person chose columns: for the list, or for the view while there is one."""
        if self.view is None:
            self._settings.chose_columns(chosen.columns, chosen.widths)
            self.apply_columns()
        else:
            choice = chosen_columns(self._spec, chosen.columns, chosen.widths)
            self._table.choose_columns(choice)

    def as_view(self, name: str) -> View:
        """What is shown now, as a view; what is as the list has it by itself is not part of it."""
        table, spec = self._table, self._spec
        shown = table.choice.shown
        columns = None if shown is None else tuple(spec.columns[one].id for one in shown)
        sort = None if table.sorting == spec.default_sort else table.sorting
        return View(name, spec.id, self._filtering.text, sort, columns)
