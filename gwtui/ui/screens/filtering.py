"""The filter of a list while it is typed."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gwtui.crud.filter_fields import suggested
from gwtui.domain.filter_completion import Suggestions
from gwtui.ui.widgets.filter_help import FilterHelp
from gwtui.ui.widgets.prompt import FilterInput, FilterPrompt

if TYPE_CHECKING:
    from gwtui.ui.screens.resource import ResourceScreen


class Filtering:
    """Narrows the table of one screen, and fills the line above its filter."""

    def __init__(self, screen: ResourceScreen) -> None:
        self._screen = screen
        self._from_top = False
        """Whether the first row was selected when the filter was opened."""

    def open(self) -> None:
        """Let the person type."""
        prompt = self._screen.query_one(FilterPrompt)
        self._from_top = self._screen.table.model.cursor in (None, 0)
        prompt.filter_input.suggest = self._suggestions
        prompt.open()
        self._screen.query_one(FilterHelp).display = True
        self._show()

    def typed(self, text: str) -> None:
        """Narrow the list."""
        table = self._screen.table
        table.filter_by(text)
        if self._from_top and text and isinstance(self._screen.focused, FilterInput):
            table.to_first()  # not the row that a half typed word happened to let through
        self._show()

    def explain(self) -> None:
        """Explain the language, or no longer."""
        if not self._screen.query_one(FilterHelp).explain():
            self._show()

    def _suggestions(self, before: str) -> Suggestions:
        """What can stand behind ``before``."""
        screen = self._screen
        return suggested(screen.declared, screen.table.model.items, before, screen.now)

    def _show(self) -> None:
        """What can be typed next, or what is wrong with what was typed to its end."""
        table = self._screen.table
        error = None if table.filter_unfinished else table.filter_error
        offered, taken = self._screen.query_one(FilterPrompt).filter_input.offered
        self._screen.query_one(FilterHelp).suggest(error or "", offered, taken)
