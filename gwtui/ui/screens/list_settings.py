"""What is remembered of a list: its sort order, its columns, its detail pane."""

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
"""Percent of the terminal by which the detail pane becomes wider or narrower at once."""


class ListSettings:
    """What is remembered of one list."""

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
    def columns(self) -> tuple[int, ...] | None:
        """The indices of the chosen columns in their order; None while nobody chose any."""
        ids = [column.id for column in self._spec.columns]
        return tuple(ids.index(one) for one in self.preferences.columns or () if one in ids) or None

    def say_unknown(self) -> None:
        """Warn of preferences that name no column of the list."""
        chosen, ids = self.preferences, {column.id for column in self._spec.columns}
        sort = () if chosen.sort is None else (chosen.sort[0],)
        named = dict.fromkeys((*sort, *(chosen.columns or ())))
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

    def chose_columns(self, columns: Sequence[str]) -> None:
        """Other columns are shown; empty for the usual ones."""
        self._remember(columns=list(columns) or None)

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
        self._store.remember(
            {f"lists.{self._spec.id}.{name}": value for name, value in settings.items()}
        )
