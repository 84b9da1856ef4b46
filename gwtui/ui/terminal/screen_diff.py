"""Compares each screen update with the previous one, and sends only the changed cells.

Textual repaints whole widgets: it sends the whole screen after a change of the layout, and a whole
line after a change of one figure. Over SSH that is slow.

Changing a colour takes about twenty bytes, and moving the cursor eight. So all cells of one style
are sent together, wherever they are.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache

from rich.cells import get_character_cell_size
from rich.color import ColorSystem
from rich.style import Style
from textual.geometry import Size
from textual.strip import Strip

from gwtui.ui.terminal.textual_private import Piece

_JOINED = 4
"""Maximum number of unchanged cells to send again between two changed ones."""
_REST = ""
"""The content of the second cell of a wide character."""
Codes = tuple[str, str, str]
"""SGR codes of a style: attributes, foreground, background; each may be empty."""
Look = Codes | tuple[None, None, str]
"""The style of a cell; for a blank, only the background counts."""
Cell = tuple[str, Look]
"""The text and the style of a cell."""
Span = tuple[int, int, Sequence[Cell]]
"""Column, line and cells to send."""
PLAIN: Codes = ("", "", "")
SEEN_ON_BLANKS = frozenset({"4", "5", "6", "7", "9", "21", "51", "52", "53"})
"""Attributes that are visible on blanks, such as underline, frame, blink and reverse."""
_OFF = {
    **dict.fromkeys(("1", "2"), "22"),
    "3": "23",
    **dict.fromkeys(("4", "21"), "24"),
    **dict.fromkeys(("5", "6"), "25"),
    "7": "27",
    "8": "28",
    "9": "29",
    **dict.fromkeys(("51", "52"), "54"),
    "53": "55",
}
"""The codes that switch attributes off; some switch off several attributes."""
_RESET = "\x1b[0m"
_ERASED = 6
"""Minimum number of blanks at the end of a text to erase instead of send (five bytes)."""
_ERASED_BETWEEN = 12
"""Minimum number of blanks within a text to erase, which also needs a cursor movement."""
_Run = tuple[Look, int, int, str]
"""Adjacent cells of one style: style, line, column, text."""
_PLAIN_LOOKS: tuple[Look, Look] = (PLAIN, (None, None, ""))


class ScreenDiff:
    """The cells last sent to the terminal, and the bytes for the next update.

    Call ``forget`` after another program wrote to the terminal.
    """

    def __init__(self) -> None:
        self.erases = False
        """Whether the terminal erases with the current background colour."""
        self._size = Size()
        self._lines: list[list[Cell | None]] = []
        self._uneven: set[int] = set()
        """Lines that may have wide or combined characters."""

    def forget(self) -> None:
        """Forget the sent cells, so that the next update is sent in full."""
        self._size = Size()

    def difference(self, painted: Iterable[Piece], size: Size, colours: ColorSystem | None) -> str:
        """Return the control sequences that update the terminal; empty if nothing has changed."""
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

        Overwriting half of a wide character erases the other half, and one at the edge may move
        the cursor: lines with such characters are sent in order.
        """
        uneven = [span for span in spans if span[1] in self._uneven]
        even = [span for span in spans if span[1] not in self._uneven]
        return in_order(uneven) + by_look(even, self._size.width, erases=self.erases)

    def _put(self, x: int, y: int, cells: Sequence[Cell], *, even: bool) -> Iterator[Span]:
        """Yield the changed parts of a line after writing ``cells`` at column ``x``.

        ``even`` promises that each cell holds a single character of width 1.
        """
        line = self._lines[y]
        before = line[x : x + len(cells)]
        if before == cells:
            return
        line[x : x + len(cells)] = cells
        was_even = y not in self._uneven or _is_plain(before)
        if not even:
            self._uneven.add(y)
        if not (even and was_even):
            # Terminals disagree about the width of some characters: send all of it.
            yield x, y, cells
            return
        for start, end in _different(before, cells):
            yield x + start, y, cells[start:end]


def _cells(strip: Strip, colours: ColorSystem) -> list[Cell]:
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
    """The cells that fit: the terminal may have become narrower than the layout.

    A wide character at the edge is left out, because it would wrap to the next line.
    """
    if len(cells) <= room:
        return cells
    end = room
    if cells[room][0] == _REST:
        end = next(at for at in range(room - 1, -1, -1) if cells[at][0] != _REST)
    return cells[:end] + [(" ", look) for _, look in cells[end:room]]


@lru_cache(maxsize=1024)
def _looks(style: Style, colours: ColorSystem) -> tuple[Look, Look]:
    attributes = Strip.render_ansi(style.without_color, colours)
    fore, back = (
        "" if colour is None else ";".join(colour.downgrade(colours).get_ansi_codes(foreground))
        for colour, foreground in ((style.color, True), (style.bgcolor, False))
    )
    is_seen = not SEEN_ON_BLANKS.isdisjoint(attributes.split(";"))
    look: Look = (attributes, fore, back)
    return look, look if is_seen else (None, None, back)


