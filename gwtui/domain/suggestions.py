"""Which of the known names a mistyped one may have been meant to be, and how that is said."""

from __future__ import annotations

from collections.abc import Iterable

from gwtui.domain.safe_text import safe_line

_NAME = 80
"""Characters of a name that are compared and shown."""
_MOST_LISTED = 40
"""Names that are listed before the rest is only counted."""


def closest(word: str, known: Iterable[str]) -> str | None:
    """The known name most like ``word``, in any case of letters; None where none is like it."""
    from difflib import get_close_matches  # noqa: PLC0415 - only a mistake needs it

    by_folded = {name[:_NAME].casefold(): name for name in known}
    found = get_close_matches(word[:_NAME].casefold(), by_folded, 1)
    return by_folded[found[0]] if found else None


def did_you_mean(word: str, known: Iterable[str]) -> str:
    """``; did you mean 'list'?`` to follow a refusal of ``word``; "" where none is like it."""
    found = closest(word, known)
    return f"; did you mean {safe_line(found, _NAME)!r}?" if found is not None else ""


def among(word: str, known: Iterable[str]) -> str:
    """The same, and every name that there is: ``; did you mean 'list'? (known: list, get)``."""
    names = [safe_line(name, _NAME) for name in known]
    listed = ", ".join(names[:_MOST_LISTED]) or "there are none"
    more = f" and {len(names) - _MOST_LISTED} more" if len(names) > _MOST_LISTED else ""
    return f"{did_you_mean(word, names)} (known: {listed}{more})"
