"""The verdict on an endpoint: does it work, by its own status and the share of good requests.

Contract "Endpoint object": ``uptime_*`` are percentages and null without enough traffic.
"""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal

from gwtui.contract.models import Endpoint
from gwtui.domain.cell_values import Tone
from gwtui.domain.money import percent_points

DOWN_BELOW = Decimal(50)
"""A request is more likely to fail than to succeed: nobody would call that working."""
DEGRADED_BELOW = Decimal(95)
"""More than one request in twenty fails: users notice, and retries cost money."""
ROUGH_DAY_BELOW = Decimal(90)
"""More than a tenth of the day's minutes were bad (under 80% success): not to be relied on."""

_WINDOWS = ("uptime_last_5m", "uptime_last_30m", "uptime_last_1d")


@dataclass(frozen=True, slots=True)
class UptimeVerdict:
    """``word`` is "healthy", "degraded", "down", "no traffic", "unknown" or "status N".

    ``why`` explains it in a sentence.
    """

    word: str
    tone: Tone
    why: str


def verdict(endpoint: Endpoint) -> UptimeVerdict:
    """The health of an endpoint.

    The newest window with traffic decides; the older ones can only lower the verdict. A status
    other than 0 is shown as it came, because the contract gives it no meaning, unless the figures
    already say that the endpoint is down.
    """
    found = _by_figures(endpoint)
    status = endpoint.status
    if not status:
        return found
    if found.word == "down":
        return UptimeVerdict("down", "bad", f"{found.why}; the gateway reports status {status}")
    why = f"the gateway reports status {status}, which the contract does not explain; {found.why}"
    return UptimeVerdict(f"status {status}", "warn", why)


def _by_figures(endpoint: Endpoint) -> UptimeVerdict:
    newest, half_hour, day = (
        endpoint.uptime_last_5m,
        endpoint.uptime_last_30m,
        endpoint.uptime_last_1d,
    )
    recent = newest if newest is not None else half_hour
    why = _figures(newest, half_hour, day)
    if recent is None:
        return _without_traffic(endpoint, why)
    if recent < DOWN_BELOW:
        return UptimeVerdict("down", "bad", f"very low success rate: {why}")
    if recent < DEGRADED_BELOW:
        return UptimeVerdict("degraded", "warn", f"low success rate: {why}")
    if half_hour is not None and half_hour < DEGRADED_BELOW:
        return UptimeVerdict("degraded", "warn", f"recovering: {why}")
    if day is not None and day < ROUGH_DAY_BELOW:
        return UptimeVerdict("degraded", "warn", f"works now after a rough day: {why}")
    return UptimeVerdict("healthy", "good", why)


def _without_traffic(endpoint: Endpoint, why: str) -> UptimeVerdict:
    if all(window in endpoint.gaps and _unsaid(endpoint, window) for window in _WINDOWS):
        return UptimeVerdict("unknown", "muted", "the response contains no readable uptime")
    if endpoint.uptime_last_1d is None:
        return UptimeVerdict("no traffic", "muted", "too few requests today to tell")
    return UptimeVerdict("no traffic", "muted", f"too few requests in the last 30 minutes; {why}")


def _unsaid(endpoint: Endpoint, window: str) -> bool:
    """Whether the figure is missing or unreadable; null means no traffic."""
    return endpoint.raw.get(window, "missing") is not None


def _figures(newest: Decimal | None, half_hour: Decimal | None, day: Decimal | None) -> str:
    named = (("5 min", newest), ("30 min", half_hour), ("1 day", day))
    return ", ".join(
        f"{name} {percent_points(points, places=2)}" for name, points in named if points is not None
    )
