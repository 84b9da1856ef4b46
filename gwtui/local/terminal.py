"""What the environment tells of the terminal: its characters, and a way to its clipboard."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

CopyRoute = Literal["tmux", "terminal", "file"]
DUMB = frozenset({"dumb", "linux", "unknown"})
"""Terminals without a clipboard of their own."""
_ASCII_TERMINALS = frozenset({"linux", "vt100", "vt102", "vt220", "dumb"})
_CHARSETS = ("LC_ALL", "LC_CTYPE", "LANG")


def ascii_only(environ: Mapping[str, str]) -> bool:
    """Whether the terminal cannot be expected to draw parts of a block.

    The console of Linux and old terminals lack the characters; a locale that names another
    character set than UTF-8 says so itself. One that says nothing is taken to be able.
    """
    if environ.get("TERM", "") in _ASCII_TERMINALS:
        return True
    locale = next((environ[name] for name in _CHARSETS if environ.get(name)), "")
    return bool(locale) and "utf" not in locale.lower()


def copy_route(environment: Mapping[str, str]) -> CopyRoute:
    """How a copied text leaves the program: by tmux, by the terminal (OSC 52), or in a file.

    A file where the terminal has no clipboard, and in GNU screen, which swallows OSC 52.
    """
    if environment.get("TMUX"):
        return "tmux"
    if environment.get("STY") or environment.get("TERM", "unknown") in DUMB:
        return "file"
    return "terminal"
