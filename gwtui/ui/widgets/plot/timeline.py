"""States over time as coloured blocks, with a word wherever there is room for one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby

from textual.content import Content

from gwtui.crud.resource import Tone
from gwtui.ui.tones import toned

_SIGNS: dict[Tone, str] = {
    "good": "▁",
    "warn": "▄",
    "bad": "█",
    "muted": "·",
    "plain": " ",
    "accent": "▂",
}
"""Heights tell the states apart where colours do not: the worse, the taller."""
_ASCII_SIGNS: dict[Tone, str] = {
    "good": "_",
    "warn": "=",
    "bad": "#",
    "muted": ".",
    "plain": " ",
    "accent": "-",
}


@dataclass(frozen=True, slots=True)
class Block:
    """A stretch of ``cells`` cells in one state; "plain" with no word stands for a gap."""

    word: str
    tone: Tone
    cells: int = 1


def legend(states: Sequence[Block], *, ascii: bool = False) -> Content:
    """The sign and the word of each state, so that one who sees a timeline can read it."""
    signs = _ASCII_SIGNS if ascii else _SIGNS
    return Content("  ").join(
        Content.assemble(toned(signs[one.tone], one.tone), toned(f" {one.word}", "muted"))
        for one in states
    )


def timeline(blocks: Sequence[Block], width: int, *, ascii: bool = False) -> Content:
    """The blocks side by side, cut to the last ``width`` cells; like neighbours become one."""
    cells = [block for block in blocks for _ in range(block.cells)][-width:]
    signs = _ASCII_SIGNS if ascii else _SIGNS
    parts = []
    for (word, tone), run in groupby(cells, key=lambda block: (block.word, block.tone)):
        length = sum(1 for _ in run)
        sign = signs[tone]
        # What is well needs no word; what is not says so as soon as there is room.
        if word and tone not in {"good", "plain"} and length >= len(word):
            text = word.center(length, sign)
        else:
            text = sign * length
        parts.append(toned(text, tone))
    return Content.assemble(" " * (width - len(cells)), *parts)
