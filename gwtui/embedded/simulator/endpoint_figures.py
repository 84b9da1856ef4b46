"""Live figures of an endpoint (latency, throughput, uptime), as functions of the moment."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from functools import lru_cache
from typing import Any

from gwtui.embedded.simulator.catalog import Catalog, CatalogEndpoint
from gwtui.embedded.simulator.seeded_random import between, fraction, smooth
from gwtui.embedded.simulator.usage import rate_now

MINUTE = 60
DAY = 86_400
BAD_MINUTE = 0.2
"""A minute with a higher share of failed attempts is bad (contract, uptime_last_1d)."""

_RAMP = 4 * MINUTE
_STRAIN_AT = tuple((index + 0.5) / 12 for index in range(12))


@dataclass(frozen=True, slots=True)
class _Habit:
    """Failure shares of a condition; at most one incident starts and ends within each slot."""

    base: tuple[float, float]
    slot: int
    """Length of a slot in seconds."""
    chance: float
    minutes: tuple[float, float]
    depth: tuple[float, float]


_GOOD = _Habit(base=(0.0, 0.009), slot=8 * 3600, chance=0.07, minutes=(12, 45), depth=(0.08, 0.6))
_HABITS: Mapping[str, _Habit] = {
    "healthy": _GOOD,
    "sparse": _GOOD,
    "idle": _GOOD,
    "degraded": _Habit(
        base=(0.05, 0.13), slot=100 * MINUTE, chance=0.65, minutes=(20, 55), depth=(0.2, 0.5)
    ),
    "down": _Habit(base=(0.96, 1.0), slot=DAY, chance=0.0, minutes=(0, 0), depth=(0, 0)),
}


@dataclass(frozen=True, slots=True)
class _Incident:
    start: float
    end: float
    depth: float

    def strength(self, at: float) -> float:
        """Return the strength: 0 outside the incident, 1 in the middle, ramps at both ends."""
        part = min((at - self.start) / _RAMP, (self.end - at) / _RAMP, 1.0)
        return part * part * (3.0 - 2.0 * part) if part > 0 else 0.0


@dataclass(frozen=True, slots=True)
class EndpointHealth:
    """The reliability of an endpoint. Moments are seconds since the epoch."""

    seed: int
    key: str
    condition: str

    def strain(self, at: float, window: int) -> float:
        """Return the share of the last ``window`` seconds spent in incidents, 0..1."""
        return sum(self._trouble(at - share * window) for share in _STRAIN_AT) / len(_STRAIN_AT)

    def failures(self, at: float) -> float:
        """Return the share of attempts that fail, 0..1."""
        low, high = _HABITS[self.condition].base
        # Cubed, so that a good endpoint is close to its best most of the time.
        share = low + (high - low) * smooth(self.seed, f"fail:{self.key}", at / 600) ** 3
        incident = self._incident_at(at)
        if incident:
            share += incident.depth * incident.strength(at)
        return min(share, 1.0)

    def uptime(self, at: float, window: int, samples: int) -> float:
        """Return the percentage of attempts that succeeded in the last ``window`` seconds."""
        step = window / samples
        lost = sum(self.failures(at - (index + 0.5) * step) for index in range(samples))
        return round(100 * (1 - lost / samples), 3)

    def good_minutes(self, at: float) -> float:
        """Return the percentage of the last day's minutes with at least 80% success."""
        last = int(at // MINUTE)
        first = last - DAY // MINUTE
        habit = _HABITS[self.condition]
        if habit.base[0] >= BAD_MINUTE:
            return 0.0
        slots = range(first * MINUTE // habit.slot, (last - 1) * MINUTE // habit.slot + 1)
        bad = sum(
            bisect_left(minutes, last) - bisect_left(minutes, first)
            for minutes in (_bad_minutes(self, slot) for slot in slots)
        )
        return round(100 * (1 - bad / (last - first)), 3)

    def _trouble(self, at: float) -> float:
        incident = self._incident_at(at)
        return incident.strength(at) if incident else 0.0

    def _incident_at(self, at: float) -> _Incident | None:
        slot = _HABITS[self.condition].slot
        incident = _incident(self.seed, self.key, self.condition, int(at // slot))
        return incident if incident and incident.start < at < incident.end else None


@lru_cache(maxsize=4096)
def _incident(seed: int, key: str, condition: str, slot: int) -> _Incident | None:
    habit = _HABITS[condition]
    name = ("incident", key, slot)
    if fraction(seed, *name) >= habit.chance:
        return None
    length = between(*habit.minutes, seed, *name, "length") * MINUTE
    start = slot * habit.slot + (habit.slot - length) * fraction(seed, *name, "start")
    return _Incident(start, start + length, between(*habit.depth, seed, *name, "depth"))


@lru_cache(maxsize=4096)
def _bad_minutes(health: EndpointHealth, slot: int) -> tuple[int, ...]:
    incident = _incident(health.seed, health.key, health.condition, slot)
    if incident is None:
        return ()
    minutes = range(int(incident.start // MINUTE), int(incident.end // MINUTE) + 1)
    return tuple(
        minute
        for minute in minutes
        if incident.start < minute * MINUTE < incident.end
        and health.failures(minute * MINUTE) > BAD_MINUTE
    )


STEP = 15
"""Interval in seconds during which the figures are constant."""

_SECOND_WORKLOAD_SHARE = 0.35
_PICTURE_DELAY = 3.5
"""Time of a complete image, as a multiple of the model's time to the first token."""
_DOWN_DELAY = 4.0
_DOWN_TRAFFIC = 0.05


def live_figures(catalog: Catalog, endpoint_key: str, moment: datetime) -> dict[str, Any]:
    """Return the live fields of an endpoint object, to be merged over the others.

    ``latency_last_30m`` (ms), ``throughput_last_30m`` (tokens/s), ``perf_last_30m_by_workload``,
    ``uptime_last_5m``, ``uptime_last_30m`` and ``uptime_last_1d`` (%). Without traffic the figures
    are null and no workload is listed. Raises KeyError for an unknown endpoint.
    """
    endpoint = catalog.endpoint(endpoint_key)
    at = float(moment.timestamp() // STEP * STEP)
    if endpoint.condition == "idle":
        return _figures({}, None, None, None)
    health = EndpointHealth(catalog.seed, endpoint.key, endpoint.condition)
    performance = _performance(catalog.seed, endpoint, health, at)
    # A minute with fewer than ten attempts does not count towards an uptime.
    sparse = endpoint.condition == "sparse"
    return _figures(
        performance,
        None if sparse else health.uptime(at, 5 * MINUTE, 10),
        health.uptime(at, 30 * MINUTE, 15),
        None if sparse else health.good_minutes(at),
    )


def endpoints_answer(catalog: Catalog, model_id: str, moment: datetime) -> dict[str, Any] | None:
    """Return ``data`` of GET /models/{author}/{slug}/endpoints with the figures of ``moment``.

    None if there is no such model. All fields are included: the caller removes those that only
    authenticated clients may see (contract "Authentication", rule 4).
    """
    model = catalog.model(model_id)
    if model is None:
        return None
    wire = model.wire
    return {
        **{name: wire[name] for name in ("id", "name", "created", "description", "architecture")},
        "endpoints": [shown_endpoint(catalog, endpoint, moment) for endpoint in model.endpoints],
    }


def shown_endpoint(catalog: Catalog, endpoint: CatalogEndpoint, moment: datetime) -> dict[str, Any]:
    """Return the complete endpoint object, with its live figures at a moment."""
    return {**endpoint.wire, **live_figures(catalog, endpoint.key, moment)}


def _figures(
    performance: dict[str, Any],
    minutes_5: float | None,
    minutes_30: float | None,
    day: float | None,
) -> dict[str, Any]:
    first: dict[str, Any] = next(iter(performance.values()), {})
    return {
        "latency_last_30m": first.get("latency"),
        "throughput_last_30m": first.get("throughput"),
        "perf_last_30m_by_workload": performance,
        "uptime_last_5m": minutes_5,
        "uptime_last_30m": minutes_30,
        "uptime_last_1d": day,
    }


def _performance(
    seed: int, endpoint: CatalogEndpoint, health: EndpointHealth, at: float
) -> dict[str, Any]:
    # One entry per workload, the model's main one first.
    down = endpoint.condition == "down"
    load = _load(seed, endpoint.key, at)
    slowness = (
        (1 + 2.2 * health.strain(at, 30 * MINUTE))
        * (0.86 + 0.14 * load)
        * (_DOWN_DELAY if down else 1)
    )
    traffic = endpoint.requests * load * (_DOWN_TRAFFIC if down else 1)
    shares = _shares(len(endpoint.workloads))
    workloads: dict[str, Any] = {}
    for position, (workload, share) in enumerate(zip(endpoint.workloads, shares, strict=True)):
        delay = _PICTURE_DELAY if position and workload == "image_generation" else 1.0
        workloads[workload] = {
            "latency": _latency(
                seed, f"{endpoint.key}:{workload}", at, endpoint.latency_ms * delay * slowness
            ),
            "throughput": _throughput(seed, endpoint, workload, at, slowness),
            "request_count": round(traffic * share),
        }
    return workloads


def _shares(workloads: int) -> tuple[float, ...]:
    return (1.0,) if workloads == 1 else (1 - _SECOND_WORKLOAD_SHARE, _SECOND_WORKLOAD_SHARE)


def _load(seed: int, key: str, at: float) -> float:
    # Traffic relative to the average of the day, shifted by the customers' time zone.
    hour = (at / 3600 + between(-3, 3, seed, "shift", key)) % 24
    return rate_now("steady", hour) * (0.8 + 0.4 * smooth(seed, f"load:{key}", at / 900))


_LATENCY_STEPS = ((75, 1.2, 0.15, 11), (90, 1.3, 0.25, 8), (99, 1.5, 0.9, 5))
_SPEED_STEPS = ((75, 0.78, 0.1, 12), (90, 0.7, 0.14, 8), (99, 0.45, 0.25, 6))
"""Each step: percentile, minimum ratio to the one before, range of the ratio, minutes to vary."""


def _percentiles(
    seed: int,
    name: str,
    at: float,
    p50: float,
    steps: Iterable[tuple[int, float, float, int]],
    digits: int | None = None,
) -> dict[str, float]:
    percentiles = {"p50": p50}
    for percentile, low, span, minutes in steps:
        wander = smooth(seed, f"p{percentile}:{name}", at / (minutes * MINUTE))
        p50 *= low + span * wander
        percentiles[f"p{percentile}"] = p50
    return {each: round(value, digits) for each, value in percentiles.items()}


def _latency(seed: int, name: str, at: float, typical: float) -> dict[str, float]:
    # In milliseconds, ascending by percentile.
    own = between(0.92, 1.08, seed, "latency", name)
    p50 = typical * own * (0.9 + 0.2 * smooth(seed, f"p50:{name}", at / (7 * MINUTE)))
    return _percentiles(seed, name, at, p50, _LATENCY_STEPS)


def _throughput(
    seed: int, endpoint: CatalogEndpoint, workload: str, at: float, slowness: float
) -> dict[str, float] | None:
    # Tokens per second. pN is reached by N % of requests, so the values descend by percentile.
    typical = endpoint.throughput
    if typical is None or workload != "text_generation":
        return None
    name = f"speed:{endpoint.key}"
    wander = smooth(seed, f"p50:{name}", at / (9 * MINUTE))
    p50 = typical / slowness**0.6 * (0.92 + 0.16 * wander)
    return _percentiles(seed, name, at, p50, _SPEED_STEPS, 1)
