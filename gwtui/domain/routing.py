"""Which endpoints may serve a request, in which order they are tried, and why the others are not.

Inference contract section 3. Pure: the catalog, what restricts the key, its provider credentials
and luck are passed in. Guardrails speak with the words of ``guardrail_effect``.

Where the contract is silent, this is assumed:

- ``ignore`` with a provider's slug means its tier endpoints, too: who ignores a provider does not
  expect it to serve.
- An endpoint of a tier is asked for by its tag in ``order`` or ``only``, or by the service tier.
- Without ``allow_fallbacks`` only those that ``order`` names are tried, without an order only the
  first endpoint.
- A credential that the caller must not use, or that is disabled, binds nobody.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from decimal import Decimal
from typing import Literal

from gwtui.contract.byok import ByokCredential
from gwtui.contract.dialects import Dialect
from gwtui.contract.models import Endpoint, Model
from gwtui.contract.routing import ProviderPreferences, SortBy
from gwtui.domain.catalog import CatalogView, ModelWithEndpoints, endpoint_key, provider_slug
from gwtui.domain.guardrail_effect import GuardrailRestrictions, Reason, effect_on_model
from gwtui.domain.pricing import effective_prices
from gwtui.domain.route_order import (
    Chance,
    PricedEndpoint,
    in_order,
    price_of,
    slug_names,
    sorted_by,
)

RouteReason = (
    Reason
    | Literal[
        "may train on the data",
        "text may not be distilled",
        "other quantization",
        "price above the maximum",
        "parameter not supported",
        "prompt too long",
        "cannot answer that long",
        "tier not asked for",
        "other tier asked for",
        "own provider key needed",
        "no fallbacks allowed",
    ]
)
RouteRule = Literal["guardrail", "request", "endpoint", "credential"]
"""Whose rule it is: of the guardrails, the request, the endpoint's limits, the credentials."""

_MILLION = Decimal(1_000_000)
_BOUNDED = {
    "prompt": _MILLION,
    "completion": _MILLION,
    "request": Decimal(1),
    "image": Decimal(1),
    "audio": Decimal(1),
}
"""Prices that can be bounded -> how many units the bound is for."""
_SAME_TIER = {"fast": "priority"}
_TIERS = frozenset({"flex", "priority", "ultrafast"})


@dataclass(frozen=True, slots=True)
class RequestedModel:
    """A model as a request names it: its identifier, and the order and tier of a shortcut."""

    id: str
    sort: str | None = None
    tier: str | None = None


_SHORTCUTS: Mapping[str, tuple[str, str | None]] = {
    "nitro": ("throughput", "priority"),
    "floor": ("price", "flex"),
    "exacto": ("exacto", None),
}


def requested_model(name: str) -> RequestedModel:
    """What a name with its suffix means; ``:free`` and the other variants are part of the name."""
    plain, colon, suffix = name.rpartition(":")
    if colon and suffix in _SHORTCUTS:
        return RequestedModel(plain, *_SHORTCUTS[suffix])
    return RequestedModel(name)


@dataclass(frozen=True, slots=True, kw_only=True)
class RouteRequest:
    """What a request asks of routing.

    ``parameters`` are the names of those that it gives; ``default_sort`` is the workspace's.
    """

    moment: datetime
    preferences: ProviderPreferences = field(default_factory=ProviderPreferences)
    service_tier: str | None = None
    parameters: frozenset[str] = frozenset()
    prompt_tokens: int = 0
    max_tokens: int | None = None
    default_sort: str | None = None


@dataclass(frozen=True, slots=True)
class Exclusion:
    """Why an endpoint is not tried, and whose rule says so."""

    reason: RouteReason
    rule: RouteRule


@dataclass(frozen=True, slots=True)
class ExcludedEndpoint:
    """An endpoint that is not tried, and every reason for it."""

    model: Model
    endpoint: Endpoint
    exclusions: tuple[Exclusion, ...]


@dataclass(frozen=True, slots=True)
class RouteAttempt:
    """One try: an endpoint with one of the customer's own keys, or None for the service's."""

    model: Model
    endpoint: Endpoint
    credential: ByokCredential | None = None


