"""The wall behind all others: nothing dangerous passes it, and no line grows by its marks."""

from __future__ import annotations

import unicodedata

from hostile_strings import CORPUS
from rich.segment import Segment
from rich.style import Style
from textual.color import Color

from gwtui.ui.terminal.app import ControlCharacterFilter

BLACK = Color.parse("black")


def is_dangerous(char: str) -> bool:
    """Private and unassigned characters only look odd, a joiner shapes what stands before it."""
    return unicodedata.category(char) in {"Cc", "Cf", "Cs", "Zl", "Zp"} and char != "\u200d"


def test_nothing_dangerous_passes() -> None:
    wall = ControlCharacterFilter()
    for name, text in CORPUS.items():
        cut = text[:500]
        line = [Segment("name  "), Segment(cut, Style(bold=True)), Segment(" " * 600), Segment("")]
        cleaned = wall.apply(line, BLACK)
        shown = "".join(segment.text for segment in cleaned)
        assert not [char for char in shown if is_dangerous(char)], name
        assert shown.startswith("name  "), name
        assert Segment.get_line_length(cleaned) == Segment.get_line_length(line), name


def test_readable_text_is_never_cut_for_a_mark() -> None:
    line = [Segment("a\x1b\x1b\x1bb  "), Segment("end")]
    shown = "".join(one.text for one in ControlCharacterFilter().apply(line, BLACK))
    assert shown == "a\ufffd\ufffd\ufffdb  end"
    line = [Segment("a\x1b\x1b\x1bb"), Segment(" ", Style(bold=True)), Segment("  ")]
    shown = "".join(one.text for one in ControlCharacterFilter().apply(line, BLACK))
    assert shown == "a\ufffd\ufffd\ufffdb"
