"""The simulated providers behind the endpoints: how soon and how fast they answer, how often not.

An endpoint takes as long and fails as often as its live figures say. Chance is passed in.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime

from gwtui.domain.routing import RouteAttempt
from gwtui.embedded.responses import Refusal
from gwtui.embedded.simulator.catalog import Catalog, CatalogEndpoint
from gwtui.embedded.simulator.endpoint_figures import EndpointHealth
from gwtui.embedded.simulator.seeded_random import between, fraction

PROVIDER_ERROR = "Provider returned error"
_ACCEPTED_AFTER = 0.3
"""Share of the time to the first token after which an endpoint says whether it answers at all."""
_BREAKS_OFF = 0.25
"""Share of the failures that happen in the middle of an answer."""
_MS = 1000
_KINDS = ((0.6, 502), (0.85, 429), (1.0, 503))
"""How often a failure is of which status, as running sums."""
_RAW = {
    502: '{"error":"upstream connect error"}',
    429: '{"error":"rate limit of the shared pool"}',
    503: '{"error":"overloaded"}',
}
_ERROR_TYPES = {
    502: "provider_unavailable",
    429: "rate_limit_exceeded",
    503: "provider_overloaded",
}


@dataclass(frozen=True, slots=True)
class Pace:
    """How an endpoint takes one request."""

    latency_ms: float
    """To the first token, or to the whole result where there are no tokens."""
    tokens_per_second: float | None

    @property
    def accepted_after(self) -> float:
        """Seconds until it says whether it answers."""
        return self.latency_ms / _MS * _ACCEPTED_AFTER

    @property
    def thinks_for(self) -> float:
        """Seconds from there to the first token."""
        return self.latency_ms / _MS * (1 - _ACCEPTED_AFTER)

    def writing(self, tokens: int) -> float:
        """Seconds that so many tokens take."""
        return tokens / self.tokens_per_second if self.tokens_per_second else 0.0


def pace_of(
    catalog: Catalog, item: CatalogEndpoint, attempt: RouteAttempt, generation_id: str
) -> Pace:
    """The pace of one request, around what the endpoint's figures show."""
    latency, speed = attempt.endpoint.latency_last_30m, attempt.endpoint.throughput_last_30m
    delay = float(latency.p50) if latency and latency.p50 is not None else item.latency_ms
    rate = float(speed.p50) if speed and speed.p50 is not None else item.throughput
    spread = between(0.8, 1.25, catalog.seed, generation_id, item.key)
    return Pace(delay * spread, None if not rate else rate / spread)


def failing_share(catalog: Catalog, item: CatalogEndpoint, moment: datetime) -> float:
    """Share of the requests that fail now."""
    health = EndpointHealth(catalog.seed, item.key, item.condition)
    return health.failures(moment.timestamp())


def check_accepted(
    catalog: Catalog,
    item: CatalogEndpoint,
    attempt: RouteAttempt,
    moment: datetime,
    chance: Callable[[], float],
) -> None:
    """Raise a 429, 502 or 503 when the endpoint does not take the request."""
    if chance() >= failing_share(catalog, item, moment):
        return
    kind = fraction(catalog.seed, "failure", item.key, moment.isoformat())
    status = next(status for share, status in _KINDS if kind < share)
    metadata = {
        "error_type": _ERROR_TYPES[status],
        "raw": _RAW[status],
        "provider_name": attempt.endpoint.provider_name,
        "is_byok": attempt.credential is not None,
    }
    if status == 429:  # noqa: PLR2004 - as above
        metadata["limit_source"] = "upstream_provider_shared_pool"
    raise Refusal(status, PROVIDER_ERROR, metadata=metadata)


def breaks_off(
    catalog: Catalog, item: CatalogEndpoint, moment: datetime, chance: Callable[[], float]
) -> bool:
    """Whether the endpoint fails in the middle of its answer."""
    return chance() < failing_share(catalog, item, moment) * _BREAKS_OFF
