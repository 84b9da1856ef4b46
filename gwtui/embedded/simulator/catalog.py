"""The catalog: models, their endpoints and the providers, as the wire shows them in generic names.

Everything here stays as it is. What moves (latency, throughput, uptime) comes from
``endpoint_figures``.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from decimal import Decimal
from functools import cache, cached_property, lru_cache, partial
from typing import Any

from gwtui.contract.models import PER_TOKEN_KEYS
from gwtui.contract.values import TOOL_CHOICES
from gwtui.embedded.simulator.seed_data import (
    Condition,
    EndpointEntry,
    ModelEntry,
    ProviderEntry,
    Workload,
    entries,
    parameter_groups,
)
from gwtui.embedded.simulator.seeded_random import uuid_text
from gwtui.lazy_dataclass import dataclass

_DEFAULTS = (
    "temperature",
    "top_p",
    "top_k",
    "frequency_penalty",
    "presence_penalty",
    "repetition_penalty",
)
_MILLION = Decimal(1_000_000)
TOOL_PREFIX = "service:"


WireObject = Mapping[str, Any]
"""A JSON object of the contract. Shared and read only: copy it before adding fields."""


@dataclass(frozen=True, slots=True)
class EndpointTraits:
    """How an endpoint's live figures behave."""

    workloads: tuple[Workload, ...]
    latency_ms: float
    """Median time to the first token, or to the whole result for images and videos."""
    throughput: float | None
    """Median tokens per second; None where there are no tokens to count."""
    requests: int
    """Requests in an average half hour."""
    condition: Condition = "healthy"


@dataclass(frozen=True)
class CatalogEndpoint:
    """One provider's offer of a model."""

    key: str
    """``author/slug|tag``, unique in the catalog."""
    wire: WireObject
    """The contract's endpoint object without its live figures."""
    traits: EndpointTraits
    """How its live figures behave."""

    @cached_property
    def id(self) -> str:
        """UUID of the endpoint, the same for every seed."""
        return uuid_text(0, "endpoint", self.key)

    @property
    def model_id(self) -> str:
        """Identifier of the model, author/slug."""
        return self.key.partition("|")[0]


@dataclass(frozen=True)
class CatalogModel:
    """A model and who serves it."""

    wire: WireObject
    """The model object of GET /models."""
    endpoints: tuple[CatalogEndpoint, ...]

    @property
    def id(self) -> str:
        """Model identifier, author/slug, with a variant such as ``:free`` where it is one."""
        return str(self.wire["id"])


@dataclass(frozen=True)
class Catalog:
    """Every model, endpoint and provider of one seed."""

    seed: int
    """What the live figures of the endpoints are drawn from."""
    models: tuple[CatalogModel, ...]
    """Newest first, the order of GET /models."""
    providers: tuple[WireObject, ...]

    @cached_property
    def _models(self) -> Mapping[str, CatalogModel]:
        return {model.id: model for model in self.models}

    @cached_property
    def _endpoints(self) -> Mapping[str, CatalogEndpoint]:
        return {item.key: item for model in self.models for item in model.endpoints}

    @cached_property
    def _canonical_slugs(self) -> Mapping[str, str]:
        return {model.id: str(model.wire["canonical_slug"]) for model in self.models}

    def canonical_slug(self, slug: str) -> str:
        """The lasting name of a model given by its slug; any other text is given back as it is."""
        return self._canonical_slugs.get(slug, slug)

    def model(self, model_id: str) -> CatalogModel | None:
        """The model of an author/slug identifier, None when there is none."""
        return self._models.get(model_id)

    def endpoint(self, key: str) -> CatalogEndpoint:
        """The endpoint of a key. Raises KeyError."""
        return self._endpoints[key]


@lru_cache(maxsize=4)
def build_catalog(seed: int) -> Catalog:
    """The catalog of a seed, one for all who ask.

    Names and prices are the same for every seed, behaviour differs.
    """
    return Catalog(seed=seed, models=_models(), providers=_providers())


