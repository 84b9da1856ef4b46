"""In which order endpoints are tried, and which preferences leave only one of them.

Inference contract section 3.

Where the contract is silent, this is assumed:

- A price is what a prompt token and a completion token cost together, with the overrides that hold
  for the request and the discount.
- An endpoint that is down has an outage; nothing tells what happened in the last 30 seconds.
- The figures of "exacto" are not shown to anybody: endpoints that work with tools come first.
- An unknown price or figure comes last, and meets no preferred bound.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from typing import TypeVar, cast

from gwtui.contract.models import Endpoint, Percentiles
from gwtui.contract.routing import PercentileBounds, ProviderPreferences, SortBy
from gwtui.contract.values import Quantization
from gwtui.domain.catalog import provider_slug
from gwtui.domain.pricing import effective_prices
from gwtui.domain.uptime import verdict

Chance = Callable[[], float]
"""Uniform in [0, 1)."""
T = TypeVar("T")

_LAST = Decimal("Infinity")
_PERCENTILES = ("p50", "p75", "p90", "p99")
_MS = 1000
PREFERRED_PARAMETERS = frozenset({"tools", "response_format", "verbosity"})
"""Parameters whose endpoints come first even when not all of them have to be supported."""


@dataclass(frozen=True, slots=True)
class PricedEndpoint:
    """An endpoint to be ordered, with its price for this request in USD; None is unknown."""

    endpoint: Endpoint
    price: Decimal | None

    @property
    def cost(self) -> Decimal:
        """The price, endless when it is unknown."""
        return _LAST if self.price is None else self.price

    @property
    def has_outage(self) -> bool:
        """Whether it does not work now."""
        return verdict(self.endpoint).word == "down"


def price_of(endpoint: Endpoint, prompt_tokens: int, moment: datetime) -> Decimal | None:
    """What a prompt token and a completion token cost together in USD, None when unknown."""
    if endpoint.pricing is None:
        return None
    prices = effective_prices(endpoint.pricing, prompt_tokens, moment)
    total = Decimal(0)
    for key in ("prompt", "completion"):
        price = prices.get(key)
        if price is None or price.after_discount is None or price.varies:
            return None
        total += price.after_discount
    return total


def sorted_by(preferences: ProviderPreferences, default: str | None) -> str | None:
    """What endpoints are ordered by: as the request says, else as the workspace does."""
    sort = preferences.sort
    by = sort.by if isinstance(sort, SortBy) else sort
    return by or default


def in_order(
    endpoints: Sequence[T],
    ranked: Callable[[T], PricedEndpoint],
    preferences: ProviderPreferences,
    chance: Chance,
    *,
    sort: str | None = None,
    parameters: frozenset[str] = frozenset(),
) -> list[T]:
    """The endpoints in the order in which they are tried.

    ``sort`` is what ``sorted_by`` gives, ``parameters`` are the names of those that the request
    gives. Without ``sort`` and ``order`` the first one is drawn with weight 1/price², and the
    others follow by price.
    """
    rows = [(entry, ranked(entry)) for entry in endpoints]
    if sort is not None:
        rows.sort(key=lambda row: _figure(row[1], sort))
    else:
        rows.sort(key=lambda row: (row[1].has_outage, row[1].cost))
        if not preferences.order:
            _draw_first(rows, chance)
    rows.sort(key=lambda row: _misses(row[1].endpoint, preferences, parameters))
    if preferences.order:
        order = preferences.order
        rows.sort(key=lambda row: _place(row[1].endpoint, order))
    return [entry for entry, _ in rows]


def slug_names(entry: str, endpoint: Endpoint) -> bool:
    """Whether a slug means an endpoint: a provider's all of its endpoints, a tag exactly one."""
    return entry in {endpoint.tag, provider_slug(endpoint, {})}


def _place(endpoint: Endpoint, order: Sequence[str]) -> int:
    return next(
        (place for place, entry in enumerate(order) if slug_names(entry, endpoint)), len(order)
    )


def _draw_first(rows: list[tuple[T, PricedEndpoint]], chance: Chance) -> None:
    """Put one of those without an outage first, the cheaper the likelier."""
    drawn_from = [row for row in rows if not row[1].has_outage and row[1].price is not None]
    free = [row for row in drawn_from if row[1].cost <= 0]
    if free:
        drawn = free[int(chance() * len(free))]
    elif drawn_from:
        weights = [1 / float(row[1].cost) ** 2 for row in drawn_from]
        drawn = drawn_from[_drawn(weights, chance())]
    else:
        return
    position = next(place for place, row in enumerate(rows) if row is drawn)
    rows.insert(0, rows.pop(position))


def _drawn(weights: Sequence[float], share: float) -> int:
    left = share * sum(weights)
    for position, weight in enumerate(weights):
        left -= weight
        if left < 0:
            return position
    return len(weights) - 1


def _figure(ranked: PricedEndpoint, sort: str) -> Decimal:
    """What is sorted by, the best first."""
    endpoint = ranked.endpoint
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
            return ranked.cost


def _median(figures: Percentiles | None) -> Decimal | None:
    return None if figures is None else figures.p50


def _misses(
    endpoint: Endpoint, preferences: ProviderPreferences, parameters: frozenset[str]
) -> int:
    """How many preferences an endpoint does not meet."""
    wanted = parameters & PREFERRED_PARAMETERS
    lacking = len(wanted - set(endpoint.supported_parameters or ()))
    slow = not _keeps(
        endpoint.throughput_last_30m,
        _bounds(preferences.preferred_min_throughput),
        lambda figure, bound: figure >= bound,
    )
    late = not _keeps(
        endpoint.latency_last_30m,
        _bounds(preferences.preferred_max_latency),
        lambda figure, bound: figure <= bound * _MS,
    )
    return lacking + slow + late


def _bounds(
    limit: Decimal | PercentileBounds | None,
) -> Iterable[tuple[str, Decimal]]:
    if isinstance(limit, PercentileBounds):
        found = ((name, getattr(limit, name)) for name in _PERCENTILES)
        return [(name, bound) for name, bound in found if bound is not None]
    return [] if limit is None else [("p50", limit)]


def _keeps(
    figures: Percentiles | None,
    bounds: Iterable[tuple[str, Decimal]],
    holds: Callable[[Decimal, Decimal], bool],
) -> bool:
    for name, bound in bounds:
        figure = None if figures is None else getattr(figures, name)
        if figure is None or not holds(figure, bound):
            return False
    return True


def pinned_to(endpoint: Endpoint, among: Iterable[Endpoint]) -> ProviderPreferences | None:
    """Preferences that only ``endpoint`` meets ``among`` those of its model, without fallbacks.

    None where another endpoint has the same tag and quantization, or it has no tag.
    """
    tag = endpoint.tag
    if not tag:
        return None
    meant = [each for each in among if slug_names(tag, each) and _may_serve(each, tag)]
    weights = endpoint.quantization or "unknown"
    alike = [each for each in meant if (each.quantization or "unknown") == weights]
    if len(alike) != 1:
        return None
    pinned = {"order": [tag], "only": [tag], "allow_fallbacks": False}
    if len(meant) > 1:
        pinned["quantizations"] = [cast("Quantization", weights)]
    return ProviderPreferences.model_validate(pinned)


def _may_serve(endpoint: Endpoint, tag: str) -> bool:
    """Endpoints of a tier serve only what names their own tag."""
    return endpoint.tag == tag or endpoint.service_tier is None
