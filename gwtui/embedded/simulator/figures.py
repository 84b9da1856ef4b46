"""Live figures of an endpoint: latency, throughput, uptime, as functions of the moment."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from gwtui.embedded.simulator.catalog import Catalog


def live_figures(catalog: Catalog, endpoint_key: str, moment: datetime) -> dict[str, Any]:
    """The moving fields of an endpoint object, to be merged over its standing ones.

    ``latency_last_30m`` (ms), ``throughput_last_30m`` (tokens/s), ``perf_last_30m_by_workload``,
    ``uptime_last_5m``, ``uptime_last_30m`` and ``uptime_last_1d`` (%). Without traffic the figures
    are null and no workload is listed. Raises KeyError for an unknown endpoint.
    """
