"""Helpers for displayed text: colour by tone, fixed width, wrapping."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from rich.cells import cell_len, set_cell_size
from textual.content import Content

from gwtui.domain.cell_values import Tone

if TYPE_CHECKING:
    from gwtui.crud.resource import Cell


STYLES: Mapping[Tone, str] = {
    "plain": "$tone-plain",
    "muted": "$tone-muted",
    "good": "$tone-good",
    "warn": "$tone-warn",
    "bad": "$tone-bad",
    "accent": "$tone-accent",
}
ELLIPSIS = "…"
_NOTE = 30
"""Minimum number of cells for a note beside its heading."""
_INDENT = 6
_ID = re.compile(
    r"[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}"
    r"|(?:[a-z]{2,6}[-_])?(?:\d{6,}-)?(?=[A-Za-z]*\d)[0-9A-Za-z]{12,}"
)


def toned(text: str, tone: Tone = "plain", *, bold: bool = False) -> Content:
    """The text in the colour of a tone; it must have passed ``safe_text``."""
    return Content.styled(text, f"{STYLES[tone]} bold" if bold else STYLES[tone])


def cell_content(cell: Cell) -> Content:
    """The text of a cell in the colour of its tone."""
    return toned(cell.text, cell.tone)


def is_id(text: str) -> bool:
    """Whether a text is an opaque id, such as a UUID, a hash or ``user_2f…``."""
    return _ID.fullmatch(text) is not None


def shortened(identity: str, width: int) -> str:
    """The id in at most ``width`` cells, cut in the middle because both ends identify it."""
    if len(identity) <= width:
        return identity
    end = max(0, (width - 1) // 2)
    return identity[: max(0, width - 1 - end)] + ELLIPSIS[:width] + identity[len(identity) - end :]


def fit(text: str, width: int, *, right: bool = False) -> str:
    """The text in exactly ``width`` cells: padded, or cut at the end (an id in the middle)."""
    length = len(text) if text.isascii() else cell_len(text)
    if length > width:
        if width <= 1:
            return ELLIPSIS[:width]
        if is_id(text):
            return shortened(text, width)
        # A wide character that would be halved at the cut is replaced by a space.
        return set_cell_size(text, width - 1) + ELLIPSIS
    padding = " " * (width - length)
    return padding + text if right else text + padding


def hanging(head: Content, note: Content, width: int) -> Content:
    """``note`` to the right of ``head``, with a hanging indent.

    If ``width`` leaves too little room, ``note`` starts below ``head``.
    """
    indent, opening = head.cell_length, head
    if width - indent < min(_NOTE, note.cell_length):
        indent, opening = _INDENT, Content.assemble(head, "\n", " " * _INDENT)
    lines = note.wrap(max(1, width - indent)) or [note]
    return Content.assemble(opening, Content("\n" + " " * indent).join(lines))


def choice_line(title: str, labels: Sequence[str], chosen: str, tail: Content) -> Content:
    """One line: the title, the labels with the chosen one in brackets, then ``tail``."""
    shown = Content("  ").join(
        toned(f"[{word}]", "accent", bold=True) if word == chosen else toned(word, "muted")
        for word in labels
    )
    return Content.assemble(toned(f"{title}  ", "plain", bold=True), shown, tail)
