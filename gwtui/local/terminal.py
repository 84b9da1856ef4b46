"""The route of copied text, chosen from the environment."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

CopyRoute = Literal["tmux", "terminal", "file"]
DUMB = frozenset({"dumb", "linux", "unknown"})
"""Terminals without a clipboard of their own."""


def copy_route(environment: Mapping[str, str]) -> CopyRoute:
    """The route of copied text: tmux, the terminal (OSC 52), or a file.

    A file where the terminal has no clipboard, and in GNU screen, which swallows OSC 52.
    """
    if environment.get("TMUX"):
        return "tmux"
    if environment.get("STY") or environment.get("TERM", "unknown") in DUMB:
        return "file"
    return "terminal"
