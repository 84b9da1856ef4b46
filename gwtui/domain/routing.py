"""Which endpoints may serve a request, in which order, and why others are excluded.

See section 3 of the inference contract. No I/O: the catalog, the guardrails, the provider
credentials and the random number generator are passed in.

Where the contract is silent, this is assumed:

- The slug of a provider in ``ignore`` also excludes its tier endpoints.
- A tier endpoint is used only if its tag is in ``order`` or ``only``, or if the request asks for
  its service tier.
- Without ``allow_fallbacks``, only the endpoints in ``order`` are tried; without an order, only
  the first one.
- A credential that is disabled, or that the caller may not use, has no effect.
- The price of an endpoint is that of one prompt token plus one completion token, with overrides
  and discount applied.
- An endpoint that is down counts as having an outage, because an outage of the last 30 seconds
  cannot be seen.
- The metrics behind "exacto" are not public: endpoints that support tools come first.
- An unknown price or metric sorts last and satisfies no preference.
"""

from __future__ import annotations

from bisect import bisect
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from decimal import Decimal
from itertools import accumulate
from typing import Literal

from gwtui.contract.byok import ByokCredential
from gwtui.contract.dialects import Dialect
from gwtui.contract.models import Endpoint, Model, Percentiles
from gwtui.contract.routing import PercentileBounds, ProviderPreferences, SortBy
from gwtui.domain.catalog import (
    CatalogView,
    ModelWithEndpoints,
    endpoint_key,
    provider_slug,
    verdict,
)
from gwtui.domain.guardrail_effect import GuardrailRestrictions, Reason, effect_on_model
from gwtui.domain.pricing import effective_prices

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
        "tier not requested",
        "other tier asked for",
        "BYOK credential needed",
        "no fallbacks allowed",
    ]
)
RouteRule = Literal["guardrail", "request", "endpoint", "credential"]
"""What excludes an endpoint: a guardrail, the request, a limit of the endpoint, or a credential."""

Chance = Callable[[], float]
"""Returns a random number from 0 up to but not including 1."""

PREFERRED_PARAMETERS = frozenset({"tools", "response_format", "verbosity"})
"""Parameters that, if requested, make endpoints that support them come first."""

_LAST = Decimal("Infinity")
_PERCENTILES = ("p50", "p75", "p90", "p99")
_MS = 1000
_MILLION = Decimal(1_000_000)
_BOUNDED = {
    "prompt": _MILLION,
    "completion": _MILLION,
    "request": Decimal(1),
    "image": Decimal(1),
    "audio": Decimal(1),
}
"""Field of ``MaxPrice`` -> the number of units that its limit refers to."""
_SAME_TIER = {"fast": "priority"}
_TIERS = frozenset({"flex", "priority", "ultrafast"})


@dataclass(frozen=True, slots=True)
class RequestedModel:
    """A model as named in a request: its id, and the sort order and service tier of a shortcut.

    Both are None without a shortcut.
    """

    id: str
    sort: str | None = None
    tier: str | None = None


_SHORTCUTS: Mapping[str, tuple[str, str | None]] = {
    "nitro": ("throughput", "priority"),
    "floor": ("price", "flex"),
    "exacto": ("exacto", None),
}


def requested_model(name: str) -> RequestedModel:
    """Parse a model name: a shortcut such as ``:nitro`` is split off, a variant ``:free`` stays."""
    plain, colon, suffix = name.rpartition(":")
    if colon and suffix in _SHORTCUTS:
        return RequestedModel(plain, *_SHORTCUTS[suffix])
    return RequestedModel(name)


