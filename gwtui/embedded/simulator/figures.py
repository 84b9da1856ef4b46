"""Live figures of an endpoint: latency, throughput, uptime, as functions of the moment."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from gwtui.embedded.simulator.catalog import Catalog, CatalogEndpoint
from gwtui.embedded.simulator.chance import between, smooth
from gwtui.embedded.simulator.health import MINUTE, Health
from gwtui.embedded.simulator.rhythm import rate_now
from gwtui.embedded.simulator.seeds import Workload

STEP = 15
"""Seconds for which the figures stand still: rolling windows are computed this often."""

_SECOND_WORKLOAD_SHARE = 0.35
_PICTURE_DELAY = 3.5
"""A whole picture takes this much longer than the first token of the same model."""
_DOWN_DELAY = 4.0
_DOWN_TRAFFIC = 0.05


def live_figures(catalog: Catalog, endpoint_key: str, moment: datetime) -> dict[str, Any]:
    """The moving fields of an endpoint object, to be merged over its standing ones.

    ``latency_last_30m`` (ms), ``throughput_last_30m`` (tokens/s), ``perf_last_30m_by_workload``,
    ``uptime_last_5m``, ``uptime_last_30m`` and ``uptime_last_1d`` (%). Without traffic the figures
    are null and no workload is listed. Raises KeyError for an unknown endpoint.
    """
    endpoint = catalog.endpoint(endpoint_key)
    at = float(moment.timestamp() // STEP * STEP)
    if endpoint.traits.condition == "idle":
        return _figures({}, None, None, None)
    health = Health(catalog.seed, endpoint.key, endpoint.traits.condition)
    performance = _performance(catalog.seed, endpoint, health, at)
    # A minute with fewer than ten attempts does not count towards an uptime.
    sparse = endpoint.traits.condition == "sparse"
    return _figures(
        performance,
        None if sparse else health.uptime(at, 5 * MINUTE, 10),
        health.uptime(at, 30 * MINUTE, 15),
        None if sparse else health.good_minutes(at),
    )


def endpoints_answer(catalog: Catalog, model_id: str, moment: datetime) -> dict[str, Any] | None:
    """``data`` of GET /models/{author}/{slug}/endpoints with the figures of ``moment``.

    None when there is no such model. Nothing is hidden here: fields that only authenticated
    callers may see (contract "Authentication", rule 4) are the caller's to take out.
    """
    model = catalog.model(model_id)
    if model is None:
        return None
    wire = model.wire
    return {
        **{name: wire[name] for name in ("id", "name", "created", "description", "architecture")},
        "endpoints": [
            {**endpoint.wire, **live_figures(catalog, endpoint.key, moment)}
            for endpoint in model.endpoints
        ],
    }


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


def _performance(seed: int, endpoint: CatalogEndpoint, health: Health, at: float) -> dict[str, Any]:
    """One entry per workload, the model's main one first."""
    traits = endpoint.traits
    down = traits.condition == "down"
    load = _load(seed, endpoint.key, at)
    slowness = (
        (1 + 2.2 * health.strain(at, 30 * MINUTE))
        * (0.86 + 0.14 * load)
        * (_DOWN_DELAY if down else 1)
    )
    traffic = traits.requests * load * (_DOWN_TRAFFIC if down else 1)
    shares = _shares(len(traits.workloads))
    found: dict[str, Any] = {}
    for position, (workload, share) in enumerate(zip(traits.workloads, shares, strict=True)):
        delay = _PICTURE_DELAY if position and workload == "image_generation" else 1.0
        found[workload] = {
            "latency": _latency(
                seed, f"{endpoint.key}:{workload}", at, traits.latency_ms * delay * slowness
            ),
            "throughput": _throughput(seed, endpoint, workload, at, slowness),
            "request_count": round(traffic * share),
        }
    return found


def _shares(workloads: int) -> tuple[float, ...]:
    return (1.0,) if workloads == 1 else (1 - _SECOND_WORKLOAD_SHARE, _SECOND_WORKLOAD_SHARE)


def _load(seed: int, key: str, at: float) -> float:
    """Traffic, 1 being the day's average: the day's rhythm shifted to where the customers are."""
    hour = (at / 3600 + between(-3, 3, seed, "shift", key)) % 24
    return rate_now("steady", hour) * (0.8 + 0.4 * smooth(seed, f"load:{key}", at / 900))


def _wander(seed: int, name: str, at: float, minutes: float) -> float:
    return smooth(seed, name, at / (minutes * MINUTE))


def _latency(seed: int, name: str, at: float, typical: float) -> dict[str, int]:
    """Milliseconds; each percentile lies above the one before."""
    own = between(0.92, 1.08, seed, "latency", name)
    p50 = typical * own * (0.9 + 0.2 * _wander(seed, f"p50:{name}", at, 7))
    p75 = p50 * (1.2 + 0.15 * _wander(seed, f"p75:{name}", at, 11))
    p90 = p75 * (1.3 + 0.25 * _wander(seed, f"p90:{name}", at, 8))
    p99 = p90 * (1.5 + 0.9 * _wander(seed, f"p99:{name}", at, 5))
    return {"p50": round(p50), "p75": round(p75), "p90": round(p90), "p99": round(p99)}


def _throughput(
    seed: int, endpoint: CatalogEndpoint, workload: Workload, at: float, slowness: float
) -> dict[str, float] | None:
    """Tokens per second; pN is reached by N % of requests, so each lies below the one before."""
    typical = endpoint.traits.throughput
    if typical is None or workload != "text_generation":
        return None
    name = f"speed:{endpoint.key}"
    p50 = typical / slowness**0.6 * (0.92 + 0.16 * _wander(seed, f"p50:{name}", at, 9))
    p75 = p50 * (0.78 + 0.1 * _wander(seed, f"p75:{name}", at, 12))
    p90 = p75 * (0.7 + 0.14 * _wander(seed, f"p90:{name}", at, 8))
    p99 = p90 * (0.45 + 0.25 * _wander(seed, f"p99:{name}", at, 6))
    return {"p50": round(p50, 1), "p75": round(p75, 1), "p90": round(p90, 1), "p99": round(p99, 1)}
