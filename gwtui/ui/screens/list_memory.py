"""What is remembered of how a list is looked at: its order, its columns, its detail pane."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from gwtui.domain.safe_text import safe_line
from gwtui.resources.preferences import DETAIL_WIDTHS, ListPreferences, sorting_text
from gwtui.ui.text import in_sentence
from gwtui.ui.widgets.table.layout import ColumnChoice

if TYPE_CHECKING:
    from gwtui.crud.resource import ResourceSpec
    from gwtui.local.toml_file import TomlValue
    from gwtui.ui.remembering import Remembering

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


class ListMemory:
    """The preferences of one list, in the terms of its screen."""

    def __init__(self, spec: ResourceSpec[Any], remembering: Remembering) -> None:
        self._spec = spec
        self._remembering = remembering

    @property
    def preferences(self) -> ListPreferences:
        """What was chosen so far."""
        return self._remembering.preferences.of_list(self._spec.id)

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
        """Say what was chosen and is no column of the list."""
        chosen, ids = self.preferences, {column.id for column in self._spec.columns}
        sort = () if chosen.sort is None else (chosen.sort[0],)
        named = dict.fromkeys((*sort, *(chosen.columns or ()), *chosen.widths))
        unknown = [safe_line(one, _NAME) for one in named if one not in ids]
        if unknown:
            self._remembering.say(
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
        self._remembering.remember(
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
        self._remembering.remember({self._name(name): value for name, value in settings.items()})

    def _name(self, *parts: str) -> tuple[str, ...]:
        return ("lists", self._spec.id, *parts)
