"""Compare the figures of endpoints or models side by side, marking differences and best values.

No request is sent: ``gwtui.resources.tries.comparison`` compares answers.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from typing import Any

from gwtui.contract.models import PRICE_KEYS, Pricing
from gwtui.crud import cells
from gwtui.crud.resource import Cell, ResourceSpec
from gwtui.domain.cell_values import sort_key
from gwtui.resources.models.prices import discounted_price, unit_of, unit_price
from gwtui.watch.feeds.models import EndpointRow

FEWEST, MOST = 2, 6
"""Minimum and maximum number of compared rows."""

_LOWER = frozenset({"in", "out", "blend", "latency_p50", "latency_p90", "latency_p99"})
_HIGHER = frozenset(
    {"context", "max_output", "discount", "throughput_p50", "throughput_p90", "throughput_p99"}
    | {"uptime_5m", "uptime_30m", "uptime_1d"}
)
"""Columns whose best value is the lowest, and those whose best value is the highest."""
_NAMES = frozenset({"name", "id", "provider", "model", "model_id", "read", "parameters", "other"})
"""Columns left out, because the heading or a later part displays them."""
_TOKENS = ("prompt", "completion")
_HAS, _HAS_NOT = Cell("yes", "good"), Cell("no", "muted")


@dataclass(frozen=True, slots=True)
class FigureLine:
    """One figure of each row; ``best`` has the indexes of the best values, if there are any."""

    label: str
    cells: tuple[Cell, ...]
    best: frozenset[int] = frozenset()

    @property
    def differs(self) -> bool:
        """Whether the values differ."""
        return len({cell.text for cell in self.cells}) > 1


@dataclass(frozen=True, slots=True)
class SideBySide:
    """A comparison: the names, the figures in titled parts, and the shared parameters."""

    names: tuple[tuple[str, str], ...]
    """The name of each row, in two lines."""
    parts: tuple[tuple[str, tuple[FigureLine, ...]], ...]
    shared: tuple[str, ...]
    """The parameters that every row supports."""


def side_by_side(spec: ResourceSpec[Any], rows: Sequence[Any], now: datetime) -> SideBySide:
    """Compare the figures of models or endpoints, in column order."""
    figures = []
    for column in spec.columns:
        if column.id not in _NAMES:
            values = [sort_key(column.sort(row, now)) for row in rows]
            shown = tuple(column.cell(row, now) for row in rows)
            figures.append(FigureLine(column.title, shown, _best(column.id, values)))
    supported = [_parameters(row) for row in rows]
    known = [given for given in supported if given is not None]
    every = sorted(set().union(*known))
    shared = [name for name in every if known == supported and all(name in one for one in known)]
    single = tuple(
        FigureLine(cells.text(name).text, tuple(_support(name, given) for given in supported))
        for name in every
        if name not in shared
    )
    return SideBySide(
        tuple(_called(spec, row) for row in rows),
        (
            ("Figures", tuple(figures)),
            ("Further prices", _prices([_pricing(row) for row in rows])),
            ("Parameters that not all support", single),
        ),
        tuple(cells.text(name).text for name in shared),
    )


def _best(column: str, values: Sequence[tuple[int, Any] | None]) -> frozenset[int]:
    known = [value for value in values if value is not None]
    if column not in _LOWER | _HIGHER or len(set(known)) < FEWEST:
        return frozenset()
    best = min(known) if column in _LOWER else max(known)
    return frozenset(place for place, value in enumerate(values) if value == best)


def _prices(pricings: Sequence[Pricing | None]) -> tuple[FigureLine, ...]:
    lines = []
    for key in PRICE_KEYS:
        prices = [None if one is None else one.price(key) for one in pricings]
        if key in _TOKENS or not any(prices):
            continue
        both = zip(pricings, prices, strict=True)
        paid = [
            None if one is None or price is None else discounted_price(one, price)
            for one, price in both
        ]
        shown = tuple(cells.NOTHING if price is None else unit_price(key, price) for price in paid)
        lines.append(FigureLine(f"{key} /{unit_of(key)}", shown, _cheapest(paid)))
    return tuple(lines)


def _cheapest(prices: Sequence[Decimal | None]) -> frozenset[int]:
    # A negative price varies, so no price is known to be the cheapest.
    known = [price for price in prices if price is not None]
    if len(set(known)) < FEWEST or min(known) < 0:
        return frozenset()
    return frozenset(place for place, price in enumerate(prices) if price == min(known))


def _support(name: str, given: frozenset[str] | None) -> Cell:
    if given is None:
        return cells.NOTHING
    return _HAS if name in given else _HAS_NOT


def _parameters(row: Any) -> frozenset[str] | None:
    holder = row.endpoint if isinstance(row, EndpointRow) else row
    given = holder.supported_parameters
    return None if given is None else frozenset(given)


def _pricing(row: Any) -> Pricing | None:
    pricing: Pricing | None = (row.endpoint if isinstance(row, EndpointRow) else row).pricing
    return pricing


def _called(spec: ResourceSpec[Any], row: Any) -> tuple[str, str]:
    if isinstance(row, EndpointRow):
        return cells.text(row.model_name or row.model_id).text, cells.text(row.title).text
    return spec.name(row), cells.text(row.id).text
