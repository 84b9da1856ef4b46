"""The catalog: models, their endpoints and the providers, as the wire shows them in generic names.

Everything here stands still. What moves (latency, throughput, uptime) comes from ``figures``.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from gwtui.embedded.simulator.chance import uuid_text
from gwtui.embedded.simulator.models_chat import CHAT_MODELS
from gwtui.embedded.simulator.models_media import MEDIA_MODELS
from gwtui.embedded.simulator.models_reasoning import REASONING_MODELS
from gwtui.embedded.simulator.models_vision import VISION_MODELS
from gwtui.embedded.simulator.providers import PROVIDERS
from gwtui.embedded.simulator.seeds import EndpointSeed, EndpointTraits, ModelSeed
from gwtui.embedded.simulator.wire import endpoint_object, model_object

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
