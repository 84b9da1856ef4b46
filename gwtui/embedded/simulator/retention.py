"""Which endpoints keep no data: a trait of the provider, with the exceptions contracts have."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from gwtui.embedded.simulator.catalog import Catalog, CatalogEndpoint
from gwtui.embedded.simulator.figures import live_figures

_RETAINS_NOTHING = frozenset({"bitforge", "drumlin", "fjordcloud", "helioscope", "kestrel"})
"""Providers, by slug, that retain nothing whatever they serve."""

_ONLY_STANDARD = frozenset({"northwind", "quasar"})
"""Providers that retain nothing at their standard service tier only."""


def is_zero_retention(endpoint: CatalogEndpoint) -> bool:
    """Whether nothing of a request outlives it at this endpoint."""
    provider = str(endpoint.wire["tag"]).partition("/")[0]
    if provider in _ONLY_STANDARD:
        return endpoint.wire["service_tier"] is None
    return provider in _RETAINS_NOTHING


def zero_retention_endpoints(catalog: Catalog, moment: datetime) -> list[dict[str, Any]]:
    """``data`` of GET /endpoints/zdr with the figures of ``moment``, in the catalog's order.

    As with ``endpoints_answer`` nothing is hidden here.
    """
    return [
        {**endpoint.wire, **live_figures(catalog, endpoint.key, moment)}
        for model in catalog.models
        for endpoint in model.endpoints
        if is_zero_retention(endpoint)
    ]
