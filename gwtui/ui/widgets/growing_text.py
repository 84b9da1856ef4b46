"""Text that comes in pieces: appended, folded to the width, repainted only where it changed."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from itertools import groupby
from operator import itemgetter

from textual.content import Content
from textual.timer import Timer
from textual.widget import Widget

from gwtui.crud.resource import Tone
from gwtui.domain.safe_text import safe_text
from gwtui.ui.text import toned
from gwtui.ui.widgets.lines import LinesView

PAINTING = 0.1
"""Seconds between two paints of what comes in pieces: fewer than 15 a second."""
MOST = 200_000
"""Characters that are shown."""
_LEAST_WIDTH = 20
_LONG = 1_000
"""Characters of a paragraph beyond which the lines that are full already are not folded again."""


class Painting:
    """Paints what came in pieces: once for many of them, all parts of a screen together."""

    def __init__(self, screen: Widget, paint: Callable[[], None]) -> None:
        self._screen = screen
        self._paint = paint
        self._due: Timer | None = None

    def soon(self) -> None:
        """Something came."""
        if self._due is None:
            self._due = self._screen.set_timer(PAINTING, self.now)

    def now(self) -> None:
        """Paint at once: nothing more will come."""
        if self._due is not None:
            self._due.stop()
            self._due = None
        self._paint()


class GrowingText(LinesView):
    """Paragraphs of plain text from outside, which goes through ``safe_text`` here.

    While the end is in sight it stays so; then the view moves on by half of its height at once, so
    that not every new line paints all the others anew.
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
        self._marks: tuple[str, ...] = ()

    def put(self, pieces: Iterable[tuple[str, Tone]]) -> None:
        """Append texts; another tone begins a paragraph."""
        for text, tone in pieces:
            fits = text[: max(0, MOST - self._length)]
            if len(fits) < len(text) and not self._cut:
                self._cut = True
                fits += f"\n(only the first {MOST:,} characters are shown)\n"
            if fits:
                self._length += len(fits)
                self._pieces.append((fits, tone))
                self._add(fits, tone)
        self._show_all()

    def mark(self, words: Sequence[str]) -> None:
        """Let these words stand out wherever they are in the text."""
        self._marks = tuple(word for word in words if word)
        self._fold_anew()

    def on_resize(self) -> None:
        """Fold everything to the new width."""
        self._fold_anew()

    def watch_show_vertical_scrollbar(self, shown: bool) -> None:
        """A scrollbar that comes begins where the text is."""
        if shown:
            self.vertical_scrollbar.position = self.scroll_y

    def _fold_anew(self) -> None:
        by_tone = groupby(self._pieces, key=itemgetter(1))
        pieces = [("".join(text for text, _ in same), tone) for tone, same in by_tone]
        self._full, self._open, self._pieces = [], "", pieces
        for text, tone in pieces:
            self._add(text, tone)
        self._show_all()

    def _add(self, text: str, tone: Tone) -> None:
        if tone != self._tone:
            if self._open:
                self._full += self._folded(self._open)
                self._open = ""
            self._tone = tone
        *whole, self._open = (self._open + text).split("\n")
        for paragraph in whole:
            self._full += self._folded(paragraph.removesuffix("\r"))
        if len(self._open) > _LONG and self._open.isascii() and self._open.isprintable():
            self._close_full_lines()

    def _close_full_lines(self) -> None:
        """Of a long paragraph only the last line is still open."""
        lines = self._folded(self._open)
        at = 0
        for line in lines[:-1]:
            at = self._open.index(line.plain, at) + len(line.plain)
        self._full += lines[:-1]
        self._open = self._open[at:].lstrip(" ")

    def _folded(self, paragraph: str) -> list[Content]:
        content = self._marked(safe_text(paragraph, MOST, newlines=True))
        width = max(_LEAST_WIDTH, self.scrollable_content_region.width)
        if content.cell_length <= width:
            return [content]
        return list(content.wrap(width)) or [content]

    def _marked(self, text: str) -> Content:
        parts: list[Content] = []
        at = 0
        while (found := self._next_mark(text, at)) is not None:
            start, word = found
            parts.append(toned(text[at:start], self._tone))
            parts.append(toned(word, "warn", bold=True))
            at = start + len(word)
        rest = toned(text[at:], self._tone)
        return Content.assemble(*parts, rest) if parts else rest

    def _next_mark(self, text: str, at: int) -> tuple[int, str] | None:
        """Where the next word that stands out begins, and which it is; None for none."""
        places = ((text.find(word, at), word) for word in self._marks)
        return min((place for place in places if place[0] >= 0), default=None)

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
