"""Whether the terminal can be expected to draw more than ASCII."""

from __future__ import annotations

from collections.abc import Mapping

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
