"""Text that comes in pieces: appended, folded to the width, repainted only where it changed."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from textual.content import Content

from gwtui.crud.resource import Tone
from gwtui.domain.safe_text import safe_text
from gwtui.ui.text import STYLES, toned
from gwtui.ui.widgets.lines import LinesView

MOST = 200_000
"""Characters that are shown."""
_LEAST_WIDTH = 20


class GrowingText(LinesView):
    """Paragraphs of plain text from outside, which goes through ``safe_text`` here.

    While its end is in view, it scrolls with the text: by half of its height at once, so that not
    every new line repaints all others.
    """

    DEFAULT_CSS = "GrowingText { overflow-x: hidden; scrollbar-gutter: stable; }"

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self._pieces: list[tuple[str, Tone]] = []
        self._full: list[Content] = []
        """Lines that nothing is added to any more."""
        self._open = ""
        """The rest of the text, which is folded again with each piece."""
        self._tone: Tone = "plain"
        self._length = 0
        self._cut = False
        self._marks = ""
        """A pattern of the words that stand out."""

    def put(self, pieces: Iterable[tuple[str, Tone]]) -> None:
        """Append texts; another tone starts a new paragraph."""
        for text, tone in pieces:
            fits = text[: max(0, MOST - self._length)]
            if len(fits) < len(text) and not self._cut:
                self._cut = True
                fits += f"\n(only the first {MOST:,} characters are shown)\n"
            if fits:
                self._length += len(fits)
                begun = self._pieces.pop()[0] if self._pieces and tone == self._tone else ""
                self._pieces.append((begun + fits, tone))
                self._add(fits, tone)
        self._show_all()

    def mark(self, words: Sequence[str]) -> None:
        """Highlight these words everywhere in the text."""
        self._marks = "|".join(map(re.escape, filter(None, words)))
        self.on_resize()

    def on_resize(self) -> None:
        """Wrap everything to the new width."""
        self._full, self._open = [], ""
        for text, tone in self._pieces:
            self._add(text, tone)
        self._show_all()

    def watch_show_vertical_scrollbar(self, shown: bool) -> None:
        """Start a new scroll bar at the current position."""
        if shown:
            self.vertical_scrollbar.position = self.scroll_y

    def _add(self, text: str, tone: Tone) -> None:
        if tone != self._tone:
            if self._open:
                self._full += self._folded(self._open)
                self._open = ""
            self._tone = tone
        *whole, self._open = (self._open + text).split("\n")
        for paragraph in whole:
            self._full += self._folded(paragraph.removesuffix("\r"))

    def _folded(self, paragraph: str) -> list[Content]:
        content = toned(safe_text(paragraph, MOST, newlines=True), self._tone)
        if self._marks:
            content = content.highlight_regex(self._marks, style=f"{STYLES['warn']} bold")
        width = max(_LEAST_WIDTH, self.scrollable_content_region.width)
        if content.cell_length <= width:
            return [content]
        return list(content.wrap(width)) or [content]

    def _show_all(self) -> None:
        lines = [*self._full, *(self._folded(self._open) if self._open else ())]
        height, top = self.size.height, self.scroll_offset.y
        follows = top >= self.max_scroll_y
        step = max(1, height // 2)
        over = len(lines) - height
        if height and over > 0:
            # Room for the next half page, so that the end can stand in the middle.
            lines += [Content("")] * (-over % step)
        self.show(lines)
        if follows:
            # Forced: the scrollbar only comes with the next layout.
            self.scroll_to(y=len(lines) - height, animate=False, force=True)
