"""The provider object of a request: which endpoints may serve it, and in which order.

See section 3 of the inference contract. Shared by chat and embeddings.
"""

from __future__ import annotations

from decimal import Decimal
from typing import Annotated, Literal

from pydantic import Field, JsonValue

from gwtui.contract.request import RequestModel
from gwtui.contract.scalars import DecimalUsd, NumberBounds
from gwtui.contract.values import ProviderSort, Quantization

ProviderSlugs = list[Annotated[str, Field(min_length=1)]]
"""Provider slugs; a slug with a suffix is the tag of a single endpoint."""
Positive = Annotated[Decimal, NumberBounds(0)]


class SortBy(RequestModel):
    """The sort order of endpoints, either within each model or across all models."""

    by: ProviderSort | None = Field(None, description="sort order")
    partition: Literal["model", "none"] | None = Field(
        None, description="order within each model, or across all models"
    )


class PercentileBounds(RequestModel):
    """Bounds for percentiles of a metric, in the unit of the field that has this type."""

    p50: Positive | None = Field(None, description="bound of the median")
    p75: Positive | None = Field(None, description="bound of the 75th percentile")
    p90: Positive | None = Field(None, description="bound of the 90th percentile")
    p99: Positive | None = Field(None, description="bound of the 99th percentile")


class MaxPrice(RequestModel):
    """The maximum price in USD: prompt and completion per million tokens."""

    prompt: DecimalUsd = Field(
        Decimal(0), description="per million prompt tokens", json_schema_extra={"x-unit": "USD"}
    )
    completion: DecimalUsd = Field(
        Decimal(0),
        description="per million completion tokens",
        json_schema_extra={"x-unit": "USD"},
    )
    request: DecimalUsd = Field(
        Decimal(0), description="per request", json_schema_extra={"x-unit": "USD"}
    )
    image: DecimalUsd = Field(
        Decimal(0), description="per image", json_schema_extra={"x-unit": "USD"}
    )
    audio: DecimalUsd = Field(
        Decimal(0), description="per audio unit", json_schema_extra={"x-unit": "USD"}
    )

    def bound(self, key: str) -> Decimal | None:
        """The maximum for the price field ``key``, in the unit of that field; None if not set."""
        value = getattr(self, key) if key in self.model_fields_set else None
        return value if isinstance(value, Decimal) else None


class ProviderPreferences(RequestModel):
    """Which endpoints may serve the request, and which are tried first."""

    order: ProviderSlugs | None = Field(None, description="try these providers in this order")
    only: ProviderSlugs | None = Field(None, description="use these providers only")
    ignore: ProviderSlugs | None = Field(None, description="never use these providers")
    allow_fallbacks: bool | None = Field(
        True, description="try further endpoints when the first one fails"
    )
    require_parameters: bool | None = Field(
        False, description="only endpoints that support every parameter of the request"
    )
    data_collection: Literal["allow", "deny"] | None = Field(
        None, description="whether providers may store and use the data"
    )
    zdr: bool | None = Field(None, description="only endpoints with zero data retention")
    enforce_distillable_text: bool | None = Field(
        None, description="only models whose text may be distilled"
    )
    quantizations: list[Quantization] | None = Field(
        None, description="only endpoints with these weight formats"
    )
    sort: ProviderSort | SortBy | None = Field(None, description="order of the endpoints")
    preferred_min_throughput: Positive | PercentileBounds | None = Field(
        None,
        description="endpoints at least this fast come first; a number is the median",
        json_schema_extra={"x-unit": "tokens/s"},
    )
    preferred_max_latency: Positive | PercentileBounds | None = Field(
        None,
        description="endpoints that answer this soon come first; a number is the median",
        json_schema_extra={"x-unit": "s"},
    )
    max_price: MaxPrice = Field(
        default_factory=MaxPrice, description="only endpoints up to these prices"
    )
    options: dict[str, dict[str, JsonValue]] = Field(
        default_factory=dict, description="provider slug -> fields passed on to that provider"
    )
