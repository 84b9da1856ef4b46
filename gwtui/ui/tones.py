"""Tones as styles: the one place that turns a meaning into a theme colour."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from textual.content import Content

from gwtui.domain.cells import Tone

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


def toned(text: str, tone: Tone = "plain", *, bold: bool = False) -> Content:
    """Text in a tone. The text is shown as it is; it must have passed ``safe_text``."""
    return Content.styled(text, f"{STYLES[tone]} bold" if bold else STYLES[tone])


def cell_content(cell: Cell) -> Content:
    """A cell as content."""
    return toned(cell.text, cell.tone)
