"""The catalog with its endpoints at one moment, and the health of an endpoint."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal
from functools import cached_property

from gwtui.contract.models import Endpoint, Model
from gwtui.contract.workspaces import slug_of
from gwtui.domain.cell_values import Verdict
from gwtui.domain.money import percent_points

EndpointKey = tuple[str | None, ...]


@dataclass(frozen=True, slots=True)
class ModelWithEndpoints:
    """A model of the catalog with its endpoints; None if they could not be read."""

    model: Model
    endpoints: tuple[Endpoint, ...] | None


@dataclass(frozen=True)
class CatalogView:
    """The catalog at one moment.

    ``provider_slugs`` maps a provider's display name to its slug. ``zdr`` are the endpoints with
    zero data retention, ``training`` those that may train on the data, and ``distillable`` the ids
    of models whose output may be used to train other models. The last three are None if the gateway
    does not report them.
    """

    offers: tuple[ModelWithEndpoints, ...]
    provider_slugs: Mapping[str, str]
    zdr: frozenset[EndpointKey] | None = None
    training: frozenset[EndpointKey] | None = None
    distillable: frozenset[str] | None = None

    @cached_property
    def canonical(self) -> Mapping[str, str]:
        """The canonical slug, which all variants share, by model id."""
        return {
            model.id: model.canonical_slug or model.id
            for model in (offer.model for offer in self.offers)
            if model.id
        }

    @cached_property
    def known_models(self) -> frozenset[str]:
        """All ids and canonical slugs of models."""
        return frozenset({*self.canonical, *self.canonical.values()})

    @cached_property
    def known_providers(self) -> frozenset[str]:
        """All slugs of providers and tags of endpoints."""
        tags = {
            endpoint.tag
            for offer in self.offers
            for endpoint in offer.endpoints or ()
            if endpoint.tag
        }
        return frozenset({*self.provider_slugs.values(), *tags, *(_base(tag) for tag in tags)})


def is_healthy(endpoint: Endpoint) -> bool:
    """Whether ``verdict`` is "healthy"; False for an endpoint without traffic."""
    return verdict(endpoint).word == "healthy"


def endpoint_key(endpoint: Endpoint) -> EndpointKey:
    """A unique key for an endpoint: the contract has no identifier for endpoints."""
    return (
        endpoint.model_id,
        endpoint.tag or endpoint.provider_name,
        endpoint.quantization,
        endpoint.service_tier,
    )


def provider_slug(endpoint: Endpoint, provider_slugs: Mapping[str, str]) -> str | None:
    """The slug of an endpoint's provider, from its tag or the provider's name; else None."""
    if endpoint.tag:
        return _base(endpoint.tag)
    name = endpoint.provider_name
    return None if not name else provider_slugs.get(name) or slug_of(name)


def _base(tag: str) -> str:
    return tag.partition("/")[0]


DOWN_BELOW = Decimal(50)
"""Success rate in percent below which an endpoint is down: most requests fail."""
DEGRADED_BELOW = Decimal(95)
"""Success rate in percent below which an endpoint is degraded."""
ROUGH_DAY_BELOW = Decimal(90)
"""Percentage of the day's minutes with 80% success below which an endpoint is degraded."""

_WINDOWS = ("uptime_last_5m", "uptime_last_30m", "uptime_last_1d")


def verdict(endpoint: Endpoint) -> Verdict:
    """Judge the health of an endpoint by its status and its success rates.

    The word is "healthy", "degraded", "down", "no traffic", "unknown" or "status N".
    ``uptime_*`` are percentages, and null without enough traffic. The newest window with traffic
    decides; older windows can only lower the verdict. The contract does not explain a status other
    than 0, so it is shown as it came unless the endpoint is down anyway. See "Endpoint object" in
    the contract.
    """
    by_rates = _by_figures(endpoint)
    status = endpoint.status
    if not status:
        return by_rates
    if by_rates.word == "down":
        return Verdict("down", "bad", f"{by_rates.why}; the gateway reports status {status}")
    why = (
        f"the gateway reports status {status}, which the contract does not explain; {by_rates.why}"
    )
    return Verdict(f"status {status}", "warn", why)


def _by_figures(endpoint: Endpoint) -> Verdict:
    newest, half_hour, day = (
        endpoint.uptime_last_5m,
        endpoint.uptime_last_30m,
        endpoint.uptime_last_1d,
    )
    recent = newest if newest is not None else half_hour
    why = _figures(newest, half_hour, day)
    if recent is None:
        return _without_traffic(endpoint, why)
    if recent < DOWN_BELOW:
        return Verdict("down", "bad", f"very low uptime: {why}")
    if recent < DEGRADED_BELOW:
        return Verdict("degraded", "warn", f"low uptime: {why}")
    if half_hour is not None and half_hour < DEGRADED_BELOW:
        return Verdict("degraded", "warn", f"recovering: {why}")
    if day is not None and day < ROUGH_DAY_BELOW:
        return Verdict("degraded", "warn", f"works now after a rough day: {why}")
    return Verdict("healthy", "good", why)


def _without_traffic(endpoint: Endpoint, why: str) -> Verdict:
    # A null, unlike a missing or unreadable figure, means no traffic.
    unreadable = (endpoint.raw.get(window, "missing") is not None for window in _WINDOWS)
    if endpoint.gaps.keys() >= set(_WINDOWS) and all(unreadable):
        return Verdict("unknown", "muted", "the response contains no readable uptime")
    if endpoint.uptime_last_1d is None:
        return Verdict("no traffic", "muted", "too few requests today to tell")
    return Verdict("no traffic", "muted", f"too few requests in the last 30 minutes; {why}")


def _figures(newest: Decimal | None, half_hour: Decimal | None, day: Decimal | None) -> str:
    named = (("5 min", newest), ("30 min", half_hour), ("1 day", day))
    return ", ".join(
        f"{name} {percent_points(points, places=2)}" for name, points in named if points is not None
    )
