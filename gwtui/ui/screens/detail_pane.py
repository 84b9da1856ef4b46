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
"""From this width on the detail pane stands beside the list."""
_NARROWEST = 20
_REST = 0.12
"""Seconds without another row before the detail follows again: a held key repeats faster."""


class DetailPane(LinesView):
    """Shows the selected row; another row starts at the top, the same one stays in place."""

    def __init__(self, screen: ResourceScreen, settings: ListSettings) -> None:
        super().__init__(id="detail")
        self._screen = screen
        self._settings = settings
        self.chosen: bool | None = None
        """What the person chose; None leaves it to the width."""
        self._resting: Timer | None = None
        """Runs since the cursor moved."""
        self._identity: str | None = None
        self._folded: tuple[Any, int, datetime] | None = None
        """What the lines were folded of: the item, cells, the second."""

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
    def _has_room(self) -> bool:
        return self._screen.app.size.width >= BESIDE

    def choose(self, shown: bool | None) -> None:
        """Show or hide it; None leaves it to the width."""
        self.chosen = shown
        self.place()

    def toggle(self) -> None:
        """Show or hide it, and remember that where there is room for it."""
        self.chosen = not self.shown
        if self._has_room:
            self._settings.showed_detail(self.chosen)
        self.place()

    def widen(self, way: int) -> None:
        """Make it wider (1) or narrower (-1) where it stands beside the list."""
        if self.display and self.size and self._screen.table.display:
            width = 100 * self.outer_size.width // self._screen.app.size.width
            self._settings.widen_detail(way, width)
            self.place()

    def place(self) -> None:
        """Put it where it fits, as wide as a person chose in percent of the terminal."""
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
        """Fold the lines anew in another width: they may have been shown before it was known."""
        if self._folded is None or self._folded[1] != self._room:
            self._show_selected()

    def renew(self) -> None:
        """Show what is new of the selected row; while a key is held that waits."""
        if self._resting is None:
            self._show_selected()

    def follow(self) -> None:
        """Another row is selected. While a key is held the pane waits for the last one."""
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
        """Cells of a line."""
        return max(_NARROWEST, self.scrollable_content_region.width)
