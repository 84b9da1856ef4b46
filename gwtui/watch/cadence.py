"""How often each resource is read, and when its value counts as stale."""

from __future__ import annotations

import math
from dataclasses import dataclass

from gwtui.client.errors import (
    GatewayError,
    InvalidRequestError,
    RateLimitedError,
    ServerError,
    StatusError,
)

_JITTER = 0.1
"""The share by which the time between two reads varies."""


@dataclass(frozen=True, slots=True)
class Cadence:
    """How often a feed reads, in seconds.

    ``seconds`` is the time between two reads, varied a little so that many dashboards do not poll
    in step. Values older than ``stale_after`` are stale; that allows two failed reads.
    ``local``: the feed reads from this machine, without a request.
    """

    seconds: float
    stale_after: float
    local: bool = False

    def next_delay(self, chance: float) -> float:
        """Seconds until the next read; ``chance`` is uniform in [0, 1)."""
        return self.seconds * (1 + _JITTER * (2 * chance - 1))


CREDITS = Cadence(10, stale_after=45)
KEYS = Cadence(20, stale_after=90)
ENDPOINTS = Cadence(15, stale_after=60)
WORKSPACES = Cadence(60, stale_after=240)
GUARDRAILS = Cadence(30, stale_after=120)
MODELS = Cadence(300, stale_after=900)
PROVIDERS = Cadence(300, stale_after=900)
ACTIVITY = Cadence(300, stale_after=900)
FINDINGS = Cadence(300, stale_after=900)
"""Findings need the lists of every workspace."""
AUDIT = Cadence(5, stale_after=30, local=True)
"""A local file."""
ALERTS = Cadence(5, stale_after=30, local=True)
"""A local file. Alerts of this process are shown at once."""
CATALOG = Cadence(600, stale_after=1800)
"""Rare, because the endpoints of all models take one request per model."""


FIRST_RETRY = 2.0
"""Seconds until the first retry, doubled with each further failure in a row."""
LONGEST_RETRY = 30.0
"""The maximum seconds between two retries."""
REFUSED_RETRY = 60.0
"""Seconds between retries after a response that retrying cannot change (401, 403, 404)."""
LONGEST_RETRY_AFTER = 300.0
"""The maximum Retry-After that is obeyed, in seconds."""
_MOST_DOUBLINGS = 10


class NothingRecordedError(GatewayError):
    """The session records no history; reading again cannot change that."""


class Restraint:
    """Pauses the polling of all feeds after a 429, because they share one rate limit."""

    def __init__(self) -> None:
        self.until = -math.inf
        """The end of the pause on the monotonic clock."""

    def hold(self, until: float) -> None:
        """Pause all feeds until a moment on the monotonic clock; never shortens a pause."""
        self.until = max(self.until, until)


def retry_delay(error: GatewayError, failures: int, chance: float) -> float:
    """Seconds to wait after ``failures`` failed reads in a row, the last one with ``error``.

    ``chance`` is uniform in [0, 1) and adds jitter. The delay is not shorter than the Retry-After
    of the error, up to ``LONGEST_RETRY_AFTER``. It is infinite after NothingRecordedError.
    """
    if isinstance(error, NothingRecordedError):
        return math.inf
    passes = isinstance(error, RateLimitedError | ServerError)
    if isinstance(error, StatusError | InvalidRequestError) and not passes:
        return REFUSED_RETRY * (1 + 0.1 * chance)
    doublings = min(max(failures - 1, 0), _MOST_DOUBLINGS)
    longest: float = min(FIRST_RETRY * 2**doublings, LONGEST_RETRY)
    delay = longest * (1 + chance) / 2
    if error.retry_after is not None:
        asked = min(max(error.retry_after, FIRST_RETRY), LONGEST_RETRY_AFTER)
        delay = max(asked * (1 + 0.1 * chance), delay)
    return delay