@cache
def _models() -> tuple[CatalogModel, ...]:
    models = map(_model, entries(ModelEntry))
    return tuple(sorted(models, key=lambda model: (-int(model.wire["created"]), model.id)))


def _model(row: ModelEntry) -> CatalogModel:
    offers = row.endpoints
    prices = [_pricing(offer) for offer in offers]
    cheapest = min(zip(offers, prices, strict=True), key=lambda pair: _expense(*pair))[1]
    return CatalogModel(
        wire=_model_object(row, offers[0], cheapest),
        endpoints=tuple(map(partial(_endpoint, row), offers, prices)),
    )


def _endpoint(row: ModelEntry, offer: EndpointEntry, pricing: WireObject) -> CatalogEndpoint:
    wire = _endpoint_object(row, offer, pricing)
    return CatalogEndpoint(
        key=f"{row.id}|{wire['tag']}",
        wire=wire,
        traits=EndpointTraits(
            workloads=row.workloads,
            latency_ms=offer.latency,
            throughput=offer.throughput,
            requests=offer.requests,
            condition=offer.condition,
        ),
    )


@cache
def _providers() -> tuple[WireObject, ...]:
    return tuple(map(_provider_object, entries(ProviderEntry)))


@cache
def _provider_names() -> Mapping[str, str]:
    return {provider.slug: provider.name for provider in entries(ProviderEntry)}


def _provider_object(row: ProviderEntry) -> WireObject:
    """The provider object of GET /providers."""
    site = f"https://{row.slug}.example"
    policies = "policies" not in row.no_pages
    return {
        "name": row.name,
        "slug": row.slug,
        "privacy_policy_url": f"{site}/legal/privacy" if policies else None,
        "terms_of_service_url": f"{site}/legal/terms" if policies else None,
        "status_page_url": None
        if "status" in row.no_pages
        else f"https://status.{row.slug}.example",
        "headquarters": row.headquarters,
        "datacenters": None if row.datacenters is None else list(row.datacenters),
    }


def _permaslug(row: ModelEntry) -> str:
    """The model's lasting name: its identifier without variant, with the day of release."""
    return f"{row.id.split(':')[0]}-{row.created.replace('-', '')}"


def _model_object(row: ModelEntry, first: EndpointEntry, pricing: WireObject) -> WireObject:
    """The model object of GET /models (extended contract section 7)."""
    wire: dict[str, Any] = {
        "id": row.id,
        "canonical_slug": _permaslug(row),
        "hugging_face_id": row.hugging_face_id,
        "name": row.name,
        "created": int(datetime.fromisoformat(row.created).replace(tzinfo=UTC).timestamp()),
        "description": row.description,
        "context_length": row.context,
        "architecture": _architecture_object(row),
        "pricing": pricing,
        "top_provider": {
            "context_length": first.context or row.context,
            "max_completion_tokens": first.max_output,
            "is_moderated": first.moderated,
        },
        "per_request_limits": _request_limits(row),
        "supported_parameters": _parameters(row.parameters),
        "supported_voices": None if row.voices is None else list(row.voices),
        "default_parameters": _default_parameters(row),
        "links": {"details": f"/api/v1/models/{row.id}/endpoints"},
        "knowledge_cutoff": row.knowledge_cutoff,
        "expiration_date": row.expires,
    }
    if row.reasoning is not None:
        wire["reasoning"] = dict(row.reasoning)
    return wire


def _architecture_object(row: ModelEntry) -> dict[str, Any]:
    """The architecture object, all five fields."""
    return {
        "modality": f"{'+'.join(row.inputs)}->{'+'.join(row.outputs)}",
        "input_modalities": list(row.inputs),
        "output_modalities": list(row.outputs),
        "instruct_type": row.instruct,
        "tokenizer": row.tokenizer,
    }


