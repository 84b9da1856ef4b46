"""The catalog at one moment, with every endpoint: what rules about routing are applied to."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal
from functools import cached_property

from gwtui.contract.models import Endpoint, Model
from gwtui.contract.workspaces import slug_of
from gwtui.domain.cell_values import Tone
from gwtui.domain.money import percent_points

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


DOWN_BELOW = Decimal(50)
"""A request is more likely to fail than to succeed: nobody would call that working."""
DEGRADED_BELOW = Decimal(95)
"""More than one request in twenty fails: users notice, and retries cost money."""
ROUGH_DAY_BELOW = Decimal(90)
"""More than a tenth of the day's minutes were bad (under 80% success): not to be relied on."""

_WINDOWS = ("uptime_last_5m", "uptime_last_30m", "uptime_last_1d")


@dataclass(frozen=True, slots=True)
class UptimeVerdict:
    """``word`` is "healthy", "degraded", "down", "no traffic", "unknown" or "status N".

    ``why`` explains it in a sentence.
    """

    word: str
    tone: Tone
    why: str


def verdict(endpoint: Endpoint) -> UptimeVerdict:
    """The health of an endpoint.

    The newest window with traffic decides; the older ones can only lower the verdict. A status
    other than 0 is shown as it came, because the contract gives it no meaning, unless the figures
    already say that the endpoint is down.
    """
    found = _by_figures(endpoint)
    status = endpoint.status
    if not status:
        return found
    if found.word == "down":
        return UptimeVerdict("down", "bad", f"{found.why}; the gateway reports status {status}")
    why = f"the gateway reports status {status}, which the contract does not explain; {found.why}"
    return UptimeVerdict(f"status {status}", "warn", why)


def _by_figures(endpoint: Endpoint) -> UptimeVerdict:
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
        return UptimeVerdict("down", "bad", f"very low success rate: {why}")
    if recent < DEGRADED_BELOW:
        return UptimeVerdict("degraded", "warn", f"low success rate: {why}")
    if half_hour is not None and half_hour < DEGRADED_BELOW:
        return UptimeVerdict("degraded", "warn", f"recovering: {why}")
    if day is not None and day < ROUGH_DAY_BELOW:
        return UptimeVerdict("degraded", "warn", f"works now after a rough day: {why}")
    return UptimeVerdict("healthy", "good", why)


def _without_traffic(endpoint: Endpoint, why: str) -> UptimeVerdict:
    if all(window in endpoint.gaps and _unsaid(endpoint, window) for window in _WINDOWS):
        return UptimeVerdict("unknown", "muted", "the response contains no readable uptime")
    if endpoint.uptime_last_1d is None:
        return UptimeVerdict("no traffic", "muted", "too few requests today to tell")
    return UptimeVerdict("no traffic", "muted", f"too few requests in the last 30 minutes; {why}")


def _unsaid(endpoint: Endpoint, window: str) -> bool:
    """Whether the figure is missing or unreadable; null means no traffic."""
    return endpoint.raw.get(window, "missing") is not None


def _figures(newest: Decimal | None, half_hour: Decimal | None, day: Decimal | None) -> str:
    named = (("5 min", newest), ("30 min", half_hour), ("1 day", day))
    return ", ".join(
        f"{name} {percent_points(points, places=2)}" for name, points in named if points is not None
    )
