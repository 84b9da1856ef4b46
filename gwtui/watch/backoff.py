"""When a failed read is tried again."""

from __future__ import annotations

import math

from gwtui.client.errors import (
    GatewayError,
    InvalidRequestError,
    RateLimitedError,
    ServerError,
    StatusError,
)

FIRST_RETRY = 2.0
"""Seconds to the first new attempt; doubles with each failure in a row."""
LONGEST_RETRY = 30.0
"""Seconds between attempts at most: a gateway that is back must be noticed soon."""
REFUSED_RETRY = 60.0
"""Seconds after a refusal that only a person can end (401, 403, 404 and their like)."""
LONGEST_RETRY_AFTER = 300.0
"""Seconds: a gateway that asks for longer is asked again anyway, once in this time."""
_MOST_DOUBLINGS = 10


class Restraint:
    """What the gateway asked of all feeds at once: none reads by itself before a moment.

    A limit on requests counts them together: were each feed to find out by itself, every one of
    them would knock at a gateway that has just asked for fewer.
    """

    def __init__(self) -> None:
        self.until = -math.inf
        """By the monotonic clock."""

    def hold(self, until: float) -> None:
        """Hold back until then; the latest one counts."""
        self.until = max(self.until, until)


def retry_delay(error: GatewayError, failures: int, chance: float) -> float:
    """Seconds to wait after ``failures`` failed reads in a row, the last one with ``error``.

    ``chance`` is uniform in [0, 1). What the gateway asks for in Retry-After is a minimum: jitter
    only ever adds to it, up to a tenth, and so does failing over and over.
    """
    if _is_refusal(error):
        return REFUSED_RETRY * (1 + 0.1 * chance)
    doublings = min(max(failures - 1, 0), _MOST_DOUBLINGS)
    longest: float = min(FIRST_RETRY * 2**doublings, LONGEST_RETRY)
    delay = longest * (1 + chance) / 2
    if isinstance(error, RateLimitedError | ServerError) and error.retry_after is not None:
        asked = min(max(error.retry_after, FIRST_RETRY), LONGEST_RETRY_AFTER)
        delay = max(asked * (1 + 0.1 * chance), delay)
    return delay


def _is_refusal(error: GatewayError) -> bool:
    """Whether asking again soon cannot help."""
    if isinstance(error, RateLimitedError | ServerError):
        return False
    return isinstance(error, StatusError | InvalidRequestError)