def _endpoint_object(row: ModelEntry, offer: EndpointEntry, pricing: WireObject) -> WireObject:
    """The endpoint object without its live figures."""
    parameters = row.parameters if offer.parameters is None else offer.parameters
    return {
        "name": f"{_provider_names()[offer.provider]} | {_permaslug(row)}",
        "model_id": _permaslug(row),
        "model_name": row.name,
        "provider_name": _provider_names()[offer.provider],
        "tag": f"{offer.provider}/{offer.variant}" if offer.variant else offer.provider,
        "context_length": offer.context or row.context,
        "max_completion_tokens": offer.max_output,
        "max_prompt_tokens": offer.max_prompt,
        "quantization": offer.quantization,
        "service_tier": offer.tier,
        "status": offer.status,
        "supported_parameters": _parameters(parameters),
        "supports_implicit_caching": offer.caching,
        "supports_diarization": offer.diarization,
        "supports_image_reference": offer.image_reference,
        "supports_multiple_audio_references": offer.audio_references,
        "supports_voice_cloning": offer.voice_cloning,
        "supports_tool_choice": dict.fromkeys(TOOL_CHOICES, False),
        "native_tools": {
            f"{TOOL_PREFIX}{name}": {"type": kind} for name, kind in offer.native_tools.items()
        },
        "pricing": pricing,
    }


def _expense(offer: EndpointEntry, pricing: WireObject) -> tuple[bool, Decimal, Decimal]:
    """Order of the default routes: working standard endpoints first, then by price."""
    prices = {key: Decimal(value) for key, value in pricing.items() if isinstance(value, str)}
    share = 1 - Decimal(str(pricing["discount"]))
    off_route = offer.tier is not None or offer.condition in {"down", "idle"}
    tokens = prices["prompt"] + prices["completion"]
    return off_route, tokens * share, sum(prices.values(), Decimal(0)) * share


def _request_limits(row: ModelEntry) -> dict[str, int] | None:
    if row.request_limits is None:
        return None
    prompt, completion = row.request_limits
    return {"prompt_tokens": prompt, "completion_tokens": completion}


def _default_parameters(row: ModelEntry) -> dict[str, float | None] | None:
    if row.defaults is None:
        return None
    return {name: row.defaults.get(name) for name in _DEFAULTS}


def _pricing(offer: EndpointEntry) -> WireObject:
    """The pricing object: wire prices of the quoted ones."""
    quoted = {"prompt": "0", "completion": "0", **offer.price}
    discount = quoted.pop("discount", 0)
    wire: dict[str, Any] = {**_wire_prices(quoted), "discount": discount}
    if offer.overrides:
        wire["overrides"] = [_override(entry) for entry in offer.overrides]
    return wire


def _override(entry: Mapping[str, Any]) -> WireObject:
    """An override entry: for prompts above so many tokens, within a UTC window (HHMM), on days."""
    quoted = dict(entry)
    above, window, days = (quoted.pop(name, None) for name in ("above", "window", "days"))
    wire: dict[str, Any] = {}
    if above is not None:
        wire["min_prompt_tokens"] = above
    if window is not None:
        wire["utc_start"], wire["utc_end"] = window
    if days:
        wire["utc_days"] = list(days)
    return wire | _wire_prices(quoted)


def _wire_prices(quoted: Mapping[str, str]) -> dict[str, str]:
    """USD per token of prices that are quoted per million tokens; the others are per unit."""
    return {
        key: _decimal_text(Decimal(price) / _MILLION if key in PER_TOKEN_KEYS else Decimal(price))
        for key, price in quoted.items()
    }


def _decimal_text(value: Decimal) -> str:
    """A decimal string without exponent or trailing zeros."""
    text = format(value, "f")
    return text.rstrip("0").rstrip(".") if "." in text else text


def _parameters(names: tuple[str, ...]) -> list[str]:
    """Names of parameters, with those of a group in the place of ``@group``."""
    groups = parameter_groups()
    return [
        parameter
        for name in names
        for parameter in (groups[name[1:]] if name.startswith("@") else (name,))
    ]