@dataclass(frozen=True, slots=True, kw_only=True)
class RouteRequest:
    """The properties of a request that matter for routing.

    ``parameters`` are the names of the request's parameters. ``default_sort`` is the workspace's
    sort order, None without one.
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
    """A reason why an endpoint is excluded, and what excludes it."""

    reason: RouteReason
    rule: RouteRule


@dataclass(frozen=True, slots=True)
class ExcludedEndpoint:
    """An endpoint that is not tried, with all reasons."""

    model: Model
    endpoint: Endpoint
    exclusions: tuple[Exclusion, ...]


@dataclass(frozen=True, slots=True)
class RouteAttempt:
    """An attempt to send a request to an endpoint.

    ``credential`` is None if the attempt uses the gateway's own provider key.
    """

    model: Model
    endpoint: Endpoint
    credential: ByokCredential | None = None


@dataclass(frozen=True, slots=True)
class _Offer:
    """An endpoint that may be tried. ``price`` is in USD for the request, None if unknown."""

    model: Model
    endpoint: Endpoint
    price: Decimal | None

    @property
    def cost(self) -> Decimal:
        """The price to sort by; infinite if unknown."""
        return _LAST if self.price is None else self.price

    @property
    def has_outage(self) -> bool:
        """Whether the endpoint is down now."""
        return verdict(self.endpoint).word == "down"


@dataclass(frozen=True, slots=True)
class Route:
    """The attempts in order, and the excluded endpoints.

    ``unknown`` are reasons that could not be checked, because the gateway does not report the data.
    """

    attempts: tuple[RouteAttempt, ...]
    excluded: tuple[ExcludedEndpoint, ...]
    unknown: tuple[RouteReason, ...] = ()

    @property
    def endpoint_count(self) -> int:
        """The number of endpoints, including excluded ones."""
        tried = {id(attempt.endpoint) for attempt in self.attempts}
        return len(tried) + len(self.excluded)


def usable_credentials(
    credentials: Iterable[ByokCredential], *, key_hash: str | None, user_id: str | None
) -> tuple[ByokCredential, ...]:
    """The credentials that the caller may use, in the order in which they are tried."""
    usable = [
        credential
        for credential in credentials
        if not credential.disabled
        and (
            credential.allowed_api_key_hashes is None
            or key_hash in credential.allowed_api_key_hashes
        )
        and (credential.allowed_user_ids is None or user_id in credential.allowed_user_ids)
    ]
    return tuple(sorted(usable, key=lambda credential: credential.sort_order or 0))


@dataclass(frozen=True, slots=True)
class Router:
    """Decides which endpoints serve the requests of one key.

    ``guardrails`` are those that apply to the key, ``credentials`` those from
    ``usable_credentials``.
    """

    view: CatalogView
    dialect: Dialect
    guardrails: Sequence[GuardrailRestrictions] = ()
    credentials: Sequence[ByokCredential] = ()

    def route(
        self, models: Sequence[ModelWithEndpoints], request: RouteRequest, chance: Chance
    ) -> Route:
        """Route a request; ``models`` are the requested model and its fallbacks, in order."""
        left: list[list[_Offer]] = []
        excluded: list[ExcludedEndpoint] = []
        for offers in models:
            left.append([])
            for endpoint, why in self._against(offers, request):
                if why:
                    excluded.append(ExcludedEndpoint(offers.model, endpoint, why))
                else:
                    price = _price(endpoint, request)
                    left[-1].append(_Offer(offers.model, endpoint, price))
        attempts = [
            attempt
            for group in _groups(left, request.preferences)
            for attempt in self._attempts(_ordered(group, request, chance))
        ]
        excluded += self._without_key(left, attempts)
        if request.preferences.allow_fallbacks is False:
            attempts, spare = _first_only(attempts, request.preferences.order)
            excluded += spare
        return Route(tuple(attempts), tuple(excluded), tuple(self._unknown(request.preferences)))

    def _against(
        self, offers: ModelWithEndpoints, request: RouteRequest
    ) -> Iterator[tuple[Endpoint, tuple[Exclusion, ...]]]:
        """Yield each endpoint of a model with its exclusions, empty if it may be tried."""
        effect = effect_on_model(offers, self.guardrails, self.view, self.dialect)
        by_guardrails = {id(blocked.endpoint): blocked.reasons for blocked in effect.blocked}
        tiers = frozenset(endpoint.service_tier for endpoint in offers.endpoints or ())
        for endpoint in offers.endpoints or ():
            by_guardrail: list[RouteReason] = [*by_guardrails.get(id(endpoint), ())]
            if self._trains(offers.model, endpoint):
                by_guardrail.append("may train on the data")
            by_request = (
                *self._privacy(offers.model, endpoint, request.preferences),
                *_chosen(endpoint, request),
                *_tier(endpoint, request, tiers),
            )
            yield (
                endpoint,
                (
                    *(Exclusion(reason, "guardrail") for reason in by_guardrail),
                    *(Exclusion(reason, "request") for reason in by_request),
                    *(Exclusion(reason, "endpoint") for reason in _too_small(endpoint, request)),
                ),
            )

    def _trains(self, model: Model, endpoint: Endpoint) -> bool:
        """Whether a guardrail excludes the endpoint because its provider trains on the data."""
        if self.view.training is None or endpoint_key(endpoint) not in self.view.training:
            return False
        kind = "free" if is_free(model) else "paid"
        return any(kind in guardrail.no_training for guardrail in self.guardrails)

    def _privacy(
        self, model: Model, endpoint: Endpoint, preferences: ProviderPreferences
    ) -> Iterator[RouteReason]:
        view, key = self.view, endpoint_key(endpoint)
        violated: Mapping[RouteReason, bool] = {
            "no zero data retention": view.zdr is not None and key not in view.zdr,
            "may train on the data": view.training is not None and key in view.training,
            "text may not be distilled": view.distillable is not None
            and model.id not in view.distillable,
        }
        return (reason for reason in _demanded(preferences) if violated[reason])

    def _unknown(self, preferences: ProviderPreferences) -> Iterator[RouteReason]:
        known: Mapping[RouteReason, object] = {
            "no zero data retention": self.view.zdr,
            "may train on the data": self.view.training,
            "text may not be distilled": self.view.distillable,
        }
        demanded = {*_demanded(preferences)}
        if any(guardrail.zdr for guardrail in self.guardrails):
            demanded.add("no zero data retention")
        if any(guardrail.no_training for guardrail in self.guardrails):
            demanded.add("may train on the data")
        return (reason for reason in known if reason in demanded and known[reason] is None)

    def _attempts(self, ordered: Sequence[_Offer]) -> Iterator[RouteAttempt]:
        """BYOK credentials first, then the service's keys, then fallback BYOK credentials."""
        byok = [
            (offer, credential)
            for offer in ordered
            for credential in self._of_provider(offer)
            if self._covers(credential, offer.model)
        ]
        tries: list[tuple[_Offer, ByokCredential | None]] = [
            *((offer, credential) for offer, credential in byok if not credential.is_fallback),
            *((offer, None) for offer in ordered if not self._needs_own_key(offer)),
            *((offer, credential) for offer, credential in byok if credential.is_fallback),
        ]
        return (
            RouteAttempt(offer.model, offer.endpoint, credential) for offer, credential in tries
        )

    def _of_provider(self, offer: _Offer) -> Iterator[ByokCredential]:
        slug = provider_slug(offer.endpoint, self.view.provider_slugs)
        return (credential for credential in self.credentials if credential.provider == slug)

    def _covers(self, credential: ByokCredential, model: Model) -> bool:
        names = {model.id, model.canonical_slug}
        return credential.allowed_models is None or any(
            entry in names or self.view.canonical.get(entry) in names
            for entry in credential.allowed_models
        )

    def _needs_own_key(self, offer: _Offer) -> bool:
        return any(
            credential.is_byok_only
            or (credential.is_required and self._covers(credential, offer.model))
            for credential in self._of_provider(offer)
        )

    def _without_key(
        self, left: Sequence[Sequence[_Offer]], attempts: Sequence[RouteAttempt]
    ) -> Iterator[ExcludedEndpoint]:
        """Yield the endpoints that are not tried, because there is no BYOK credential for them."""
        tried = {id(attempt.endpoint) for attempt in attempts}
        why = (Exclusion("BYOK credential needed", "credential"),)
        for offers in left:
            for offer in offers:
                if id(offer.endpoint) not in tried:
                    yield ExcludedEndpoint(offer.model, offer.endpoint, why)


