"""The last wall, with a memory of what reached it."""

from __future__ import annotations

from hostile_sinks import dangerous
from rich.segment import Segment
from textual.color import Color

from gwtui.ui.terminal.app import ControlCharacterFilter

HARMLESS = frozenset("\u200d\ufe0e\ufe0f")
"""Parts of emoji that people type."""


class Witness(ControlCharacterFilter):
    """The last wall, with a memory."""

    def __init__(self, leaks: list[str]) -> None:
        self._leaks = leaks

    def apply(self, segments: list[Segment], background: Color) -> list[Segment]:
        self._leaks += [
            segment.text
            for segment in segments
            if not segment.control and [c for c in dangerous(segment.text) if c not in HARMLESS]
        ]
        return super().apply(segments, background)
