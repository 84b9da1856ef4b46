"""The catalog at one moment, with every endpoint: what rules about routing are applied to."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

from gwtui.contract.models import Endpoint, Model
from gwtui.contract.workspaces import slug_of
from gwtui.domain.uptime import verdict

EndpointKey = tuple[str | None, ...]


@dataclass(frozen=True, slots=True)
class ModelWithEndpoints:
    """A model of the catalog and its endpoints; None when those could not be read."""

    model: Model
    endpoints: tuple[Endpoint, ...] | None


@dataclass(frozen=True)
class CatalogView:
    """The catalog at one moment.

    ``provider_slugs`` leads from a provider's display name to its slug. ``zdr`` holds the endpoints
    that keep no data, ``training`` those that may be trained with it, ``distillable`` the
    identifiers of models whose text others may be trained with; None when the gateway does not
    tell.
    """

    offers: tuple[ModelWithEndpoints, ...]
    provider_slugs: Mapping[str, str]
    zdr: frozenset[EndpointKey] | None = None
    training: frozenset[EndpointKey] | None = None
    distillable: frozenset[str] | None = None

    @cached_property
    def canonical(self) -> Mapping[str, str]:
        """Identifier of a model -> the canonical slug that it and its variants share."""
        return {
            model.id: model.canonical_slug or model.id
            for model in (offer.model for offer in self.offers)
            if model.id
        }

    @cached_property
    def known_models(self) -> frozenset[str]:
        """Everything that names a model of the catalog."""
        return frozenset({*self.canonical, *self.canonical.values()})

    @cached_property
    def known_providers(self) -> frozenset[str]:
        """Everything that names a provider or one of its endpoints."""
        tags = {
            endpoint.tag
            for offer in self.offers
            for endpoint in offer.endpoints or ()
            if endpoint.tag
        }
        return frozenset({*self.provider_slugs.values(), *tags, *(_base(tag) for tag in tags)})


def is_healthy(endpoint: Endpoint) -> bool:
    """Whether an endpoint works now; one without traffic is not known to."""
    return verdict(endpoint).word == "healthy"


def endpoint_key(endpoint: Endpoint) -> EndpointKey:
    """A key for an endpoint, which has no identifier in the contract."""
    return (
        endpoint.model_id,
        endpoint.tag or endpoint.provider_name,
        endpoint.quantization,
        endpoint.service_tier,
    )


def provider_slug(endpoint: Endpoint, provider_slugs: Mapping[str, str]) -> str | None:
    """The slug of who serves an endpoint: from its tag, else from the provider's name."""
    if endpoint.tag:
        return _base(endpoint.tag)
    name = endpoint.provider_name
    return None if not name else provider_slugs.get(name) or slug_of(name)


def _base(tag: str) -> str:
    return tag.partition("/")[0]
