"""Live figures: within range, ordered, moving with time, null where there is no traffic."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from itertools import pairwise
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from gwtui.embedded.simulator.catalog import Catalog, CatalogEndpoint, build_catalog
from gwtui.embedded.simulator.endpoint_figures import STEP, live_figures

MOMENT = datetime(2026, 11, 21, 9, 0, tzinfo=UTC)
PERCENTILES = ("p50", "p75", "p90", "p99")
CATALOG = build_catalog(1)
MINUTES = [MOMENT + timedelta(minutes=minute) for minute in range(0, 720, 5)]


def endpoints(condition: str | None = None, catalog: Catalog = CATALOG) -> list[CatalogEndpoint]:
    return [
        endpoint
        for model in catalog.models
        for endpoint in model.endpoints
        if condition in {None, endpoint.condition}
    ]


def series(key: str, field: str) -> list[Any]:
    return [live_figures(CATALOG, key, moment)[field] for moment in MINUTES]


@given(
    endpoint=st.sampled_from(endpoints()),
    moment=st.datetimes(datetime(2025, 1, 1), datetime(2031, 1, 1)),  # noqa: DTZ001
)
def test_ranges_and_order_at_any_moment(endpoint: CatalogEndpoint, moment: datetime) -> None:
    figures = live_figures(CATALOG, endpoint.key, moment.replace(tzinfo=UTC))
    for window in ("5m", "30m", "1d"):
        uptime = figures[f"uptime_last_{window}"]
        assert uptime is None or 0 <= uptime <= 100
    for workload, performance in figures["perf_last_30m_by_workload"].items():
        latency = [performance["latency"][name] for name in PERCENTILES]
        assert latency == sorted(latency)
        assert latency[0] > 0
        assert performance["request_count"] >= 0
        if workload == "text_generation":
            speed = [performance["throughput"][name] for name in PERCENTILES]
            assert speed == sorted(speed, reverse=True)
            assert speed[-1] > 0
        else:
            assert performance["throughput"] is None


def test_figures_stand_still_within_a_step_and_move_within_minutes() -> None:
    key = "northwind/atlas-large|northwind"
    start = live_figures(CATALOG, key, MOMENT)
    assert live_figures(CATALOG, key, MOMENT + timedelta(seconds=STEP - 1)) == start
    assert live_figures(CATALOG, key, MOMENT + timedelta(minutes=2)) != start


def test_healthy_figures_move_smoothly() -> None:
    for endpoint in endpoints("healthy"):
        medians = [
            live_figures(CATALOG, endpoint.key, MOMENT + timedelta(seconds=30 * step))[
                "latency_last_30m"
            ]["p50"]
            for step in range(60)
        ]
        assert len(set(medians)) > 1, endpoint.key
        assert all(abs(b - a) <= 0.12 * a + 2 for a, b in pairwise(medians)), endpoint.key


def test_traffic_has_a_daily_rhythm() -> None:
    key = "northwind/atlas-large|northwind"
    counts = [
        live_figures(CATALOG, key, MOMENT + timedelta(hours=hour))["perf_last_30m_by_workload"][
            "text_generation"
        ]["request_count"]
        for hour in range(24)
    ]
    assert max(counts) > 1.4 * min(counts)


def test_no_traffic_is_null_everywhere() -> None:
    idle = endpoints("idle")
    assert len(idle) >= 2
    for endpoint in idle:
        figures = live_figures(CATALOG, endpoint.key, MOMENT)
        assert figures.pop("perf_last_30m_by_workload") == {}
        assert set(figures.values()) == {None}


def test_sparse_traffic_has_no_minutes_to_count() -> None:
    for endpoint in endpoints("sparse"):
        figures = live_figures(CATALOG, endpoint.key, MOMENT)
        assert figures["uptime_last_5m"] is None
        assert figures["uptime_last_1d"] is None
        assert figures["uptime_last_30m"] is not None


def test_the_endpoint_that_is_down() -> None:
    (down,) = endpoints("down")
    assert down.wire["status"] < 0
    assert max(series(down.key, "uptime_last_30m")) < 10
    assert set(series(down.key, "uptime_last_1d")) == {0.0}


def test_the_degraded_endpoint_has_bad_spells_and_recovers() -> None:
    (degraded,) = endpoints("degraded")
    uptimes = series(degraded.key, "uptime_last_5m")
    assert max(uptimes) > 90
    assert min(uptimes) < 75
    assert max(series(degraded.key, "uptime_last_30m")) < 97
    assert 20 < min(series(degraded.key, "uptime_last_1d")) < 95
    speeds = [figure["p50"] for figure in series(degraded.key, "throughput_last_30m")]
    assert max(speeds) > 1.5 * min(speeds)


def test_healthy_endpoints_are_mostly_well_and_sometimes_not() -> None:
    uptimes = [
        uptime
        for item in endpoints("healthy")[:30]
        for uptime in series(item.key, "uptime_last_5m")
    ]
    assert sorted(uptimes)[len(uptimes) // 2] > 99.5
    assert min(uptimes) < 95
    assert sum(uptime < 95 for uptime in uptimes) < 0.05 * len(uptimes)


def test_the_top_level_figures_are_those_of_the_main_workload() -> None:
    key = "meridian/lens-paint|tidepool"
    figures = live_figures(CATALOG, key, MOMENT)
    text = figures["perf_last_30m_by_workload"]["text_generation"]
    assert len(figures["perf_last_30m_by_workload"]) == 2
    assert figures["latency_last_30m"] == text["latency"]
    assert figures["throughput_last_30m"] == text["throughput"]
