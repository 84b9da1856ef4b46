"""By which way a copied text can leave this program, as far as the environment tells."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

CopyRoute = Literal["tmux", "terminal", "file"]

DUMB = frozenset({"dumb", "linux", "unknown"})
"""Terminals without a clipboard of their own."""


def copy_route(environment: Mapping[str, str]) -> CopyRoute:
    """By tmux where it runs, else the terminal (OSC 52), else a file: GNU screen swallows that."""
    if environment.get("TMUX"):
        return "tmux"
    if environment.get("STY") or environment.get("TERM", "unknown") in DUMB:
        return "file"
    return "terminal"
