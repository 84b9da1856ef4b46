"""The catalog: models, their endpoints and prices, providers.

See "Model with endpoints", "Endpoint object" and "Pricing object" in the contract and section 7 of
the extended contract.
"""

from __future__ import annotations

from decimal import Decimal
from typing import Any

from gwtui.contract.response import ResponseModel, wire
from gwtui.contract.scalars import Number, Price, Whole
from gwtui.contract.values import (
    INPUT_MODALITIES,
    OUTPUT_MODALITIES,
    QUANTIZATIONS,
    SERVICE_TIERS,
    SUPPORTED_PARAMETERS,
)

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
"""All price keys, in the order of the contract."""

PER_TOKEN_KEYS = frozenset(PRICE_KEYS) - {"request", "image", "image_output", "web_search"}
"""Price keys with one token as the unit; the others are per request, image or search."""


class Architecture(ResponseModel):
    """Modalities, instruction format and tokenizer of a model."""

    modality: str | None = wire("primary modality", nullable=True)
    input_modalities: list[str] | None = wire("accepted inputs", known=INPUT_MODALITIES)
    output_modalities: list[str] | None = wire("produced outputs", known=OUTPUT_MODALITIES)
    instruct_type: str | None = wire("instruction format", nullable=True, optional=True)
    tokenizer: str | None = wire("tokenizer family", nullable=True, optional=True)


class TopProvider(ResponseModel):
    """The limits of the provider with the highest priority."""

    is_moderated: bool | None = wire("whether requests are moderated")
    context_length: Whole | None = wire("tokens", nullable=True, optional=True)
    max_completion_tokens: Whole | None = wire("tokens", nullable=True, optional=True)


class RequestLimits(ResponseModel):
    """The maximum number of tokens per request; None without a limit."""

    prompt_tokens: Number | None = wire("input limit", unit="tokens", nullable=True)
    completion_tokens: Number | None = wire("output limit", unit="tokens", nullable=True)


class ReasoningSupport(ResponseModel):
    """Reasoning support of a model."""

    mandatory: bool | None = wire("whether it cannot be switched off")
    default_effort: str | None = wire("effort when none is asked", nullable=True, optional=True)
    default_enabled: bool | None = wire("whether it is on by default", optional=True)
    supported_efforts: list[str] | None = wire("accepted efforts", nullable=True, optional=True)
    supports_max_tokens: bool | None = wire("whether it can be capped", optional=True)


class AliasTarget(ResponseModel):
    """The model that an alias stands for."""

    name: str | None = wire("display name")
    slug: str | None = wire("author/slug")


class Model(ResponseModel):
    """A model of the catalog (GET /models)."""

    id: str | None = wire("model identifier, author/slug")
    canonical_slug: str | None = wire("permaslug")
    name: str | None = wire("display name")
    created: Whole | None = wire("Unix timestamp, seconds")
    description: str | None = wire("free text", optional=True)
    context_length: Whole | None = wire("tokens", unit="tokens", nullable=True)
    architecture: Architecture | None = wire("modalities and tokenizer")
    pricing: Pricing | None = wire("prices of the cheapest default route")
    top_provider: TopProvider | None = wire("limits of the first provider")
    supported_parameters: list[str] | None = wire("accepted parameters", known=SUPPORTED_PARAMETERS)
    per_request_limits: RequestLimits | None = wire("limits of one request", nullable=True)
    supported_voices: list[str] | None = wire("voices of a speech model", nullable=True)
    default_parameters: dict[str, Number | None] | None = wire(
        "parameter values used when none is given", nullable=True
    )
    links: dict[str, str] | None = wire("paths of related resources")
    reasoning: ReasoningSupport | None = wire("reasoning", nullable=True, optional=True)
    alias_target: AliasTarget | None = wire(
        "what an alias stands for", nullable=True, optional=True
    )
    benchmarks: dict[str, Any] | None = wire(
        "scores; the contract gives no shape", nullable=True, optional=True
    )
    hugging_face_id: str | None = wire("weights repository", nullable=True, optional=True)
    expiration_date: str | None = wire("day the model is withdrawn", nullable=True, optional=True)
    knowledge_cutoff: str | None = wire("knowledge cut-off", nullable=True, optional=True)


class PriceOverride(ResponseModel):
    """Prices that replace the base prices while all conditions of the override are met."""

    min_prompt_tokens: Number | None = wire(
        "applies when the prompt has strictly more tokens", optional=True
    )
    utc_start: Whole | None = wire("start of the UTC window, inclusive, HHMM", optional=True)
    utc_end: Whole | None = wire("end of the UTC window, exclusive, HHMM", optional=True)
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
        """The override's price for a price key; None if the base price applies."""
        value = getattr(self, key, None)
        return value if isinstance(value, Decimal) else None