@dataclass(frozen=True, slots=True)
class Route:
    """What is tried, first to last, and what is not.

    ``unknown`` names the rules that are asked for but could not be applied, for want of facts.
    """

    attempts: tuple[RouteAttempt, ...]
    excluded: tuple[ExcludedEndpoint, ...]
    unknown: tuple[RouteReason, ...] = ()

    @property
    def total(self) -> int:
        """Endpoints that there are, tried or not."""
        tried = {id(attempt.endpoint) for attempt in self.attempts}
        return len(tried) + len(self.excluded)


def usable_credentials(
    credentials: Iterable[ByokCredential], *, key_hash: str | None, user_id: str | None
) -> tuple[ByokCredential, ...]:
    """The credentials that a caller's requests may use, in their order of trial."""
    found = [
        each
        for each in credentials
        if not each.disabled
        and (each.allowed_api_key_hashes is None or key_hash in each.allowed_api_key_hashes)
        and (each.allowed_user_ids is None or user_id in each.allowed_user_ids)
    ]
    return tuple(sorted(found, key=lambda each: each.sort_order or 0))


@dataclass(frozen=True, slots=True)
class Router:
    """What holds for every request of one key.

    ``credentials`` are those that the key may use (``usable_credentials``).
    """

    view: CatalogView
    dialect: Dialect
    guardrails: Sequence[GuardrailRestrictions] = ()
    credentials: Sequence[ByokCredential] = ()

    def route(
        self, models: Sequence[ModelWithEndpoints], request: RouteRequest, chance: Chance
    ) -> Route:
        """Where a request goes that names these models, the later ones as fallbacks."""
        left: list[tuple[Model, list[Endpoint]]] = []
        excluded: list[ExcludedEndpoint] = []
        for offers in models:
            against = list(self._against(offers, request))
            left.append((offers.model, [found for found, why in against if not why]))
            excluded += [
                ExcludedEndpoint(offers.model, endpoint, why) for endpoint, why in against if why
            ]
        attempts = [
            attempt
            for group in _groups(left, request.preferences)
            for attempt in self._attempts(_ordered(group, request, chance))
        ]
        excluded += self._without_key(left, attempts)
        if request.preferences.allow_fallbacks is False:
            attempts, spare = _first_only(attempts, request.preferences.order)
            excluded += spare
        return Route(tuple(attempts), tuple(excluded), tuple(self._unknown(models, request)))

    def _against(
        self, offers: ModelWithEndpoints, request: RouteRequest
    ) -> Iterator[tuple[Endpoint, tuple[Exclusion, ...]]]:
        """Each endpoint of a model with what excludes it."""
        effect = effect_on_model(offers, self.guardrails, self.view, self.dialect)
        by_guardrails = {id(blocked.endpoint): blocked.reasons for blocked in effect.blocked}
        tiers = frozenset(endpoint.service_tier for endpoint in offers.endpoints or ())
        for endpoint in offers.endpoints or ():
            reasons: list[Exclusion] = [
                Exclusion(reason, "guardrail") for reason in by_guardrails.get(id(endpoint), ())
            ]
            if self._trains(offers.model, endpoint):
                reasons.append(Exclusion("may train on the data", "guardrail"))
            reasons += [
                Exclusion(reason, "request")
                for reason in (
                    *self._privacy(offers.model, endpoint, request.preferences),
                    *_chosen(endpoint, request),
                    *_tier(endpoint, request, tiers),
                )
            ]
            reasons += [Exclusion(reason, "endpoint") for reason in _too_small(endpoint, request)]
            yield endpoint, tuple(reasons)

    def _trains(self, model: Model, endpoint: Endpoint) -> bool:
        """Whether a guardrail forbids what the provider may do with the data."""
        if self.view.training is None or endpoint_key(endpoint) not in self.view.training:
            return False
        kind = "free" if is_free(model) else "paid"
        return any(kind in guardrail.no_training for guardrail in self.guardrails)

    def _privacy(
        self, model: Model, endpoint: Endpoint, preferences: ProviderPreferences
    ) -> Iterator[RouteReason]:
        view, key = self.view, endpoint_key(endpoint)
        if preferences.zdr and view.zdr is not None and key not in view.zdr:
            yield "no zero data retention"
        if (
            preferences.data_collection == "deny"
            and view.training is not None
            and key in view.training
        ):
            yield "may train on the data"
        if (
            preferences.enforce_distillable_text
            and view.distillable is not None
            and model.id not in view.distillable
        ):
            yield "text may not be distilled"

    def _unknown(
        self, models: Sequence[ModelWithEndpoints], request: RouteRequest
    ) -> Iterator[RouteReason]:
        preferences, view = request.preferences, self.view
        if view.zdr is None and (preferences.zdr or any(each.zdr for each in self.guardrails)):
            yield "no zero data retention"
        if view.training is None and (
            preferences.data_collection == "deny"
            or any(each.no_training for each in self.guardrails)
        ):
            yield "may train on the data"
        if view.distillable is None and preferences.enforce_distillable_text and models:
            yield "text may not be distilled"

    def _attempts(self, ordered: Sequence[tuple[Model, Endpoint]]) -> Iterator[RouteAttempt]:
        """Own keys first, then the service's, then own keys that are for want of better."""
        for model, endpoint in ordered:
            for credential in self._own(model, endpoint):
                if not credential.is_fallback:
                    yield RouteAttempt(model, endpoint, credential)
        for model, endpoint in ordered:
            if not self._needs_own_key(model, endpoint):
                yield RouteAttempt(model, endpoint)
        for model, endpoint in ordered:
            for credential in self._own(model, endpoint):
                if credential.is_fallback:
                    yield RouteAttempt(model, endpoint, credential)

    def _own(self, model: Model, endpoint: Endpoint) -> Iterator[ByokCredential]:
        """The credentials that serve a model at an endpoint, in their order of trial."""
        for credential in self._of_provider(endpoint):
            if self._covers(credential, model):
                yield credential

    def _of_provider(self, endpoint: Endpoint) -> Iterator[ByokCredential]:
        slug = provider_slug(endpoint, self.view.provider_slugs)
        return (each for each in self.credentials if each.provider == slug)

    def _covers(self, credential: ByokCredential, model: Model) -> bool:
        own = {model.id, model.canonical_slug}
        return credential.allowed_models is None or any(
            entry in own or self.view.canonical.get(entry) in own
            for entry in credential.allowed_models
        )

    def _needs_own_key(self, model: Model, endpoint: Endpoint) -> bool:
        return any(
            each.is_byok_only or (each.is_required and self._covers(each, model))
            for each in self._of_provider(endpoint)
        )

    def _without_key(
        self, left: Sequence[tuple[Model, Sequence[Endpoint]]], attempts: Sequence[RouteAttempt]
    ) -> Iterator[ExcludedEndpoint]:
        """Those that only an own key could open, when none is there for the model."""
        tried = {id(attempt.endpoint) for attempt in attempts}
        for model, endpoints in left:
            for endpoint in endpoints:
                if id(endpoint) not in tried:
                    why = (Exclusion("own provider key needed", "credential"),)
                    yield ExcludedEndpoint(model, endpoint, why)


