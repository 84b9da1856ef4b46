"""How often each resource is read, and from when on a figure counts as old."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import NamedTuple

from gwtui.client.errors import (
    GatewayError,
    InvalidRequestError,
    RateLimitedError,
    ServerError,
    StatusError,
)


@dataclass(frozen=True, slots=True)
class Cadence:
    """The rhythm of a feed, in seconds.

    ``seconds`` lies between two reads; ``jitter`` spreads it by that share both ways, so that many
    dashboards do not knock in step. Beyond ``stale_after`` the last good value is shown as stale;
    it leaves room for a couple of failed reads before the screen raises its voice. ``local``: it is
    read from this machine, and no request goes out.
    """

    seconds: float
    stale_after: float
    jitter: float = 0.1
    local: bool = False

    def next_delay(self, chance: float) -> float:
        """Seconds until the next read; ``chance`` is uniform in [0, 1)."""
        return self.seconds * (1 + self.jitter * (2 * chance - 1))


class Load(NamedTuple):
    """What a feed asks of the gateway: ``requests`` every ``seconds``, a little more or less."""

    requests: int
    seconds: float

    @property
    def per_minute(self) -> float:
        """Requests in a minute."""
        return self.requests * 60 / self.seconds


CREDITS = Cadence(10, stale_after=45)
KEYS = Cadence(20, stale_after=90)
ENDPOINTS = Cadence(15, stale_after=60)
WORKSPACES = Cadence(60, stale_after=240)
GUARDRAILS = Cadence(30, stale_after=120)
MODELS = Cadence(300, stale_after=900)
PROVIDERS = Cadence(300, stale_after=900)
ACTIVITY = Cadence(300, stale_after=900)
FINDINGS = Cadence(300, stale_after=900)
"""Lists of every workspace; a write through this program reads them again at once."""
AUDIT = Cadence(5, stale_after=30, local=True)
"""A file of this machine, read only when it grew."""
ALERTS = Cadence(5, stale_after=30, local=True)
"""A file of this machine; what this instance itself finds is shown at once."""
CATALOG = Cadence(600, stale_after=1800)
"""Every model with its endpoints: one request per model, so it is read seldom."""


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
    """Until when no feed reads by itself, because the gateway asked for fewer requests.

    A limit on requests counts those of all feeds together: were each to find out by itself, every
    one would send a request to a gateway that has just asked for fewer.
    """

    def __init__(self) -> None:
        self.until = -math.inf
        """By the monotonic clock."""

    def hold(self, until: float) -> None:
        """Hold all feeds back until then; the latest moment counts."""
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
