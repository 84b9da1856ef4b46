"""How models stand beside each other: what they are for, how they score, where they are served.

The contract lets a client filter and order by these figures; the model object shows none of them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from gwtui.embedded.simulator.catalog import Catalog, CatalogEndpoint, CatalogModel
from gwtui.embedded.simulator.figures import live_figures
from gwtui.embedded.simulator.seeds import PROVIDERS

_EUROPEAN_UNION = frozenset({"DE", "FI", "FR", "IE", "NL", "SE"})
"""Members that a provider of the catalog has a data centre in."""


@dataclass(frozen=True, slots=True)
class ModelRank:
    """Indices and success in percent, arena rating in points; None where nobody measured."""

    categories: frozenset[str] = frozenset()
    intelligence: float | None = None
    coding: float | None = None
    agentic: float | None = None
    tool_success: float | None = None
    arena: float | None = None


def _of(
    categories: str,
    intelligence: float | None = None,
    coding: float | None = None,
    agentic: float | None = None,
    tool_success: float | None = None,
    arena: float | None = None,
) -> ModelRank:
    names = frozenset(categories.split())
    return ModelRank(names, intelligence, coding, agentic, tool_success, arena)


_STANDINGS: Mapping[str, ModelRank] = {
    "northwind/atlas-large": _of("programming legal finance", 61.5, 57.2, 55.0, 97.4, 1312),
    "northwind/atlas-mini": _of("programming marketing translation", 44.8, 41.0, 36.3, 94.1, 1204),
    "northwind/atlas-deep": _of("science academia finance", 70.2, 63.9, 61.7, 98.2, 1351),
    "northwind/atlas-voice": _of("roleplay"),
    "tessera/mosaic-70b-instruct": _of("programming technology", 38.7, 34.5, 27.9, 90.6, 1163),
    "tessera/mosaic-8b-instruct": _of("technology trivia", 22.4, 17.6, 11.2, 81.3),
    "larkspur/petite-plume": _of("translation marketing", 24.9, 18.8, None, None, 1098),
    "osprey-labs/ponder-32b": _of("science academia trivia", 47.3, 40.2, 33.8, 91.7),
    "osprey-labs/talon-moe-480b-a32b-instruct-long-context-2026-05": _of(
        "programming legal", 52.6, 50.8, 47.1, 95.0, 1257
    ),
    "helioscope/corona-code": _of("programming technology", 49.1, 66.4, 58.3, 96.6, 1240),
    "meridian/lens-pro": _of("finance health legal", 55.9, 46.7, 42.2, 95.8, 1289),
    "meridian/lens-flash": _of("marketing trivia", 41.2, 33.0, 29.5, 92.3, 1197),
    "meridian/lens-paint": _of("marketing", None, None, None, None, 1226),
    "ampersand/canvas-xl": _of("marketing", None, None, None, None, 1275),
}


def standing_of(model: CatalogModel) -> ModelRank:
    """How a model stands; a variant such as ``:free`` stands where the model itself does."""
    return _STANDINGS.get(model.id.partition(":")[0], ModelRank())


def popularity(model: CatalogModel) -> int:
    """Requests in an average half hour, over every endpoint."""
    return sum(endpoint.traits.requests for endpoint in model.endpoints)


def is_distillable(model: CatalogModel) -> bool:
    """Whether other models may be trained on what it writes: here those with open weights."""
    return model.wire["hugging_face_id"] is not None


def regions_of(endpoint: CatalogEndpoint) -> frozenset[str]:
    """``eu`` and ``us``, as far as the provider says where its data centres are."""
    countries = _COUNTRIES.get(str(endpoint.wire["tag"]).partition("/")[0], frozenset())
    european = {"eu"} if countries & _EUROPEAN_UNION else set()
    return frozenset(european | ({"us"} if "US" in countries else set()))


_COUNTRIES: Mapping[str, frozenset[str]] = {
    provider["slug"]: frozenset(provider["datacenters"] or ()) for provider in PROVIDERS
}


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
