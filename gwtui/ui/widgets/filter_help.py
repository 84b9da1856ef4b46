"""The line above the filter: what can be typed next, what is wrong, or the language."""

from __future__ import annotations

from typing import TYPE_CHECKING

from textual.content import Content

from gwtui.domain.cells import Tone
from gwtui.domain.safe_text import safe_line
from gwtui.ui.tones import toned
from gwtui.ui.widgets.one_line import OneLine

if TYPE_CHECKING:
    from gwtui.domain.filter_completion import Suggestions

LANGUAGE = (
    'word  -without  "two words"  column:text  =exact  >80  created<7d  ~pattern  (this or that)'
)
_MARGIN = "   "
_VALUE = 40


class FilterHelp(OneLine):
    """Shown while the filter has the keys."""

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self._explains = False

    def explain(self) -> bool:
        """Show the language, or no longer; whether it is shown now."""
        self._explains = not self._explains
        if self._explains:
            self.show(toned(f"{_MARGIN}{LANGUAGE}", "muted"))
        return self._explains

    def suggest(self, error: str, offered: Suggestions, taken: int | None) -> None:
        """Show what is wrong, else what can be typed next; ``taken`` is the one typed by Tab."""
        self._explains = False
        if error:
            self.show(toned(f"{_MARGIN}{error}", "bad"))
            return
        if not offered.offered:
            self.show(Content(""))
            return
        parts = [toned("Tab", "accent"), Content("  ")]
        first = 0 if taken is None else taken
        for place, one in enumerate(offered.offered[first:], first):
            tone: Tone = "accent" if place == taken else "muted"
            parts += [toned(safe_line(one.shown, _VALUE), tone), Content("  ")]
        self.show(Content("").join(parts))
