"""The detail pane of a list: beside the table, or instead of it, with the selected row."""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING, Any

from textual.timer import Timer

from gwtui.ui.screens.list_settings import ListSettings
from gwtui.ui.text import toned
from gwtui.ui.widgets.detail import detail_lines
from gwtui.ui.widgets.lines import LinesView

if TYPE_CHECKING:
    from gwtui.ui.screens.resource import ResourceScreen

BESIDE = 110
"""The width from which the detail pane is beside the list."""
_NARROWEST = 20
_REST = 0.12
"""Seconds before the pane follows the cursor; a held key repeats faster."""


class DetailPane(LinesView):
    """Shows the selected row; another row starts at the top, the same one stays in place."""

    def __init__(self, screen: ResourceScreen, settings: ListSettings) -> None:
        super().__init__(id="detail")
        self._screen = screen
        self._settings = settings
        self.chosen: bool | None = None
        """The person's choice; None decides by the width."""
        self._resting: Timer | None = None
        """Runs from the last cursor movement."""
        self._identity: str | None = None
        self._folded: tuple[Any, int, datetime] | None = None
        """The item, width and second of the wrapped lines."""

    @property
    def shown(self) -> bool:
        """Whether the pane is shown."""
        if self.chosen is not None:
            return self.chosen
        return self._has_room and self._settings.preferences.detail is not False

    @property
    def alone(self) -> bool:
        """Whether the pane replaces the list."""
        return self.shown and not self._has_room

    @property
    def _has_room(self) -> bool:
        return self._screen.app.size.width >= BESIDE

    def choose(self, shown: bool | None) -> None:
        """Show or hide the pane; None decides by the width."""
        self.chosen = shown
        self.place()

    def toggle(self) -> None:
        """Show or hide the pane, and remember the choice if it fits beside the list."""
        self.chosen = not self.shown
        if self._has_room:
            self._settings.showed_detail(self.chosen)
        self.place()

    def widen(self, way: int) -> None:
        """Make the pane wider (1) or narrower (-1) if it is beside the list."""
        if self.display and self.size and self._screen.table.display:
            width = 100 * self.outer_size.width // self._screen.app.size.width
            self._settings.widen_detail(way, width)
            self.place()

    def place(self) -> None:
        """Place the pane where it fits, with the chosen width in percent of the terminal."""
        screen = self._screen
        if not screen.is_mounted:
            return
        self.display = self.shown
        self.set_class(self.alone, "-alone")
        percent = None if self.alone else self._settings.detail_width
        self.styles.width = None if percent is None else f"{percent}%"
        self.styles.min_width = None if percent is None else _NARROWEST
        self.styles.max_width = None if percent is None else "80%"
        had_focus = screen.focused in (None, self, screen.table)
        screen.table.display = not self.alone
        if had_focus and screen.is_current:
            screen.focus_body()
        screen.call_after_refresh(self._show_selected)

    def on_resize(self) -> None:
        """Wrap the lines for the new width."""
        if self._folded is None or self._folded[1] != self._room:
            self._show_selected()

    def renew(self) -> None:
        """Update the selected row, unless a key is held."""
        if self._resting is None:
            self._show_selected()

    def follow(self) -> None:
        """Show another row; while a key is held, wait for the last one."""
        if self._identity is None:  # nobody holds a key when the first row comes
            self._show_selected()
            return
        if self._resting is None:
            self._show_selected()
        else:
            self._resting.stop()
        self._resting = self.set_timer(_REST, self._rested)

    def _rested(self) -> None:
        self._resting = None
        self._show_selected()

    def _show_selected(self) -> None:
        item, spec, now = self._screen.table.selected, self._screen.declared, self._screen.now
        if not self.display:
            return
        if item is None:
            self._identity = self._folded = None
            self.show([toned("No row selected", "muted")])
            return
        identity = spec.identity(item)
        if identity != self._identity:
            self._identity = identity
            self.scroll_to(0, 0, animate=False)
        if not self.size:
            return  # its lines are folded once its width is known
        before, folded = self._folded, (item, self._room, now.replace(microsecond=0))
        if before is None or before[0] is not item or before[1:] != folded[1:]:
            self._folded = folded
            self.show(detail_lines(spec, item, now, self._room))

    @property
    def _room(self) -> int:
        """Width of a line in cells."""
        return max(_NARROWEST, self.scrollable_content_region.width)
