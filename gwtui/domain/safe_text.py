"""Make text from other people safe to show on a terminal.

Control characters can rewrite the screen, bidi controls can reverse a name, and invisible
characters can make two names look alike. Each of them is replaced with a visible mark.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator

DEFAULT_LIMIT = 500
"""Maximum number of characters shown of a text."""
MARKS_IN_A_ROW = 4
"""Maximum number of combining marks on a letter; no living script needs more."""
ELLIPSIS = "…"

_READ_PER_SHOWN = 8
"""Characters of the input that are examined for each character that may be shown."""
_DELETE = "\x7f"
_CONTROL_PICTURES = 0x2400
_TAB = " " * 4
_OPEN, _CLOSE = "\u2039", "\u203a"
_DOTTED_CIRCLE = "\u25cc"
_REPLACEMENT = "\ufffd"
_EMOJI_SELECTORS = frozenset("\ufe0e\ufe0f")
_EMOJI_PARTS = frozenset("\u200d\ufe0e\ufe0f")
_IDEOGRAPHIC_SPACE = "\u3000"

_BLANK_LETTERS = frozenset(
    "\u034f"  # combining grapheme joiner
    "\u115f\u1160\u3164\uffa0"  # Hangul fillers
    "\u17b4\u17b5"  # Khmer inherent vowels
    "\u180b\u180c\u180d\u180f"  # Mongolian variation selectors
    "\u2800"  # blank braille pattern
)
"""Characters that Unicode calls letters, marks or symbols, but that show nothing."""

_INVISIBLE = frozenset({"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"})
_COMBINING = frozenset({"Mn", "Me", "Mc"})


def safe_text(value: object, limit: int = DEFAULT_LIMIT, *, newlines: bool = False) -> str:
    """Make ``value`` safe to show, with at most ``limit`` characters. Never raises.

    Control characters, bidi controls, zero-width and unassigned characters, tags, private use and
    lone surrogates become visible marks. With ``newlines`` line breaks stay and tabs become spaces.
    A shortened text ends in an ellipsis. The time is limited by ``limit``, not by the input.
    """
    if limit <= 0:
        return ""
    text = value if type(value) is str else _as_str(value)
    if len(text) <= limit and text.isascii() and text.isprintable():
        return text
    # Some characters yield nothing, such as combining marks beyond those that are kept: without a
    # bound of its own, a text of nothing else would be read to its end.
    most = limit * _READ_PER_SHOWN
    shown: list[str] = []
    length = 0
    for piece in _pieces(text[:most], newlines):
        if length + len(piece) > limit:
            return _cut(shown, length, limit)
        shown.append(piece)
        length += len(piece)
    return "".join(shown) if len(text) <= most else _cut(shown, length, limit)


def safe_line(value: object, limit: int = DEFAULT_LIMIT) -> str:
    """Like ``safe_text``, for headings and cells: blanks are collapsed and stripped."""
    return " ".join(safe_text(value, limit).split())


def safe_characters(text: str) -> str:
    """Replace each unsafe character with exactly one safe one, for text in editors.

    Unlike in ``safe_text`` an unsafe character becomes U+FFFD. Joiners and selectors after a symbol
    stay, as they are part of an emoji.
    """
    if text.isascii() and text.isprintable():
        return text
    shown: list[str] = []
    before = ""
    run = 0
    for char in text:
        run = run + 1 if _combines(char) else 0
        keeps = (char in _EMOJI_PARTS and _begins_symbol(before)) or 0 < run <= MARKS_IN_A_ROW
        if (run and not before) or run > MARKS_IN_A_ROW:
            shown.append(_REPLACEMENT)
        elif keeps:
            shown.append(char)
        else:
            piece = next(_pieces(char, newlines=False), _REPLACEMENT)
            shown.append(piece if len(piece) == 1 else _REPLACEMENT)
        before = char
    return "".join(shown)


def _as_str(value: object) -> str:
    try:
        return str.__str__(value) if isinstance(value, str) else str(value)
    except Exception:
        return f"<{type(value).__name__}>"


def _cut(shown: list[str], length: int, limit: int) -> str:
    while shown and length >= limit:
        length -= len(shown.pop())
    return "".join(shown) + ELLIPSIS


def _pieces(text: str, newlines: bool) -> Iterator[str]:
    """Split the text into pieces to show: safe characters, and marks for unsafe ones."""
    before = ""
    run = 0
    for char in text:
        if char.isascii():
            piece = char if char.isprintable() else _ascii_control(char, before, newlines)
            run = 0
        elif _combines(char):
            run += 1
            piece = _combining(char, before, run)
        else:
            piece = _other(char, before)
            run = 0
        if piece:
            yield piece
        before = char


def _ascii_control(char: str, before: str, newlines: bool) -> str:
    if newlines and char in "\n\r\t":
        if char == "\t":
            return _TAB
        return "" if char == "\n" and before == "\r" else "\n"
    if char == _DELETE:
        return "␡"
    return chr(_CONTROL_PICTURES + ord(char))


def _combines(char: str) -> bool:
    return (
        unicodedata.category(char) in _COMBINING
        and char not in _BLANK_LETTERS
        and not _is_selector(char)
    )


def _combining(char: str, before: str, run: int) -> str:
    if run > MARKS_IN_A_ROW:
        return ELLIPSIS if run == MARKS_IN_A_ROW + 1 else ""
    if not before or before in "\n\r":
        # On nothing, it would land on whatever the screen shows before it.
        return _DOTTED_CIRCLE + char
    return char


def _other(char: str, before: str) -> str:
    category = unicodedata.category(char)
    if category == "Zs":
        return char if char == _IDEOGRAPHIC_SPACE else " "
    if char in _EMOJI_SELECTORS and _takes_selector(before):
        return ""  # only picks between two looks of the symbol before it
    if category in _INVISIBLE or char in _BLANK_LETTERS or _is_selector(char):
        return f"{_OPEN}U+{ord(char):04X}{_CLOSE}"
    return char


def _is_selector(char: str) -> bool:
    return "\ufe00" <= char <= "\ufe0f" or "\U000e0100" <= char <= "\U000e01ef"


def _begins_symbol(before: str) -> bool:
    """Whether this character is a symbol, so that a joiner or selector may follow."""
    return _takes_selector(before) or before in _EMOJI_SELECTORS


def _takes_selector(before: str) -> bool:
    return before != "" and (
        before in "#*0123456789" or unicodedata.category(before) in {"So", "Sm", "Sk", "Po"}
    )


def in_sentence(title: str) -> str:
    """A title in lower case for use within a sentence; abbreviations such as ZDR stay."""
    return " ".join(word if word.isupper() else word.lower() for word in title.split(" "))
