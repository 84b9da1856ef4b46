"""Regular expressions typed by people, searched with a time limit.

Patterns such as ``(a+)+$`` can backtrack almost forever, so a search is stopped at its limit.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Sequence
from typing import Any

MOST_PATTERN = 200
"""Maximum length of the pattern of a filter."""
SEARCH_LIMIT = 0.25
"""Maximum seconds for one search of a filter's pattern."""
SAMPLE_LIMIT = 2_000
"""Maximum length of a sample text."""
SAMPLE_TIME = 0.2
"""Maximum seconds for one pattern on a sample text."""
TOO_SLOW = "takes too long: simplify the pattern"

Spans = tuple[tuple[int, int], ...]
"""Start and end of each match."""


class PatternError(ValueError):
    """The pattern is not a valid regular expression; the message is for the user."""


class Pattern:
    """The pattern of a filter, for casefolded texts. Raises PatternError.

    ``slow`` is True once a search has exceeded the time limit; the pattern then matches nothing.
    """

    def __init__(self, pattern: str) -> None:
        if len(pattern) > MOST_PATTERN:
            raise PatternError(f"a pattern has at most {MOST_PATTERN} characters")
        self.pattern = pattern
        self.slow = False
        self._compiled = _compiled(pattern, of_filter=True)

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
    """Find all matches, including empty matches, in each text, without blocking other threads.

    None if the time limit is exceeded or the pattern is invalid.
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
    """Compile a pattern. A filter's pattern ignores case, and its dot matches line breaks.

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