def is_free(model: Model) -> bool:
    """Whether a model is a free variant."""
    return (model.id or "").endswith(":free")


def _demanded(preferences: ProviderPreferences) -> Iterator[RouteReason]:
    """Yield the reasons that a request's data policies can give to exclude an endpoint."""
    if preferences.zdr:
        yield "no zero data retention"
    if preferences.data_collection == "deny":
        yield "may train on the data"
    if preferences.enforce_distillable_text:
        yield "text may not be distilled"


def _chosen(endpoint: Endpoint, request: RouteRequest) -> Iterator[RouteReason]:
    """Yield reasons from the request's providers, quantizations, prices and parameters."""
    preferences = request.preferences
    if preferences.only is not None and not any(
        slug_names(entry, endpoint) for entry in preferences.only
    ):
        yield "provider not allowed"
    if any(slug_names(entry, endpoint) for entry in preferences.ignore or ()):
        yield "provider blocked"
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
    """Whether a price that the request limits is above its limit, or unknown."""
    bounds = {key: request.preferences.max_price.bound(key) for key in _BOUNDED}
    if endpoint.pricing is None:
        return any(bound is not None for bound in bounds.values())
    prices = effective_prices(endpoint.pricing, request.prompt_tokens, request.moment)
    for key, bound in bounds.items():
        price = prices.get(key)
        if bound is None or price is None:
            continue
        if price.usd is None or price.usd * _BOUNDED[key] > bound:
            return True
    return False