def _is_plain(cells: Iterable[Cell | None]) -> bool:
    return all(cell is None or len(cell[0]) == 1 for cell in cells)


def _different(before: Sequence[Cell | None], after: Sequence[Cell]) -> list[tuple[int, int]]:
    spans: list[tuple[int, int]] = []
    for at, (old, new) in enumerate(zip(before, after, strict=True)):
        if old == new:
            continue
        if spans and at - spans[-1][1] < _JOINED:
            spans[-1] = (spans[-1][0], at + 1)
        else:
            spans.append((at, at + 1))
    return spans


def in_order(spans: Sequence[Span]) -> str:
    """Return the bytes for spans in the given order, with a style reset at the end."""
    out: list[str] = []
    now = PLAIN
    for x, y, cells in spans:
        out.append(_move(x, y))
        for look, _, _, text in _runs(x, y, cells):
            target = _codes(now, look)
            out += (_switch(now, target), text)
            now = target
    return f"{_RESET}{''.join(out)}{_RESET}" if out else ""


def by_look(spans: Sequence[Span], width: int, *, erases: bool) -> str:
    """Return the bytes for spans of single-width cells, sorted by style, with a reset at the end.

    ``width`` is the width of the terminal. With ``erases``, long runs of blanks are erased.
    """
    runs = sorted((run for span in spans for run in _runs(*span)), key=_order)
    out: list[str] = []
    now = PLAIN
    at = (-1, -1)
    for look, y, x, text in runs:
        target = _codes(now, look)
        out.append(_switch(now, target))
        now = target
        for start, piece, erased in _pieces(text) if erases else ((0, text, 0),):
            if piece or erased:
                out.append(_step(at, (x + start, y)))
                at = (x + start + len(piece), y)
                out.append(piece)
            if erased:
                out.append("\x1b[K" if at[0] + erased == width else f"\x1b[{erased}X")
    return f"{_RESET}{''.join(out)}{_RESET}" if out else ""


def _order(run: _Run) -> tuple[str, str, str, int, int]:
    (attributes, fore, back), y, x, _ = run
    return back, attributes or "", fore or "", y, x


def _runs(x: int, y: int, cells: Sequence[Cell]) -> Iterator[_Run]:
    start, look = 0, cells[0][1]
    for at, (_, target) in enumerate(cells):
        if target == look:
            continue
        if target[2] == look[2]:
            if target[0] is None and not _is_seen(look[0]):
                continue
            if look[0] is None and not _is_seen(target[0]):
                look = target
                continue
        yield look, y, x + start, "".join([sign for sign, _ in cells[start:at]])
        start, look = at, target
    yield look, y, x + start, "".join([sign for sign, _ in cells[start:]])


def _pieces(text: str) -> Iterator[tuple[int, str, int]]:
    blanks = " " * _ERASED_BETWEEN
    start = 0
    while (gap := text.find(blanks, start)) >= 0:
        end = gap + len(text[gap:]) - len(text[gap:].lstrip(" "))
        yield start, text[start:gap], end - gap
        start = end
    rest = text[start:]
    bare = rest.rstrip(" ")
    if len(rest) - len(bare) >= _ERASED:
        yield start, bare, len(rest) - len(bare)
    else:
        yield start, rest, 0


def _move(x: int, y: int) -> str:
    return f"\x1b[{y + 1};{x + 1}H" if x else f"\x1b[{y + 1}H"


def _step(at: tuple[int, int], to: tuple[int, int]) -> str:
    if at == to:
        return ""
    return f"\x1b[{to[0] + 1}G" if at[1] == to[1] else _move(*to)


def _is_seen(attributes: str | None) -> bool:
    return bool(attributes) and not SEEN_ON_BLANKS.isdisjoint((attributes or "").split(";"))


def _codes(now: Codes, target: Look) -> Codes:
    attributes, fore, back = target
    if attributes is not None and fore is not None:
        return attributes, fore, back
    return ("", "", back) if _is_seen(now[0]) else (now[0], now[1], back)


@lru_cache(maxsize=1024)
def _switch(now: Codes, target: Codes) -> str:
    if now == target:
        return ""
    attributes, fore, back = target
    anew = ";".join(filter(None, ("0", attributes, fore, back)))
    colours = [fore or "39" if fore != now[1] else "", back or "49" if back != now[2] else ""]
    before, after = (set(filter(None, codes.split(";"))) for codes in (now[0], attributes))
    if not before | after <= _OFF.keys():
        return f"\x1b[{anew}m"
    off = {_OFF[code] for code in before - after}
    on = {code for code in after if code not in before or _OFF[code] in off}
    changed = ";".join(filter(None, [*sorted(off), *sorted(on), *colours]))
    return f"\x1b[{min(changed, anew, key=len)}m"
