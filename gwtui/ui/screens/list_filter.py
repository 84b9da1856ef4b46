"""The filter of a list: its prompt, the matching rows, and the line that explains it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from gwtui.crud.resource import ResourceSpec
from gwtui.ui.screens.base import GatewayScreen
from gwtui.ui.text import toned
from gwtui.ui.widgets.lines import OneLine
from gwtui.ui.widgets.prompt import LANGUAGE, FilterPrompt, suggestion_line
from gwtui.ui.widgets.table import ResourceTable

if TYPE_CHECKING:
    from gwtui.domain.filter_completion import Suggestions


class ListFilter:
    """Filters the table of one screen, and fills the line above the prompt.

    Both lines are created when the filter is first opened.
    """

    def __init__(
        self, screen: GatewayScreen, table: ResourceTable[Any], spec: ResourceSpec[Any]
    ) -> None:
        self._screen = screen
        self._table = table
        self._spec = spec
        self._lines: tuple[OneLine, FilterPrompt] | None = None
        self._explains = False
        """Whether the line explains the filter syntax."""
        self._from_top = False
        """Whether the first row was selected when the filter was opened."""

    @property
    def text(self) -> str:
        """The typed filter."""
        return "" if self._lines is None else self._lines[1].text

    @property
    def typing(self) -> bool:
        """Whether the prompt has the focus."""
        return self._lines is not None and self._lines[1].has_focus_within

    async def open(self) -> None:
        """Open the prompt."""
        explaining, prompt = await self._made()
        self._from_top = self._table.model.cursor in (None, 0)
        prompt.filter_input.suggest = self._suggestions
        prompt.show()
        explaining.display = True
        self._show()

    def clear(self) -> bool:
        """Remove the filter and its lines; returns whether there was one."""
        filtered = bool(self.text)
        if self._lines is not None:
            self._lines[1].clear()
        return filtered

    def reveal(self, identity: str) -> bool:
        """Select a row; clears the filter if it hides the row, and returns whether it did."""
        if self._table.select(identity):
            return False
        cleared = self.clear()
        self._table.filter_by("")
        return cleared

    def typed(self, text: str) -> None:
        """Filter the list."""
        self._table.filter_by(text)
        if self._from_top and text and self.typing:
            self._table.to_first()  # not the row that a half typed word happened to let through
        self._show()

    def closed(self) -> None:
        """Return the focus to the list."""
        if self._lines is not None:
            self._lines[0].display = False

    def explain(self) -> None:
        """Toggle the explanation of the filter syntax."""
        explains = not self._explains
        self._show()
        if explains and self._lines is not None:
            self._explains = True
            self._lines[0].show(toned(f"   {LANGUAGE}", "muted"))

    async def _made(self) -> tuple[OneLine, FilterPrompt]:
        if self._lines is None:
            self._lines = OneLine(id="filter-help"), FilterPrompt("/", id="filter")
            await self._screen.mount(*self._lines, after="#body")
        return self._lines

    def _suggestions(self, before: str) -> Suggestions:
        """Completions for the text ``before`` the cursor."""
        from gwtui.crud.filter_fields import suggested  # noqa: PLC0415 - at the first use

        return suggested(self._spec, self._table.model.items, before, self._screen.now)

    def _show(self) -> None:
        """Show completions, or the error of a finished condition."""
        if self._lines is None:
            return
        table = self._table
        error = None if table.model.filter_unfinished else table.filter_error
        explaining, prompt = self._lines
        explaining.show(suggestion_line(error or "", *prompt.filter_input.offered))
        self._explains = False
