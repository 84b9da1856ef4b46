"""The second wall against control characters: the last look at each line before the terminal."""

from __future__ import annotations

import unicodedata

from rich.segment import Segment
from textual.color import Color
from textual.filter import LineFilter

_REPLACEMENT = "\N{REPLACEMENT CHARACTER}"
_HARMLESS_FORMAT = frozenset("\u200d\ufe0f")
"""Joiner and emoji presentation: they only shape the glyph before them."""


def _is_dangerous(character: str) -> bool:
    category = unicodedata.category(character)
    if category == "Cf":
        return character not in _HARMLESS_FORMAT
    return category in {"Cc", "Cs", "Zl", "Zp"}


class OneFilter(LineFilter):
    """Several filters as one, in their order: each would make another strip of every line."""

    def __init__(self, filters: tuple[LineFilter, ...]) -> None:
        super().__init__()
        self.filters = filters

    def apply(self, segments: list[Segment], background: Color) -> list[Segment]:
        """The segments as all of the filters leave them."""
        for one in self.filters:
            segments = one.apply(segments, background)
        return segments


class ControlCharacterFilter(LineFilter):
    """Replaces control, surrogate and direction characters that slipped past ``safe_text``."""

    def apply(self, segments: list[Segment], background: Color) -> list[Segment]:  # noqa: ARG002
        """The same segments, with each dangerous character replaced by a visible mark.

        Most of these characters were counted for nothing, and each mark takes a cell: what a line
        grows by is taken from the blanks at its end, so that it pushes nothing off the screen.
        """
        if all(segment.text.isascii() and segment.text.isprintable() for segment in segments):
            return segments
        cleaned = [self._clean(segment) for segment in segments]
        excess = Segment.get_line_length(cleaned) - Segment.get_line_length(segments)
        return _shortened(cleaned, excess) if excess > 0 else cleaned

    def _clean(self, segment: Segment) -> Segment:
        text, style, control = segment
        if control or text.isprintable():
            return segment
        cleaned = "".join(
            _REPLACEMENT if _is_dangerous(character) else character for character in text
        )
        return Segment(cleaned, style, None)


def _shortened(segments: list[Segment], cells: int) -> list[Segment]:
    """The segments with up to so many blanks less at the end."""
    kept = list(segments)
    for place in range(len(kept) - 1, -1, -1):
        text, style, control = kept[place]
        blanks = len(text) - len(text.rstrip(" "))
        taken = min(blanks, cells)
        kept[place] = Segment(text[: len(text) - taken], style, control)
        cells -= taken
        if not cells or taken < len(text):
            break
    return kept
