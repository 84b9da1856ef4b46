"""The catalog: models, their endpoints and the providers, as the wire shows them in generic names.

Everything here stands still. What moves (latency, throughput, uptime) comes from ``figures``.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from decimal import Decimal
from functools import cached_property
from typing import Any

from gwtui.contract.values import TOOL_CHOICES
from gwtui.embedded.simulator.chance import uuid_text
from gwtui.embedded.simulator.models_chat import CHAT_MODELS
from gwtui.embedded.simulator.models_media import MEDIA_MODELS
from gwtui.embedded.simulator.models_reasoning import REASONING_MODELS
from gwtui.embedded.simulator.models_vision import VISION_MODELS
from gwtui.embedded.simulator.seeds import PROVIDERS, EndpointSeed, EndpointTraits, ModelSeed

_NAMES = {provider["slug"]: provider["name"] for provider in PROVIDERS}
_DEFAULTS = (
    "temperature",
    "top_p",
    "top_k",
    "frequency_penalty",
    "presence_penalty",
    "repetition_penalty",
)
TOOL_PREFIX = "service:"


def permaslug(row: ModelSeed) -> str:
    """The model's lasting name: its identifier without variant, with the day of release."""
    return f"{row.id.split(':')[0]}-{row.created.replace('-', '')}"


def model_object(row: ModelSeed) -> dict[str, Any]:
    """The model object of GET /models (extended contract section 7)."""
    first, cheapest = row.endpoints[0], min(row.endpoints, key=_expense)
    wire: dict[str, Any] = {
        "id": row.id,
        "canonical_slug": permaslug(row),
        "hugging_face_id": row.hugging_face_id,
        "name": row.name,
        "created": int(datetime.fromisoformat(row.created).replace(tzinfo=UTC).timestamp()),
        "description": row.description,
        "context_length": row.context,
        "architecture": architecture_object(row),
        "pricing": cheapest.price,
        "top_provider": {
            "context_length": first.context or row.context,
            "max_completion_tokens": first.max_output,
            "is_moderated": first.moderated,
        },
        "per_request_limits": _request_limits(row),
        "supported_parameters": list(row.parameters),
        "supported_voices": None if row.voices is None else list(row.voices),
        "default_parameters": _default_parameters(row),
        "links": {"details": f"/api/v1/models/{row.id}/endpoints"},
        "knowledge_cutoff": row.knowledge_cutoff,
        "expiration_date": row.expires,
    }
    if row.reasoning is not None:
        wire["reasoning"] = dict(row.reasoning)
    return wire


def architecture_object(row: ModelSeed) -> dict[str, Any]:
    """The architecture object, all five fields."""
    return {
        "modality": f"{'+'.join(row.inputs)}->{'+'.join(row.outputs)}",
        "input_modalities": list(row.inputs),
        "output_modalities": list(row.outputs),
        "instruct_type": row.instruct,
        "tokenizer": row.tokenizer,
    }


def endpoint_object(row: ModelSeed, offer: EndpointSeed) -> dict[str, Any]:
    """The endpoint object without its live figures."""
    parameters = row.parameters if offer.parameters is None else offer.parameters
    return {
        "name": f"{_NAMES[offer.provider]} | {permaslug(row)}",
        "model_id": permaslug(row),
        "model_name": row.name,
        "provider_name": _NAMES[offer.provider],
        "tag": f"{offer.provider}/{offer.variant}" if offer.variant else offer.provider,
        "context_length": offer.context or row.context,
        "max_completion_tokens": offer.max_output,
        "max_prompt_tokens": offer.max_prompt,
        "quantization": offer.quantization,
        "service_tier": offer.tier,
        "status": offer.status,
        "supported_parameters": list(parameters),
        "supports_implicit_caching": offer.caching,
        "supports_diarization": offer.diarization,
        "supports_image_reference": offer.image_reference,
        "supports_multiple_audio_references": offer.audio_references,
        "supports_voice_cloning": offer.voice_cloning,
        "supports_tool_choice": dict(zip(TOOL_CHOICES, offer.tool_choice, strict=True)),
        "native_tools": {
            f"{TOOL_PREFIX}{name}": {"type": kind}
            for name, kind in (offer.native_tools or {}).items()
        },
        "pricing": offer.price,
    }


def _expense(offer: EndpointSeed) -> tuple[bool, Decimal, Decimal]:
    """Order of the default routes: working standard endpoints first, then by price."""
    prices = {key: Decimal(value) for key, value in offer.price.items() if isinstance(value, str)}
    share = 1 - Decimal(str(offer.price["discount"]))
    off_route = offer.tier is not None or offer.condition in {"down", "idle"}
    tokens = prices["prompt"] + prices["completion"]
    return off_route, tokens * share, sum(prices.values(), Decimal(0)) * share


def _request_limits(row: ModelSeed) -> dict[str, int] | None:
    if row.request_limits is None:
        return None
    prompt, completion = row.request_limits
    return {"prompt_tokens": prompt, "completion_tokens": completion}


def _default_parameters(row: ModelSeed) -> dict[str, float | None] | None:
    if row.defaults is None:
        return None
    return {name: row.defaults.get(name) for name in _DEFAULTS}


MODELS = (*CHAT_MODELS, *REASONING_MODELS, *VISION_MODELS, *MEDIA_MODELS)

WireObject = Mapping[str, Any]
"""A JSON object of the contract. Shared and read only: copy it before adding fields."""


@dataclass(frozen=True)
class CatalogEndpoint:
    """One provider's offer of a model."""

    key: str
    """``author/slug|tag``, unique in the catalog."""
    wire: WireObject
    """The contract's endpoint object without its live figures."""
    traits: EndpointTraits
    """How its live figures behave."""

    @property
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

    @cached_property
    def _provider_slugs(self) -> frozenset[str]:
        return frozenset(str(provider["slug"]) for provider in self.providers)

    def has_provider(self, slug: str) -> bool:
        """Whether GET /providers lists a provider under this identifier."""
        return slug in self._provider_slugs

    def canonical_slug(self, slug: str) -> str:
        """The lasting name of a model given by its slug; any other text is given back as it is."""
        return self._canonical_slugs.get(slug, slug)

    def model(self, model_id: str) -> CatalogModel | None:
        """The model of an author/slug identifier, None when there is none."""
        return self._models.get(model_id)

    def endpoint(self, key: str) -> CatalogEndpoint:
        """The endpoint of a key. Raises KeyError."""
        return self._endpoints[key]


def build_catalog(seed: int) -> Catalog:
    """The catalog of a seed. Names and prices are the same for every seed, behaviour differs."""
    models = [_model(row) for row in MODELS]
    models.sort(key=lambda model: (-int(model.wire["created"]), model.id))
    return Catalog(seed=seed, models=tuple(models), providers=PROVIDERS)


def _model(row: ModelSeed) -> CatalogModel:
    return CatalogModel(
        wire=model_object(row),
        endpoints=tuple(_endpoint(row, offer) for offer in row.endpoints),
    )


def _endpoint(row: ModelSeed, offer: EndpointSeed) -> CatalogEndpoint:
    wire = endpoint_object(row, offer)
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
