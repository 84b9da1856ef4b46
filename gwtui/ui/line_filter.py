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


class ControlCharacterFilter(LineFilter):
    """Replaces control, surrogate and direction characters that slipped past ``safe_text``."""

    def apply(self, segments: list[Segment], background: Color) -> list[Segment]:  # noqa: ARG002
        """The same segments, with each dangerous character replaced by a visible mark."""
        if all(segment.text.isascii() and segment.text.isprintable() for segment in segments):
            return segments
        return [self._clean(segment) for segment in segments]

    def _clean(self, segment: Segment) -> Segment:
        text, style, control = segment
        if control or text.isprintable():
            return segment
        cleaned = "".join(
            _REPLACEMENT if _is_dangerous(character) else character for character in text
        )
        return Segment(cleaned, style, None)
