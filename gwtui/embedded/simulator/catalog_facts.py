"""How models compare: what they are for, how they score, where they are served.

The contract lets a client filter and order by these figures; the model object shows none of them.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from functools import cache
from typing import Any

from gwtui.embedded.simulator.catalog import Catalog, CatalogEndpoint, CatalogModel
from gwtui.embedded.simulator.endpoint_figures import live_figures
from gwtui.embedded.simulator.seed_data import ModelEntry, ProviderEntry, entries
from gwtui.embedded.simulator.seeded_random import between
from gwtui.lazy_dataclass import dataclass

_REASONING_SHARE = (0.35, 0.8)
_CACHED_SHARE = (0.15, 0.6)
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


def rank_of(model: CatalogModel) -> ModelRank:
    """How a model ranks; a variant such as ``:free`` has the rank of the model itself."""
    return _ranks().get(model.id.partition(":")[0], ModelRank())


@cache
def _ranks() -> Mapping[str, ModelRank]:
    return {
        model.id: ModelRank(categories=frozenset(model.categories), **model.rank)
        for model in entries(ModelEntry)
    }


@cache
def _providers() -> Mapping[str, ProviderEntry]:
    return {provider.slug: provider for provider in entries(ProviderEntry)}


def _provider_of(endpoint: CatalogEndpoint) -> ProviderEntry:
    return _providers()[str(endpoint.wire["tag"]).partition("/")[0]]


def popularity(model: CatalogModel) -> int:
    """Requests in an average half hour, over every endpoint."""
    return sum(endpoint.traits.requests for endpoint in model.endpoints)


def is_distillable(model: CatalogModel) -> bool:
    """Whether other models may be trained on what it writes: here those with open weights."""
    return model.wire["hugging_face_id"] is not None


def regions_of(endpoint: CatalogEndpoint) -> frozenset[str]:
    """``eu`` and ``us``, as far as the provider says where its data centres are."""
    countries = frozenset(_provider_of(endpoint).datacenters or ())
    european = {"eu"} if countries & _EUROPEAN_UNION else set()
    return frozenset(european | ({"us"} if "US" in countries else set()))


def is_zero_retention(endpoint: CatalogEndpoint) -> bool:
    """Whether nothing of a request outlives it at this endpoint."""
    promise = _provider_of(endpoint).zero_retention
    return promise == "always" or (promise == "standard" and endpoint.wire["service_tier"] is None)


def may_train(endpoint: CatalogEndpoint) -> bool:
    """Whether the provider may train with what is sent: who publishes no policy promises nothing.

    Retention of nothing leaves nothing to train with.
    """
    return "policies" in _provider_of(endpoint).no_pages and not is_zero_retention(endpoint)


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


def reasoning_tokens(catalog: Catalog, endpoint: CatalogEndpoint, completion_tokens: int) -> int:
    """How many completion tokens are reasoning; none for a model that does not reason."""
    model = catalog.model(endpoint.model_id)
    if model is None or model.wire.get("reasoning") is None:
        return 0
    return int(completion_tokens * between(*_REASONING_SHARE, 0, "reasoning", endpoint.key))


def cached_tokens(endpoint: CatalogEndpoint, prompt_tokens: int) -> int:
    """How many prompt tokens are read from a cache; none where there is no implicit caching."""
    if not endpoint.wire["supports_implicit_caching"]:
        return 0
    return int(prompt_tokens * between(*_CACHED_SHARE, 0, "cached", endpoint.key))
