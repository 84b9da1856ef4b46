"""Prices of an endpoint: contract "Pricing object"; override entries in extended section 7."""

from __future__ import annotations

from decimal import Decimal

from gwtui.contract.response import ResponseModel, wire
from gwtui.contract.scalars import Number, Price

PRICE_KEYS = (
    "prompt",
    "completion",
    "request",
    "image",
    "image_output",
    "image_token",
    "audio",
    "audio_output",
    "input_audio_cache",
    "input_cache_read",
    "input_cache_write",
    "input_cache_write_1h",
    "internal_reasoning",
    "web_search",
)
"""Every price key, in the contract's order."""

PER_TOKEN_KEYS = frozenset(PRICE_KEYS) - {"request", "image", "image_output", "web_search"}
"""Price keys whose unit is one token; the others are per request, image or search."""


class PriceOverride(ResponseModel):
    """Prices that replace the base ones while every condition of the entry holds."""

    min_prompt_tokens: Number | None = wire(
        "applies when the prompt has strictly more tokens", optional=True
    )
    utc_start: int | None = wire("start of the UTC window, inclusive, HHMM", optional=True)
    utc_end: int | None = wire("end of the UTC window, exclusive, HHMM", optional=True)
    utc_days: list[str] | None = wire("UTC weekdays, every day when absent", optional=True)
    prompt: Price | None = wire("per prompt token", unit="USD", optional=True)
    completion: Price | None = wire("per completion token", unit="USD", optional=True)
    audio: Price | None = wire("per audio input token", unit="USD", optional=True)
    input_audio_cache: Price | None = wire(
        "per cached audio input token", unit="USD", optional=True
    )
    input_cache_read: Price | None = wire("per cached input token read", unit="USD", optional=True)
    input_cache_write: Price | None = wire("per cache-write token", unit="USD", optional=True)
    input_cache_write_1h: Price | None = wire(
        "per 1-hour cache-write token", unit="USD", optional=True
    )

    def price(self, key: str) -> Decimal | None:
        """The entry's own price for a key, None when it inherits."""
        value = getattr(self, key, None)
        return value if isinstance(value, Decimal) else None


class Pricing(ResponseModel):
    """USD per unit under default conditions, with discount and overrides."""

    prompt: Price | None = wire("per prompt token", unit="USD")
    completion: Price | None = wire("per completion token", unit="USD")
    request: Price | None = wire("per request", unit="USD", optional=True)
    image: Price | None = wire("per input image", unit="USD", optional=True)
    image_output: Price | None = wire("per output image", unit="USD", optional=True)
    image_token: Price | None = wire("per image token", unit="USD", optional=True)
    audio: Price | None = wire("per audio input token", unit="USD", optional=True)
    audio_output: Price | None = wire("per audio output token", unit="USD", optional=True)
    input_audio_cache: Price | None = wire(
        "per cached audio input token", unit="USD", optional=True
    )
    input_cache_read: Price | None = wire("per cached input token read", unit="USD", optional=True)
    input_cache_write: Price | None = wire(
        "per cache-write token (5-minute rate)", unit="USD", optional=True
    )
    input_cache_write_1h: Price | None = wire(
        "per 1-hour cache-write token", unit="USD", optional=True
    )
    internal_reasoning: Price | None = wire(
        "per internal reasoning token", unit="USD", optional=True
    )
    web_search: Price | None = wire("per web search", unit="USD", optional=True)
    discount: Number | None = wire("price is multiplied by 1 - discount", optional=True)
    overrides: list[PriceOverride] | None = wire("conditional prices", optional=True)

    def price(self, key: str) -> Decimal | None:
        """The base price for a key, None when the endpoint has none."""
        value = getattr(self, key, None)
        return value if isinstance(value, Decimal) else None
