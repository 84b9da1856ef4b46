"""Error boundaries: what fails in one cell, section, feed, panel or action costs that one alone."""

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
    """The errors that boundaries caught, one for each place in the code.

    Each place is logged once: the types and places of the error, and no value of it.
    """

    def __init__(self) -> None:
        self._places: set[tuple[str, str]] = set()

    def __len__(self) -> int:
        return len(self._places)

    def add(self, part: str, error: BaseException) -> bool:
        """Record an error of a part of the program; True for the first at its place.

        ``part`` is written to the log: it must hold nothing that came from the gateway.
        """
        place = part, _origin(error)
        if place in self._places:
            return False
        self._places.add(place)
        _log.error("%s failed", part, exc_info=error)
        return True

    def clear(self) -> None:
        """Forget all of them."""
        self._places.clear()


def _origin(error: BaseException) -> str:
    frames = traceback.extract_tb(error.__traceback__)
    return f"{frames[-1].filename}:{frames[-1].lineno}" if frames else type(error).__name__


caught_errors = CaughtErrors()


def guarded(part: str, make: Callable[P, R], instead: R) -> Callable[P, R]:
    """``make``, giving ``instead`` where it fails."""

    def call(*args: P.args, **kwargs: P.kwargs) -> R:
        try:
            return make(*args, **kwargs)
        except Exception as error:
            caught_errors.add(part, error)
            return instead

    return call
