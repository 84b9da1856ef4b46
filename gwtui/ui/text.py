"""Plain text as it is shown: in a number of cells, a title inside of a sentence."""

from __future__ import annotations

from rich.cells import cell_len, set_cell_size

ELLIPSIS = "…"


def fit(text: str, width: int, *, right: bool = False) -> str:
    """Text in exactly ``width`` cells: cut with an ellipsis, or padded."""
    length = len(text) if text.isascii() else cell_len(text)
    if length > width:
        if width <= 1:
            return ELLIPSIS[:width]
        # A wide character that would be halved at the cut is replaced by a space.
        return set_cell_size(text, width - 1) + ELLIPSIS
    padding = " " * (width - length)
    return padding + text if right else text + padding


def in_sentence(title: str) -> str:
    """A title inside of a sentence: in small letters, but for abbreviations such as ZDR."""
    return " ".join(word if word.isupper() else word.lower() for word in title.split(" "))
