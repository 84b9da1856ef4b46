"""Chooses where copied text goes, from environment variables."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

CopyRoute = Literal["tmux", "terminal", "file"]
DUMB = frozenset({"dumb", "linux", "unknown"})
"""Values of TERM for terminals without a clipboard."""


def copy_route(environment: Mapping[str, str]) -> CopyRoute:
    """Where to send copied text: to tmux, to the terminal with OSC 52, or to a file.

    A file is used if the terminal has no clipboard, and in GNU screen, which drops OSC 52.
    """
    if environment.get("TMUX"):
        return "tmux"
    if environment.get("STY") or environment.get("TERM", "unknown") in DUMB:
        return "file"
    return "terminal"
