"""What the terminal shows, cell by cell, so that only what differs from it is sent.

Textual repaints widgets: a new layout sends whole screens, a changed figure the line it stands in
from its left edge on. Over SSH the difference counts, so that each update is compared with what
was sent before, and only cells that look different are sent.

They are sent with as few bytes as possible. Colours cost most: twenty bytes for a switch of one,
eight for a move. So everything of one look is sent after each other, wherever it stands.
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
"""Equal cells between two different ones that are rather sent again than skipped."""
_REST = ""
"""What the further cells of a wide character hold."""
Codes = tuple[str, str, str]
"""SGR codes of a style: attributes, foreground, background; each may be empty."""
Look = Codes | tuple[None, None, str]
"""How a cell looks. Of a blank only the background is seen, whatever the rest is."""
Cell = tuple[str, Look]
"""What stands in a cell, and how it looks."""
Span = tuple[int, int, Sequence[Cell]]
"""Column, line and cells of a piece that is to be sent."""
PLAIN: Codes = ("", "", "")
SEEN_ON_BLANKS = frozenset({"4", "5", "6", "7", "9", "21", "51", "52", "53"})
"""Attributes that are seen where no character stands: lines, frames, blinking, swapped colours."""
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
"""What switches an attribute off, and others of its kind with it."""
_RESET = "\x1b[0m"
_ERASED = 6
"""Blanks that are rather erased than sent: an erasure is five bytes, and stays where it is."""
_ERASED_BETWEEN = 12
"""The same where text follows on the line, to which the cursor has to be moved."""
_Run = tuple[Look, int, int, str]
"""Cells of one look beside each other: look, line, column, text."""
_PLAIN_LOOKS: tuple[Look, Look] = (PLAIN, (None, None, ""))


class ScreenDiff:
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


def in_order(spans: Sequence[Span]) -> str:
    """The bytes for spans as they come, cell by cell; no style is left switched on."""
    out: list[str] = []
    now = PLAIN
    for x, y, cells in spans:
        out.append(_move(x, y))
        for look, _, _, text in _runs(x, y, cells):
            wanted = _codes(now, look)
            out += (_switch(now, wanted), text)
            now = wanted
    return f"{_RESET}{''.join(out)}{_RESET}" if out else ""


def by_look(spans: Sequence[Span], width: int, *, erases: bool) -> str:
    """The bytes for spans whose characters are one cell wide; no style is left switched on.

    ``width`` is that of the terminal. ``erases`` says that it fills what is erased with the present
    background: then long blanks are erased.
    """
    runs = sorted((run for span in spans for run in _runs(*span)), key=_order)
    out: list[str] = []
    now = PLAIN
    at = (-1, -1)
    for look, y, x, text in runs:
        wanted = _codes(now, look)
        out.append(_switch(now, wanted))
        now = wanted
        for start, piece, erased in _pieces(text) if erases else ((0, text, 0),):
            if piece or erased:
                out.append(_step(at, (x + start, y)))
                at = (x + start + len(piece), y)
                out.append(piece)
            if erased:
                out.append("\x1b[K" if at[0] + erased == width else f"\x1b[{erased}X")
    return f"{_RESET}{''.join(out)}{_RESET}" if out else ""


def _order(run: _Run) -> tuple[str, str, str, int, int]:
    """Backgrounds stay longest; in front of each those who need nothing else."""
    (attributes, fore, back), y, x, _ = run
    return back, attributes or "", fore or "", y, x


def _runs(x: int, y: int, cells: Sequence[Cell]) -> Iterator[_Run]:
    """The cells in stretches of one look; blanks go with what stands before them, or behind."""
    start, look = 0, cells[0][1]
    for at, (_, wanted) in enumerate(cells):
        if wanted == look:
            continue
        if wanted[2] == look[2]:
            if wanted[0] is None and not _is_seen(look[0]):
                continue
            if look[0] is None and not _is_seen(wanted[0]):
                look = wanted
                continue
        yield look, y, x + start, "".join([sign for sign, _ in cells[start:at]])
        start, look = at, wanted
    yield look, y, x + start, "".join([sign for sign, _ in cells[start:]])


def _pieces(text: str) -> Iterator[tuple[int, str, int]]:
    """Where each piece of text begins, the piece, and how many blanks are erased behind it."""
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
    """From one place to another; always by its own number, for some signs are wider than told."""
    if at == to:
        return ""
    return f"\x1b[{to[0] + 1}G" if at[1] == to[1] else _move(*to)


def _is_seen(attributes: str | None) -> bool:
    return bool(attributes) and not SEEN_ON_BLANKS.isdisjoint((attributes or "").split(";"))


def _codes(now: Codes, wanted: Look) -> Codes:
    """What to switch to: for a blank the present codes, as far as they are not seen there."""
    attributes, fore, back = wanted
    if attributes is not None and fore is not None:
        return attributes, fore, back
    return ("", "", back) if _is_seen(now[0]) else (now[0], now[1], back)


@lru_cache(maxsize=1024)
def _switch(now: Codes, wanted: Codes) -> str:
    """What switches from one to the other."""
    if now == wanted:
        return ""
    attributes, fore, back = wanted
    anew = ";".join(filter(None, ("0", attributes, fore, back)))
    colours = [fore or "39" if fore != now[1] else "", back or "49" if back != now[2] else ""]
    before, after = (set(filter(None, codes.split(";"))) for codes in (now[0], attributes))
    if not before | after <= _OFF.keys():
        return f"\x1b[{anew}m"
    off = {_OFF[code] for code in before - after}
    on = {code for code in after if code not in before or _OFF[code] in off}
    changed = ";".join(filter(None, [*sorted(off), *sorted(on), *colours]))
    return f"\x1b[{min(changed, anew, key=len)}m"