def is_free(model: Model) -> bool:
    """Whether a model is the free variant of another."""
    return (model.id or "").endswith(":free")


def _groups(
    left: Sequence[tuple[Model, Sequence[Endpoint]]], preferences: ProviderPreferences
) -> list[list[tuple[Model, Endpoint]]]:
    """What is ordered together: each model by itself, or all of them at once."""
    groups = [[(model, endpoint) for endpoint in endpoints] for model, endpoints in left]
    if isinstance(preferences.sort, SortBy) and preferences.sort.partition == "none":
        return [[entry for group in groups for entry in group]]
    return groups


def _ordered(
    group: Sequence[tuple[Model, Endpoint]], request: RouteRequest, chance: Chance
) -> list[tuple[Model, Endpoint]]:
    def ranked(entry: tuple[Model, Endpoint]) -> PricedEndpoint:
        return PricedEndpoint(entry[1], price_of(entry[1], request.prompt_tokens, request.moment))

    found = in_order(
        group,
        ranked,
        request.preferences,
        chance,
        sort=sorted_by(request.preferences, request.default_sort),
        parameters=request.parameters,
    )
    tier = _requested_tier(request)
    if tier is not None and not request.preferences.order:
        found.sort(key=lambda entry: entry[1].service_tier != tier)
    return found


