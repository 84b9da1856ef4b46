"""Regular expressions that people type, searched with a time limit.

Patterns backtrack: one such as ``(a+)+$`` can take for ever. A search that takes longer than its
limit is given up.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Sequence
from typing import Any

MOST_PATTERN = 200
"""Characters of the pattern of a filter."""
SEARCH_LIMIT = 0.25
"""Seconds that the pattern of a filter may take for one text."""
SAMPLE_LIMIT = 2_000
"""Characters of a sample that are tried."""
SAMPLE_TIME = 0.2
"""Seconds that one pattern may take for a sample."""
TOO_SLOW = "takes too long: simplify the pattern"

Spans = tuple[tuple[int, int], ...]
"""Start and end of every match."""


class PatternError(ValueError):
    """Not a regular expression; the message is for the person who typed it."""


class Pattern:
    """The pattern of a filter, for casefolded texts. Raises PatternError.

    ``slow`` is set by the first search that took too long: from then on nothing matches.
    """

    def __init__(self, pattern: str) -> None:
        if len(pattern) > MOST_PATTERN:
            raise PatternError(f"a pattern has at most {MOST_PATTERN} characters")
        self.pattern = pattern
        self.slow = False
        self._compiled = _compiled(pattern, of_filter=True)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Pattern) and other.pattern == self.pattern

    def __hash__(self) -> int:
        return hash(self.pattern)

    def found_in(self, text: str) -> bool:
        """Whether any part of the text matches."""
        if self.slow:
            return False
        try:
            return self._compiled.search(text, timeout=SEARCH_LIMIT) is not None
        except TimeoutError:
            self.slow = True
            return False


def find_all(pattern: str, texts: Sequence[str], seconds: float) -> tuple[Spans, ...] | None:
    """All matches of a pattern in each text, empty ones included; lets other threads run.

    None when it did not finish in time, or is no regular expression.
    """
    until = time.monotonic() + seconds
    try:
        compiled = _compiled(pattern)
        return tuple(
            tuple(
                match.span()
                for match in compiled.finditer(
                    text, timeout=max(until - time.monotonic(), 0.001), concurrent=True
                )
            )
            for text in texts
        )
    except (TimeoutError, PatternError):
        return None


def _compiled(pattern: str, *, of_filter: bool = False) -> Any:
    """The pattern of a filter ignores case, and its dot matches every character.

    Raises PatternError.
    """
    import regex  # type: ignore[import-untyped]  # noqa: PLC0415 - for who types a pattern only

    flags = regex.IGNORECASE | regex.DOTALL if of_filter else 0
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of what may mean something else one day
            return regex.compile(pattern, flags)
    except (regex.error, OverflowError, RecursionError, ValueError) as error:
        raise PatternError(str(error) or "it is nested too deeply") from None
