"""The filter of a list while it is typed."""

from __future__ import annotations

from typing import Any

from gwtui.crud.filter_fields import suggested
from gwtui.crud.resource import ResourceSpec
from gwtui.domain.filter_completion import Suggestions
from gwtui.ui.screens.base import GatewayScreen
from gwtui.ui.widgets.filter_help import FilterHelp
from gwtui.ui.widgets.prompt import FilterInput, FilterPrompt
from gwtui.ui.widgets.table import ResourceTable


class Filtering:
    """Narrows the table of one screen, and fills the line above its filter."""

    def __init__(
        self, screen: GatewayScreen, table: ResourceTable[Any], spec: ResourceSpec[Any]
    ) -> None:
        self._screen = screen
        self._table = table
        self._spec = spec
        self._from_top = False
        """Whether the first row was selected when the filter was opened."""

    def open(self) -> None:
        """Let the person type."""
        prompt = self._screen.query_one(FilterPrompt)
        self._from_top = self._table.model.cursor in (None, 0)
        prompt.filter_input.suggest = self._suggestions
        prompt.open()
        self._screen.query_one(FilterHelp).display = True
        self._show()

    def typed(self, text: str) -> None:
        """Narrow the list."""
        self._table.filter_by(text)
        if self._from_top and text and isinstance(self._screen.focused, FilterInput):
            self._table.to_first()  # not the row that a half typed word happened to let through
        self._show()

    def explain(self) -> None:
        """Explain the language, or no longer."""
        if not self._screen.query_one(FilterHelp).explain():
            self._show()

    def _suggestions(self, before: str) -> Suggestions:
        """What can stand behind ``before``."""
        return suggested(self._spec, self._table.model.items, before, self._screen.now)

    def _show(self) -> None:
        """What can be typed next, or what is wrong with what was typed to its end."""
        table = self._table
        error = None if table.model.filter_unfinished else table.filter_error
        offered, taken = self._screen.query_one(FilterPrompt).filter_input.offered
        self._screen.query_one(FilterHelp).suggest(error or "", offered, taken)
