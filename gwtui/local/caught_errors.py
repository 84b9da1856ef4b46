"""Error boundaries: a bug in one cell, section, feed, panel or action does not stop the program."""

from __future__ import annotations

import logging
import traceback
from collections.abc import Callable
from typing import ParamSpec, TypeVar

P = ParamSpec("P")
R = TypeVar("R")

BROKEN = "?"
"""Placeholder for a value that failed to compute because of a bug."""

_log = logging.getLogger(__name__)


class CaughtErrors:
    """Errors that were caught so that gwtui keeps running, at most one per line that raised.

    Each is logged once, with its type and traceback but without its message or any value.
    """

    def __init__(self) -> None:
        self._places: set[tuple[str, str]] = set()

    def __len__(self) -> int:
        return len(self._places)

    def add(self, part: str, error: BaseException) -> bool:
        """Record an error; returns True if it is the first one from its line of code.

        ``part`` names the part of the program that failed. It is logged, so it must not contain
        text from the gateway.
        """
        place = part, _origin(error)
        if place in self._places:
            return False
        self._places.add(place)
        _log.error("%s failed", part, exc_info=error)
        return True

    def clear(self) -> None:
        """Forget all recorded errors."""
        self._places.clear()


def _origin(error: BaseException) -> str:
    frames = traceback.extract_tb(error.__traceback__)
    return f"{frames[-1].filename}:{frames[-1].lineno}" if frames else type(error).__name__


caught_errors = CaughtErrors()


def guarded(part: str, make: Callable[P, R], instead: R) -> Callable[P, R]:
    """Wrap ``make`` so that it returns ``instead`` when it raises; the error is recorded."""

    def call(*args: P.args, **kwargs: P.kwargs) -> R:
        try:
            return make(*args, **kwargs)
        except Exception as error:
            caught_errors.add(part, error)
            return instead

    return call