def _chosen(endpoint: Endpoint, request: RouteRequest) -> Iterator[RouteReason]:
    """What the request says about providers, weights, prices and parameters."""
    preferences = request.preferences
    if preferences.only is not None and not any(
        slug_names(entry, endpoint) for entry in preferences.only
    ):
        yield "provider not allowed"
    if any(slug_names(entry, endpoint) for entry in preferences.ignore or ()):
        yield "provider ignored"
    if (
        preferences.quantizations
        and (endpoint.quantization or "unknown") not in preferences.quantizations
    ):
        yield "other quantization"
    if _too_dear(endpoint, request):
        yield "price above the maximum"
    supported = endpoint.supported_parameters or ()
    if preferences.require_parameters and not request.parameters.issubset(supported):
        yield "parameter not supported"


def _too_dear(endpoint: Endpoint, request: RouteRequest) -> bool:
    """Whether a price is above its bound; one that is not known may be."""
    bounds = {key: request.preferences.max_price.bound(key) for key in _BOUNDED}
    if endpoint.pricing is None:
        return any(bound is not None for bound in bounds.values())
    prices = effective_prices(endpoint.pricing, request.prompt_tokens, request.moment)
    for key, bound in bounds.items():
        price = prices.get(key)
        if bound is None or price is None:
            continue
        if price.after_discount is None or price.varies:
            return True
        if price.after_discount * _BOUNDED[key] > bound:
            return True
    return False


def _requested_tier(request: RouteRequest) -> str | None:
    tier = _SAME_TIER.get(request.service_tier or "", request.service_tier)
    return tier if tier in _TIERS else None


def _tier(
    endpoint: Endpoint, request: RouteRequest, tiers: frozenset[str | None]
) -> Iterator[RouteReason]:
    """Endpoints of a tier serve on request only; with flex asked for, they alone if there are."""
    requested = _requested_tier(request)
    named = (*(request.preferences.order or ()), *(request.preferences.only or ()))
    if endpoint.tag in named or endpoint.service_tier == requested:
        return
    if endpoint.service_tier is not None:
        yield "tier not asked for"
    elif requested == "flex" and "flex" in tiers:
        yield "other tier asked for"


def _too_small(endpoint: Endpoint, request: RouteRequest) -> Iterator[RouteReason]:
    context, longest = endpoint.context_length, endpoint.max_prompt_tokens
    prompt, answer = request.prompt_tokens, request.max_tokens
    if (context is not None and prompt >= context) or (longest is not None and prompt > longest):
        yield "prompt too long"
    if answer is None:
        return
    most = endpoint.max_completion_tokens
    if (most is not None and answer > most) or (
        context is not None and prompt < context < prompt + answer
    ):
        yield "cannot answer that long"


def _first_only(
    attempts: Sequence[RouteAttempt], order: Sequence[str] | None
) -> tuple[list[RouteAttempt], list[ExcludedEndpoint]]:
    """The attempts that remain without fallbacks, and the endpoints that do not."""
    first = id(attempts[0].endpoint) if attempts else None
    kept, spare = [], {}
    for attempt in attempts:
        is_meant = (
            any(slug_names(entry, attempt.endpoint) for entry in order)
            if order
            else id(attempt.endpoint) == first
        )
        if is_meant:
            kept.append(attempt)
        else:
            why = (Exclusion("no fallbacks allowed", "request"),)
            spare[id(attempt.endpoint)] = ExcludedEndpoint(attempt.model, attempt.endpoint, why)
    return kept, list(spare.values())
