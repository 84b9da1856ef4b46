"""Tokens of a text: pieces of up to six letters. Prompts and answers are counted alike."""

from __future__ import annotations

import re

from pydantic import JsonValue

_PIECE = re.compile(r"\s*(?:\w{1,6}|[^\w\s])|\s+")

MESSAGE_TOKENS = 4
"""What a message takes beside its text."""
PROMPT_TOKENS = 3
MEDIA_TOKENS = {"image": 258, "audio": 120, "file": 300, "video": 300}
"""What one part of a message takes that is not text."""


def pieces(text: str) -> list[str]:
    """The tokens of a text; joined they are the text."""
    return _PIECE.findall(text)


def count(text: str) -> int:
    """How many tokens a text has."""
    return len(pieces(text))


def count_inside(value: JsonValue) -> int:
    """Tokens of every name and value of a JSON value."""
    if isinstance(value, dict):
        return sum(count(name) + count_inside(part) for name, part in value.items())
    if isinstance(value, list):
        return sum(map(count_inside, value))
    return count(str(value))