class Pricing(ResponseModel):
    """The base prices in USD per unit, the discount on them, and the overrides."""

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
        """The base price for a price key, undiscounted; None if the endpoint has no such price."""
        value = getattr(self, key, None)
        return value if isinstance(value, Decimal) else None


class Percentiles(ResponseModel):
    """Percentiles of a metric, in the unit of the field that has this type."""

    p50: Number | None = wire("median", nullable=True)
    p75: Number | None = wire("75th percentile", nullable=True)
    p90: Number | None = wire("90th percentile", nullable=True)
    p99: Number | None = wire("99th percentile", nullable=True)


class WorkloadPerformance(ResponseModel):
    """Performance of one workload over the last 30 minutes."""

    latency: Percentiles | None = wire(
        "full time for image and video generation, else time to first token",
        unit="ms",
        nullable=True,
    )
    throughput: Percentiles | None = wire("text generation only", unit="tokens/s", nullable=True)
    request_count: Whole | None = wire("requests in the window", nullable=True)


class ToolChoiceSupport(ResponseModel):
    """The tool_choice values that the endpoint supports."""

    auto: bool | None = wire("literal auto")
    function: bool | None = wire("a named function")
    none: bool | None = wire("literal none")
    required: bool | None = wire("literal required")


class NativeTool(ResponseModel):
    """A tool that the provider runs itself.

    The gateway translates a request for a server tool, such as web search, to this tool.
    """

    type: str | None = wire("provider tool type")


class Endpoint(ResponseModel):
    """A model at one provider: prices, limits, capabilities and live figures."""

    name: str | None = wire("display name of the endpoint")
    model_id: str | None = wire("unique model identifier (permaslug)")
    model_name: str | None = wire("display name of the model")
    provider_name: str | None = wire("display name of the provider")
    tag: str | None = wire("provider slug with its variant")
    context_length: Whole | None = wire("input and output share it", unit="tokens")
    max_completion_tokens: Whole | None = wire("output limit", unit="tokens", nullable=True)
    max_prompt_tokens: Whole | None = wire("input limit", unit="tokens", nullable=True)
    quantization: str | None = wire("weight format", nullable=True, known=QUANTIZATIONS)
    service_tier: str | None = wire(
        "null is standard", nullable=True, optional=True, known=SERVICE_TIERS
    )
    status: Whole | None = wire("0 is normal", optional=True)
    supported_parameters: list[str] | None = wire("accepted parameters", known=SUPPORTED_PARAMETERS)
    supports_implicit_caching: bool | None = wire("implicit prompt caching")
    supports_diarization: bool | None = wire("speech-to-text speakers", optional=True)
    supports_image_reference: bool | None = wire("image voice reference", optional=True)
    supports_multiple_audio_references: bool | None = wire(
        "more than one reference clip", optional=True
    )
    supports_voice_cloning: bool | None = wire("inline voice references", optional=True)
    supports_tool_choice: ToolChoiceSupport | None = wire(
        "tool_choice values that work", optional=True
    )
    native_tools: dict[str, NativeTool] | None = wire(
        "server tools run by the provider itself", optional=True
    )
    pricing: Pricing | None = wire("prices")
    latency_last_30m: Percentiles | None = wire("time to first token", unit="ms", nullable=True)
    throughput_last_30m: Percentiles | None = wire(
        "reached or exceeded by N% of requests; needs a key", unit="tokens/s", nullable=True
    )
    perf_last_30m_by_workload: dict[str, WorkloadPerformance] | None = wire(
        "per workload; left out without a key", optional=True
    )
    uptime_last_5m: Number | None = wire("share of successful requests", unit="%", nullable=True)
    uptime_last_30m: Number | None = wire("share of successful requests", unit="%", nullable=True)
    uptime_last_1d: Number | None = wire(
        "share of minutes with 80% success", unit="%", nullable=True
    )


class ModelEndpoints(ResponseModel):
    """A model with all its endpoints (GET /models/{author}/{slug}/endpoints)."""

    id: str | None = wire("model identifier")
    name: str | None = wire("display name")
    created: Whole | None = wire("Unix timestamp, seconds")
    description: str | None = wire("free text")
    architecture: Architecture | None = wire("modalities and tokenizer")
    endpoints: list[Endpoint] | None = wire("offers of the model")


class ModelCount(ResponseModel):
    """The number of models (GET /models/count)."""

    count: Whole | None = wire("models")


class Provider(ResponseModel):
    """A company that serves endpoints."""

    name: str | None = wire("display name")
    slug: str | None = wire("provider identifier")
    privacy_policy_url: str | None = wire("link", nullable=True)
    terms_of_service_url: str | None = wire("link", nullable=True, optional=True)
    status_page_url: str | None = wire("link", nullable=True, optional=True)
    headquarters: str | None = wire("ISO country", nullable=True, optional=True)
    datacenters: list[str] | None = wire("ISO countries", nullable=True, optional=True)
