"""The badges that say what must be handled with care."""

from __future__ import annotations

from textual.content import Content

READ_ONLY = "READ-ONLY"
CRITICAL = "CRITICAL"
FAULTS = "FAULTS ON"


def badge(text: str, colours: str = "badge") -> Content:
    """A text on a ground of its own: in the theme's colours "badge", or in "alarm"."""
    return Content.styled(f" {text} ", f"bold ${colours}-foreground on ${colours}-background")
