"""How often each resource is read, and from when on a figure counts as old."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple


@dataclass(frozen=True, slots=True)
class Cadence:
    """The rhythm of a feed, in seconds.

    ``seconds`` lies between two reads; ``jitter`` spreads it by that share both ways, so that many
    dashboards do not knock in step. Beyond ``stale_after`` the last good value is shown as stale;
    it leaves room for a couple of failed reads before the screen raises its voice. ``local``: it is
    read from this machine, and no request goes out.

    Raises ValueError when the rhythm makes no sense.
    """

    seconds: float
    stale_after: float
    jitter: float = 0.1
    local: bool = False

    def __post_init__(self) -> None:
        if self.seconds <= 0:
            raise ValueError("a cadence must be longer than 0 seconds")
        if not 0 <= self.jitter < 1:
            raise ValueError("jitter must be at least 0 and less than 1")
        if self.stale_after < self.seconds:
            raise ValueError("stale_after must not be shorter than the cadence")

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
AUDIT = Cadence(5, stale_after=30, local=True)
"""A file of this machine, read only when it grew."""
ALERTS = Cadence(5, stale_after=30, local=True)
"""A file of this machine; what this instance itself finds is shown at once."""
CATALOG = Cadence(600, stale_after=1800)
"""Every model with its endpoints: one request per model, so it is read seldom."""
