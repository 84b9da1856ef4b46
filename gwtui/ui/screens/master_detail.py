"""The detail pane of a list: whether it is shown, beside the table or instead, with which row."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from textual.timer import Timer

from gwtui.crud.resource import ResourceSpec
from gwtui.ui.screens.base import GatewayScreen
from gwtui.ui.screens.list_settings import ListSettings
from gwtui.ui.widgets.detail import DetailPane
from gwtui.ui.widgets.table import ResourceTable

BESIDE = 110
"""From this width on the detail pane stands beside the list."""
_REST = 0.12
"""Seconds without another row before the detail follows again: a held key repeats faster."""


class MasterDetail:
    """Shows the selected row of one screen's table beside the table, or instead of it."""

    def __init__(
        self,
        screen: GatewayScreen,
        table: ResourceTable[Any],
        spec: ResourceSpec[Any],
        memory: ListSettings,
    ) -> None:
        self._screen = screen
        self._table = table
        self._spec = spec
        self._settings = memory
        self.chosen: bool | None = None
        """What the person chose; None leaves it to the width."""
        self._resting: Timer | None = None
        """Runs since the cursor moved."""
        self._held = False
        """Whether the cursor moved on while it ran: a key is held."""
        self._behind = False
        """Whether what is shown is older than the row that is selected now, or what it says."""

    @property
    def pane(self) -> DetailPane:
        """The pane itself."""
        return self._screen.query_one(DetailPane)

    @property
    def shown(self) -> bool:
        """Whether the pane is shown."""
        if self.chosen is not None:
            return self.chosen
        return self._has_room and self._settings.preferences.detail is not False

    @property
    def alone(self) -> bool:
        """Whether it is shown instead of the list."""
        return self.shown and not self._has_room

    @property
    def resting(self) -> bool:
        """Whether it waits until the cursor stands still."""
        return self._behind

    @property
    def _has_room(self) -> bool:
        return self._screen.app.size.width >= BESIDE

    def choose(self, shown: bool | None) -> None:
        """Show or hide it; None leaves it to the width."""
        self.chosen = shown
        self.arrange()

    def toggle(self) -> None:
        """Show or hide it, and remember that where there is room for it."""
        self.chosen = not self.shown
        if self._has_room:
            self._settings.showed_detail(self.chosen)
        self.arrange()

    def widen(self, way: int) -> None:
        """Make it wider (1) or narrower (-1) where it stands beside the list."""
        pane = self.pane
        if pane.display and self._table.display:
            width = 100 * pane.outer_size.width // self._screen.app.size.width
            self._settings.widen_detail(way, width)
            self.arrange()

    def arrange(self) -> None:
        """Put it where it fits."""
        screen = self._screen
        if not screen.is_mounted:
            return
        pane = self.pane
        pane.display = self.shown
        pane.set_class(self.alone, "-alone")
        pane.take_width(None if self.alone else self._settings.detail_width)
        had_focus = screen.focused in (None, pane, self._table)
        self._table.display = not self.alone
        if had_focus and screen.is_current:
            screen.focus_body()
        screen.call_after_refresh(lambda: self._show(screen.now))

    def refresh(self, now: datetime) -> None:
        """Show what is new of the selected row; while a key is held that waits, too."""
        if self._held:
            self._behind = True
        else:
            self._show(now)

    def follow(self, now: datetime) -> None:
        """Another row is selected. While a key is held the pane waits for the last one."""
        if self._resting is not None:
            self._resting.stop()
            self._held = True
        self.refresh(now)
        self._resting = self._screen.set_timer(_REST, self._rested)

    def _rested(self) -> None:
        self._resting = None
        self._held = False
        if self._behind:
            self._behind = False
            self._show(self._screen.now)

    def _show(self, now: datetime) -> None:
        pane = self.pane
        if pane.display:
            pane.show_item(self._spec, self._table.selected, now)
