"""Filters and orders of GET /models. Extended contract section 7."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from datetime import datetime
from decimal import Decimal
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from gwtui.contract.models import Endpoint, Model
from gwtui.domain.catalog import CatalogView, EndpointKey, ModelWithEndpoints, endpoint_key
from gwtui.domain.guardrail_effect import effect_on_model, restrictions_of
from gwtui.embedded.operations import Site
from gwtui.embedded.simulator.catalog import build_catalog
from gwtui.embedded.simulator.endpoint_figures import live_figures
from gwtui.embedded.store.budgets import Binding

if TYPE_CHECKING:
    from gwtui.embedded.simulator.catalog import Catalog, CatalogEndpoint, CatalogModel

ANY_OUTPUT = "all"
_DAY_SECONDS = 86_400

SORTS = (
    "most-popular",
    "newest",
    "top-weekly",
    "pricing-low-to-high",
    "pricing-high-to-low",
    "context-high-to-low",
    "throughput-high-to-low",
    "latency-low-to-high",
    "intelligence-high-to-low",
    "coding-high-to-low",
    "agentic-high-to-low",
    "design-arena-elo-high-to-low",
)
"""Models without the figure that an order compares come last, newest first."""

INDICES = {
    "intelligence_index": "intelligence",
    "coding_index": "coding",
    "agentic_index": "agentic",
}
"""Figures with a lower and an upper bound each, in percent, and their names in the data file."""
TOOL_SUCCESS = "tool_success_rate"
"""A figure like these that is a share from 0 to 1."""
REGIONS = ("eu", "us")


def select(catalog: Catalog, query: Mapping[str, Any], now: datetime) -> list[CatalogModel]:
    """The models that pass every given filter, in the order that was asked for."""
    found = [
        model
        for model in catalog.models
        if _passes(model.wire, query) and _offers(model, query, now) and _suits(model, query)
    ]
    order = query.get("sort")
    if order is None:
        return found
    figure, descending = _order(catalog, order, now)
    known = [(value, model) for model in found if (value := figure(model)) is not None]
    known.sort(key=lambda pair: pair[0], reverse=descending)
    ranked = [model for _, model in known]
    return ranked + [model for model in found if figure(model) is None]


def _passes(wire: Mapping[str, Any], query: Mapping[str, Any]) -> bool:
    architecture = wire["architecture"]
    outputs: frozenset[str] = query.get("output_modalities", frozenset())
    return (
        (ANY_OUTPUT in outputs or not outputs.isdisjoint(architecture["output_modalities"]))
        and _has_all(architecture["input_modalities"], query.get("input_modalities"))
        and _has_all(wire["supported_parameters"], query.get("supported_parameters"))
        and _mentions(wire, query.get("q"))
        and _is_of(architecture, query.get("arch"))
    )


def _offers(model: CatalogModel, query: Mapping[str, Any], now: datetime) -> bool:
    """The filters on who made a model, who serves it, and for how much."""
    pricing = model.wire["pricing"]
    age = (now.timestamp() - model.wire["created"]) / _DAY_SECONDS
    authors: frozenset[str] | None = query.get("model_authors")
    providers: frozenset[str] | None = query.get("providers")
    return (
        (not authors or model.id.partition("/")[0] in authors)
        and (not providers or not providers.isdisjoint(map(_provider, model.endpoints)))
        and (query.get("zdr") is None or any(one.is_zero_retention for one in model.endpoints))
        and _within(model.wire["context_length"], query.get("context"), None)
        and _within(_per_million(pricing["prompt"]), query.get("min_price"), query.get("max_price"))
        and _within(
            _per_million(pricing["completion"]),
            query.get("min_output_price"),
            query.get("max_output_price"),
        )
        and _within(age, query.get("min_age_days"), query.get("max_age_days"))
    )


def _suits(model: CatalogModel, query: Mapping[str, Any]) -> bool:
    """The filters on what a model is for, how it scores and where it is served."""
    region, distillable, category = map(query.get, ("region", "distillable", "category"))
    return (
        (not category or category.casefold() in model.entry.get("categories", ()))
        and (distillable is None or model.is_distillable is (distillable == "true"))
        and (region is None or any(region in one.regions for one in model.endpoints))
        and all(
            _within(model.rank(figure), query.get(f"min_{name}"), query.get(f"max_{name}"))
            for name, figure in (*INDICES.items(), (TOOL_SUCCESS, "tool_success"))
        )
    )


def _is_of(architecture: Mapping[str, Any], family: str | None) -> bool:
    """Whether the tokenizer or the instruction format is of that family."""
    if not family:
        return True
    names = (architecture["tokenizer"], architecture["instruct_type"])
    return family.casefold() in {name.casefold() for name in names if name}


def _provider(endpoint: CatalogEndpoint) -> str:
    return str(endpoint.wire["tag"]).partition("/")[0]


def _per_million(price: str) -> Decimal:
    return Decimal(price) * 1_000_000


def _within(value: Any, low: Any, high: Any) -> bool:
    """Whether a figure lies within bounds that may be absent; an unknown figure does not."""
    if low is None and high is None:
        return True
    return value is not None and (low is None or value >= low) and (high is None or value <= high)


def _has_all(offered: Iterable[str], wanted: frozenset[str] | None) -> bool:
    return not wanted or wanted <= frozenset(offered)


def _mentions(wire: Mapping[str, Any], text: str | None) -> bool:
    if not text:
        return True
    fields = (wire["id"], wire["name"], wire.get("description"), wire["canonical_slug"])
    haystack = " ".join(str(field) for field in fields if field).casefold()
    return all(word in haystack for word in text.casefold().split())


_Figure = Callable[["CatalogModel"], Decimal | float | None]


def _order(catalog: Catalog, order: str, now: datetime) -> tuple[_Figure, bool]:
    """The figure that an order compares, and whether the largest comes first."""
    live = {
        "throughput-high-to-low": ("throughput_last_30m", True, max),
        "latency-low-to-high": ("latency_last_30m", False, min),
    }
    if order in live:
        name, descending, best = live[order]

        def median(model: CatalogModel) -> float | None:
            figures = [live_figures(catalog, item.key, now)[name] for item in model.endpoints]
            medians = [stats["p50"] for stats in figures if stats is not None]
            return best(medians) if medians else None

        return median, descending
    rank: Mapping[str, tuple[_Figure, bool]] = {
        "newest": (lambda model: model.wire["created"], True),
        "pricing-low-to-high": (_price, False),
        "pricing-high-to-low": (_price, True),
        "context-high-to-low": (lambda model: model.wire["context_length"], True),
        "most-popular": (lambda model: model.popularity, True),
        "top-weekly": (lambda model: model.popularity, True),
        "intelligence-high-to-low": (lambda model: model.rank("intelligence"), True),
        "coding-high-to-low": (lambda model: model.rank("coding"), True),
        "agentic-high-to-low": (lambda model: model.rank("agentic"), True),
        "design-arena-elo-high-to-low": (lambda model: model.rank("arena"), True),
    }
    return rank[order]


def _price(model: CatalogModel) -> Decimal:
    """Prompt and completion price together, per token."""
    pricing = model.wire["pricing"]
    return Decimal(pricing["prompt"]) + Decimal(pricing["completion"])


def usable_models(site: Site, binding: Binding) -> frozenset[str]:
    """Identifiers of the models that keep an endpoint under every guardrail that binds."""
    if not binding.all:
        return frozenset(model.id for model in site.catalog.models)
    guardrails = [restrictions_of(each) for each in binding.all]
    view = catalog_view(site.catalog.seed)
    return frozenset(
        str(offers.model.id)
        for offers in view.offers
        if effect_on_model(offers, guardrails, view, site.dialect).remaining
    )


@lru_cache(maxsize=4)
def catalog_view(seed: int) -> CatalogView:
    """The catalog of a seed as rules about routing see it, without live figures."""
    catalog = build_catalog(seed)

    def keys(holds: Callable[[CatalogEndpoint], bool]) -> frozenset[EndpointKey]:
        return frozenset(endpoint_key(read[item.key]) for item in items if holds(item))

    items = [item for model in catalog.models for item in model.endpoints]
    read = {
        endpoint.key: Endpoint.model_validate(endpoint.wire)
        for model in catalog.models
        for endpoint in model.endpoints
    }
    return CatalogView(
        offers=tuple(
            ModelWithEndpoints(
                Model.model_validate(model.wire),
                tuple(read[endpoint.key] for endpoint in model.endpoints),
            )
            for model in catalog.models
        ),
        provider_slugs={provider["name"]: provider["slug"] for provider in catalog.providers},
        zdr=keys(lambda endpoint: endpoint.is_zero_retention),
        training=keys(lambda endpoint: endpoint.may_train),
        distillable=frozenset(model.id for model in catalog.models if model.is_distillable),
    )
