"""What the terminal shows, cell by cell, so that nothing is sent that stands there already.

Textual repaints widgets: a new layout sends whole screens, a changed figure the line it stands in
from its left edge on. Over SSH the difference counts, so that each update is compared with what
was sent before, and only cells that look different are sent, with only the codes that change.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from itertools import groupby

from rich.cells import get_character_cell_size
from rich.color import ColorSystem
from rich.style import Style
from textual.geometry import Size
from textual.strip import Strip

from gwtui.ui.textual_compat import Piece

_Codes = tuple[str, str, str]
"""SGR codes of a style: attributes, foreground, background; each may be empty."""
_Look = _Codes | tuple[None, None, str]
"""How a cell looks. Of a blank only the background is seen, whatever the rest is."""
_Cell = tuple[str, _Look]
"""What stands in a cell, and how it looks."""
_Span = tuple[int, int, Sequence[_Cell]]
"""Column, line and cells of a piece that is to be sent."""

_PLAIN: _Codes = ("", "", "")
_PLAIN_LOOKS: tuple[_Look, _Look] = (_PLAIN, (None, None, ""))
_MOVE = 10
"""Equal cells between two different ones that are rather sent again than skipped."""
_SEEN_ON_BLANKS = frozenset({"4", "5", "6", "7", "9", "21", "51", "52", "53"})
"""Attributes that are seen where no character stands: lines, frames, blinking, swapped colours."""
_REST = ""
"""What the further cells of a wide character hold."""


class ScreenMemory:
    """Remembers what was sent. Whoever else wrote on the terminal has to ``forget`` it."""

    def __init__(self) -> None:
        self._size = Size()
        self._lines: list[list[_Cell | None]] = []
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
        spans: list[_Span] = []
        for x, y, strip in painted:
            if x < size.width and y < size.height:
                cells = _fitting(_cells(strip, system), size.width - x)
                even = all(text.isascii() for text, _, _ in strip) or _is_plain(cells)
                spans += self._put(x, y, cells, even=even)
        return _bytes(self._by_look(spans))

    def _by_look(self, spans: list[_Span]) -> list[_Span]:
        """Those that begin in the same look after each other: what is around a dialog, then it.

        Half a wide character is erased with its other half, one at the edge may move the cursor:
        such lines are sent as they come.
        """
        if any(y in self._uneven for _, y, _ in spans):
            return spans
        looks: dict[_Look, int] = {}
        return sorted(spans, key=lambda span: looks.setdefault(span[2][0][1], len(looks)))

    def _put(self, x: int, y: int, cells: Sequence[_Cell], *, even: bool) -> Iterator[_Span]:
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


def _cells(strip: Strip, colours: ColorSystem) -> list[_Cell]:
    """Every cell of a strip."""
    cells: list[_Cell] = []
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


def _fitting(cells: list[_Cell], room: int) -> list[_Cell]:
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
def _looks(style: Style, colours: ColorSystem) -> tuple[_Look, _Look]:
    """Of a character in this style, and of a blank."""
    attributes = Strip.render_ansi(style.without_color, colours)
    fore, back = (
        "" if colour is None else ";".join(colour.downgrade(colours).get_ansi_codes(foreground))
        for colour, foreground in ((style.color, True), (style.bgcolor, False))
    )
    seen = not _SEEN_ON_BLANKS.isdisjoint(attributes.split(";"))
    look: _Look = (attributes, fore, back)
    return look, look if seen else (None, None, back)


def _is_plain(cells: Iterable[_Cell | None]) -> bool:
    """Whether each cell holds one character of one cell."""
    return all(cell is None or len(cell[0]) == 1 for cell in cells)


def _different(before: Sequence[_Cell | None], after: Sequence[_Cell]) -> list[tuple[int, int]]:
    """Where the two differ; places that are close together count as one."""
    spans: list[tuple[int, int]] = []
    for at, (old, new) in enumerate(zip(before, after, strict=True)):
        if old == new:
            continue
        if spans and at - spans[-1][1] < _MOVE:
            spans[-1] = (spans[-1][0], at + 1)
        else:
            spans.append((at, at + 1))
    return spans


def _bytes(spans: Sequence[_Span]) -> str:
    """The spans as the terminal reads them; no style is left switched on."""
    if not spans:
        return ""
    out: list[str] = ["\x1b[0m"]
    now = _PLAIN
    for x, y, cells in spans:
        out.append(f"\x1b[{y + 1};{x + 1}H")
        for wanted, run in groupby(cells, key=lambda cell: cell[1]):
            codes = _codes(now, wanted)
            out.append(_switch(now, codes))
            out += [sign for sign, _ in run]
            now = codes
    out.append("\x1b[0m")
    return "".join(out)


def _codes(now: _Codes, wanted: _Look) -> _Codes:
    """What to switch to: for a blank the present codes, as far as they are not seen there."""
    attributes, fore, back = wanted
    if attributes is not None and fore is not None:
        return attributes, fore, back
    if now[0] and not _SEEN_ON_BLANKS.isdisjoint(now[0].split(";")):
        return "", "", back
    return now[0], now[1], back


def _switch(now: _Codes, wanted: _Codes) -> str:
    """What switches from one to the other."""
    if now == wanted:
        return ""
    attributes, fore, back = wanted
    if attributes == now[0]:
        codes = [fore or "39" if fore != now[1] else "", back or "49" if back != now[2] else ""]
    else:
        codes = ["0", attributes, fore, back]
    return f"\x1b[{';'.join(filter(None, codes))}m"
