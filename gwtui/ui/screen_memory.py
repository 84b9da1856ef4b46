"""What the terminal shows, cell by cell, so that nothing is sent that stands there already.

Textual repaints widgets: a new layout sends whole screens, a changed figure the line it stands in
from its left edge on. Over SSH the difference counts, so that each update is compared with what
was sent before, and only cells that look different are sent, with only the codes that change.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache

from rich.cells import get_character_cell_size
from rich.color import ColorSystem
from rich.style import Style
from textual.geometry import Size
from textual.strip import Strip

from gwtui.ui.cell_codes import PLAIN, SEEN_ON_BLANKS, Cell, Look, Span, by_look, in_order
from gwtui.ui.textual_compat import Piece

_PLAIN_LOOKS: tuple[Look, Look] = (PLAIN, (None, None, ""))
_JOINED = 4
"""Equal cells between two different ones that are rather sent again than skipped."""
_REST = ""
"""What the further cells of a wide character hold."""


class ScreenMemory:
    """Remembers what was sent. Whoever else wrote on the terminal has to ``forget`` it."""

    def __init__(self) -> None:
        self.erases = False
        """Whether the terminal fills what is erased with the present background."""
        self._size = Size()
        self._lines: list[list[Cell | None]] = []
        self._uneven: set[int] = set()
        """Lines that may hold a cell of several characters, or of none."""

    def forget(self) -> None:
        """Nothing is known any more of what the terminal shows: send all of it."""
        self._size = Size()

    def difference(self, painted: Iterable[Piece], size: Size, colours: ColorSystem | None) -> str:
        """The bytes to send for what was painted; empty when the terminal shows it already."""
        if size != self._size:
            self._size = size
            self._lines = [[None] * size.width for _ in range(size.height)]
            self._uneven.clear()
        system = colours or ColorSystem.TRUECOLOR
        spans: list[Span] = []
        for x, y, strip in painted:
            if x < size.width and y < size.height:
                cells = _fitting(_cells(strip, system), size.width - x)
                even = all(text.isascii() for text, _, _ in strip) or _is_plain(cells)
                spans += self._put(x, y, cells, even=even)
        return self._encoded(spans)

    def _encoded(self, spans: Sequence[Span]) -> str:
        """The bytes of the spans.

        Half a wide character is erased with its other half, one at the edge may move the cursor:
        such lines are sent as they come.
        """
        uneven = [span for span in spans if span[1] in self._uneven]
        even = [span for span in spans if span[1] not in self._uneven]
        return in_order(uneven) + by_look(even, self._size.width, erases=self.erases)

    def _put(self, x: int, y: int, cells: Sequence[Cell], *, even: bool) -> Iterator[Span]:
        """``even`` says that each of the cells holds one character of one cell."""
        line = self._lines[y]
        before = line[x : x + len(cells)]
        if before == cells:
            return
        line[x : x + len(cells)] = cells
        was_even = y not in self._uneven or _is_plain(before)
        if not even:
            self._uneven.add(y)
        if not (even and was_even):
            # Terminals disagree about the width of some characters: sent as a whole.
            yield x, y, cells
            return
        for start, end in _different(before, cells):
            yield x + start, y, cells[start:end]


def _cells(strip: Strip, colours: ColorSystem) -> list[Cell]:
    """Every cell of a strip."""
    cells: list[Cell] = []
    for text, style, _ in strip:
        look, blank = _PLAIN_LOOKS if style is None else _looks(style, colours)
        if text.isascii():
            cells += [(sign, blank if sign == " " else look) for sign in text]
            continue
        for sign in text:
            width = get_character_cell_size(sign)
            if sign == " ":
                cells.append((sign, blank))
            elif width:
                cells += [(sign, look), *[(_REST, look)] * (width - 1)]
            elif cells:
                cells[-1] = (cells[-1][0] + sign, look)
    return cells


def _fitting(cells: list[Cell], room: int) -> list[Cell]:
    """The cells that there is room for: the terminal may have become narrower than the layout.

    A wide character that is cut at the edge is left out: it would go on to the next line.
    """
    if len(cells) <= room:
        return cells
    end = room
    if cells[room][0] == _REST:
        end = next(at for at in range(room - 1, -1, -1) if cells[at][0] != _REST)
    return cells[:end] + [(" ", look) for _, look in cells[end:room]]


@lru_cache(maxsize=1024)
def _looks(style: Style, colours: ColorSystem) -> tuple[Look, Look]:
    """Of a character in this style, and of a blank."""
    attributes = Strip.render_ansi(style.without_color, colours)
    fore, back = (
        "" if colour is None else ";".join(colour.downgrade(colours).get_ansi_codes(foreground))
        for colour, foreground in ((style.color, True), (style.bgcolor, False))
    )
    seen = not SEEN_ON_BLANKS.isdisjoint(attributes.split(";"))
    look: Look = (attributes, fore, back)
    return look, look if seen else (None, None, back)


def _is_plain(cells: Iterable[Cell | None]) -> bool:
    """Whether each cell holds one character of one cell."""
    return all(cell is None or len(cell[0]) == 1 for cell in cells)


def _different(before: Sequence[Cell | None], after: Sequence[Cell]) -> list[tuple[int, int]]:
    """Where the two differ; places that are close together count as one."""
    spans: list[tuple[int, int]] = []
    for at, (old, new) in enumerate(zip(before, after, strict=True)):
        if old == new:
            continue
        if spans and at - spans[-1][1] < _JOINED:
            spans[-1] = (spans[-1][0], at + 1)
        else:
            spans.append((at, at + 1))
    return spans