def _requested_tier(request: RouteRequest) -> str | None:
    tier = _SAME_TIER.get(request.service_tier or "", request.service_tier)
    return tier if tier in _TIERS else None


def _tier(
    endpoint: Endpoint, request: RouteRequest, tiers: frozenset[str | None]
) -> Iterator[RouteReason]:
    """Yield a reason if the endpoint has a service tier that was not requested.

    ``tiers`` are those of all endpoints of the model. If "flex" is requested and the model has such
    an endpoint, endpoints without a tier are excluded as well.
    """
    requested = _requested_tier(request)
    named = (*(request.preferences.order or ()), *(request.preferences.only or ()))
    if endpoint.tag in named or endpoint.service_tier == requested:
        return
    if endpoint.service_tier is not None:
        yield "tier not requested"
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
    """Split the attempts into those allowed without fallbacks, and the excluded endpoints."""
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


# Order -------------------------------------------------------------------------------------------


def _groups(
    left: Sequence[list[_Offer]], preferences: ProviderPreferences
) -> Sequence[list[_Offer]]:
    """Group the offers for sorting: one group per model, or a single group of all models."""
    if isinstance(preferences.sort, SortBy) and preferences.sort.partition == "none":
        return [[offer for offers in left for offer in offers]]
    return left


def _ordered(offers: list[_Offer], request: RouteRequest, chance: Chance) -> list[_Offer]:
    """Sort the offers into the order in which they are tried.

    With neither a sort order nor ``preferences.order``, the first is drawn at random with weight
    1/price², and the others follow by price.
    """
    preferences = request.preferences
    sort = preferences.sort
    by = (sort.by if isinstance(sort, SortBy) else sort) or request.default_sort
    if by is not None:
        ordered = sorted(offers, key=lambda offer: _figure(offer, by))
    else:
        ordered = sorted(offers, key=lambda offer: (offer.has_outage, offer.cost))
        if not preferences.order:
            _draw_first(ordered, chance)
    ordered.sort(key=lambda offer: _misses(offer.endpoint, request))
    if preferences.order:
        order = preferences.order
        ordered.sort(key=lambda offer: _place(offer.endpoint, order))
    elif tier := _requested_tier(request):
        ordered.sort(key=lambda offer: offer.endpoint.service_tier != tier)
    return ordered


