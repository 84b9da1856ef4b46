"""The saved settings of a list: sort order, columns, detail pane."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from gwtui.crud.resource import ResourceSpec
from gwtui.domain.safe_text import in_sentence, safe_line
from gwtui.resources.preferences import DETAIL_WIDTHS, ListPreferences, sorting_text

if TYPE_CHECKING:
    from gwtui.local.toml_file import TomlValue
    from gwtui.ui.preference_store import PreferenceStore


_NAME = 40
_STEP = 5
"""Step of the detail pane's width, in percent of the terminal."""


class ListSettings:
    """The saved settings of one list."""

    def __init__(self, spec: ResourceSpec[Any], store: PreferenceStore) -> None:
        self._spec = spec
        self._store = store

    @property
    def preferences(self) -> ListPreferences:
        """The saved preferences."""
        return self._store.preferences.of_list(self._spec.id)

    @property
    def sorting(self) -> tuple[str, bool]:
        """The initial sort column, and whether it is descending."""
        chosen = self.preferences.sort
        ids = {column.id for column in self._spec.columns}
        return chosen if chosen is not None and chosen[0] in ids else self._spec.default_sort

    @property
    def columns(self) -> tuple[int, ...] | None:
        """The indices of the chosen columns in order; None for the default."""
        ids = [column.id for column in self._spec.columns]
        return tuple(ids.index(one) for one in self.preferences.columns or () if one in ids) or None

    def say_unknown(self) -> None:
        """Warn of preferences with unknown columns."""
        chosen, ids = self.preferences, {column.id for column in self._spec.columns}
        sort = () if chosen.sort is None else (chosen.sort[0],)
        named = dict.fromkeys((*sort, *(chosen.columns or ())))
        unknown = [safe_line(one, _NAME) for one in named if one not in ids]
        if unknown:
            self._store.say(
                f"No column of {in_sentence(self._spec.title)}: {', '.join(unknown)}. "
                "gwtui config list shows the setting"
            )

    def sorted_by(self, column: str, descending: bool) -> None:
        """Save the sort order."""
        usual = (column, descending) == self._spec.default_sort
        self._remember(sort=None if usual else sorting_text(column, descending))

    def chose_columns(self, columns: Sequence[str]) -> None:
        """Save the columns; empty for the default."""
        self._remember(columns=list(columns) or None)

    def showed_detail(self, shown: bool) -> None:
        """Save whether the detail pane is shown."""
        self._remember(detail=None if shown else False)

    @property
    def detail_width(self) -> int | None:
        """Width of the detail pane in percent of the terminal; None for the default."""
        return self.preferences.detail_width

    def widen_detail(self, way: int, now: int) -> None:
        """Save a wider (1) or narrower (-1) detail pane than the percentage ``now``."""
        width = round(now / _STEP) * _STEP + way * _STEP
        self._remember(detail_width=min(max(width, DETAIL_WIDTHS.start), DETAIL_WIDTHS[-1]))

    def _remember(self, **settings: TomlValue | None) -> None:
        self._store.remember(
            {f"lists.{self._spec.id}.{name}": value for name, value in settings.items()}
        )