def _price(endpoint: Endpoint, request: RouteRequest) -> Decimal | None:
    """The price of one prompt token plus one completion token in USD; None if unknown."""
    if endpoint.pricing is None:
        return None
    prices = effective_prices(endpoint.pricing, request.prompt_tokens, request.moment)
    total = Decimal(0)
    for key in ("prompt", "completion"):
        price = prices.get(key)
        if price is None or price.usd is None:
            return None
        total += price.usd
    return total


def _place(endpoint: Endpoint, order: Sequence[str]) -> int:
    return next(
        (place for place, entry in enumerate(order) if slug_names(entry, endpoint)), len(order)
    )


def _draw_first(offers: list[_Offer], chance: Chance) -> None:
    """Move a random offer without an outage to the front; cheaper ones are more likely."""
    drawn_from = [offer for offer in offers if not offer.has_outage and offer.price is not None]
    free = [offer for offer in drawn_from if offer.cost <= 0]
    if free:
        drawn = free[int(chance() * len(free))]
    elif drawn_from:
        ends = list(accumulate(1 / float(offer.cost) ** 2 for offer in drawn_from))
        drawn = drawn_from[min(bisect(ends, chance() * ends[-1]), len(ends) - 1)]
    else:
        return
    position = next(place for place, offer in enumerate(offers) if offer is drawn)
    offers.insert(0, offers.pop(position))


def _figure(offer: _Offer, sort: str) -> Decimal:
    """The value by which ``sort`` orders an offer, the best first."""
    endpoint = offer.endpoint
    match sort:
        case "throughput":
            speed = _median(endpoint.throughput_last_30m)
            return _LAST if speed is None else -speed
        case "latency":
            delay = _median(endpoint.latency_last_30m)
            return _LAST if delay is None else delay
        case "exacto":
            works = "tools" in (endpoint.supported_parameters or ())
            return Decimal(0 if works else 1)
        case _:
            return offer.cost


def _median(figures: Percentiles | None) -> Decimal | None:
    return None if figures is None else figures.p50


def _misses(endpoint: Endpoint, request: RouteRequest) -> int:
    """The number of preferences that an endpoint does not meet."""
    preferences = request.preferences
    preferred = request.parameters & PREFERRED_PARAMETERS
    lacking = len(preferred - set(endpoint.supported_parameters or ()))
    slow = not _keeps(
        endpoint.throughput_last_30m,
        preferences.preferred_min_throughput,
        lambda figure, bound: figure >= bound,
    )
    late = not _keeps(
        endpoint.latency_last_30m,
        preferences.preferred_max_latency,
        lambda figure, bound: figure <= bound * _MS,
    )
    return lacking + slow + late


def _keeps(
    figures: Percentiles | None,
    limit: Decimal | PercentileBounds | None,
    holds: Callable[[Decimal, Decimal], bool],
) -> bool:
    bounds = limit if isinstance(limit, PercentileBounds) else PercentileBounds(p50=limit)
    for name in _PERCENTILES:
        bound, figure = getattr(bounds, name), getattr(figures, name, None)
        if bound is not None and (figure is None or not holds(figure, bound)):
            return False
    return True


# One endpoint -----------------------------------------------------------------------------------


def slug_names(entry: str, endpoint: Endpoint) -> bool:
    """Whether a slug matches an endpoint: as its provider's slug, or as its own tag."""
    return entry in {endpoint.tag, provider_slug(endpoint, {})}
