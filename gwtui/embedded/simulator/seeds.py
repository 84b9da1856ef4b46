"""The vocabulary in which the catalog's tables are written; prices as people quote them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import Any, Literal

from gwtui.contract.pricing import PER_TOKEN_KEYS

Condition = Literal["healthy", "degraded", "down", "sparse", "idle"]
"""``sparse`` has too few requests for a five-minute uptime, ``idle`` has none at all."""

Workload = Literal[
    "decisions",
    "embeddings",
    "image_generation",
    "rerank",
    "stt",
    "text_generation",
    "tts",
    "video_generation",
]

_MILLION = Decimal(1_000_000)

SAMPLING = ("temperature", "top_p", "max_tokens", "stop", "seed")
PENALTIES = ("frequency_penalty", "presence_penalty")
OPEN_SAMPLING = ("top_k", "min_p", "top_a", "repetition_penalty", "logit_bias")
TOOLS = ("tools", "tool_choice", "parallel_tool_calls")
STRUCTURED = ("response_format", "structured_outputs")
REASONING = ("reasoning", "include_reasoning", "reasoning_effort")
LOGPROBS = ("logprobs", "top_logprobs")

NO_TOOL_CHOICE = (False, False, False, False)
ANY_TOOL_CHOICE = (True, True, True, True)
LITERAL_TOOL_CHOICE = (True, False, True, False)
"""auto, function, none, required: only the literals auto and none work."""


def decimal_text(value: Decimal) -> str:
    """A decimal string without exponent or trailing zeros."""
    text = format(value, "f")
    return text.rstrip("0").rstrip(".") if "." in text else text


def _amount(key: str, quoted: str) -> str:
    """Wire price of a quoted one: USD per million for token prices, USD per unit for others."""
    amount = Decimal(quoted)
    return decimal_text(amount / _MILLION if key in PER_TOKEN_KEYS else amount)


def price(
    prompt: str = "0",
    completion: str = "0",
    *,
    discount: float = 0,
    overrides: tuple[dict[str, Any], ...] = (),
    **others: str,
) -> dict[str, Any]:
    """A pricing object. Token prices are quoted in USD per million, the others per unit."""
    quoted = {"prompt": prompt, "completion": completion, **others}
    wire: dict[str, Any] = {key: _amount(key, value) for key, value in quoted.items()}
    wire["discount"] = discount
    if overrides:
        wire["overrides"] = list(overrides)
    return wire


def override(
    *,
    above: int | None = None,
    window: tuple[int, int] | None = None,
    days: tuple[str, ...] = (),
    **quoted: str,
) -> dict[str, Any]:
    """An override entry: for prompts above so many tokens, within a UTC window (HHMM), on days."""
    wire: dict[str, Any] = {}
    if above is not None:
        wire["min_prompt_tokens"] = above
    if window is not None:
        wire["utc_start"], wire["utc_end"] = window
    if days:
        wire["utc_days"] = list(days)
    return wire | {key: _amount(key, value) for key, value in quoted.items()}


@dataclass(frozen=True, slots=True)
class EndpointTraits:
    """How an endpoint's live figures behave."""

    workloads: tuple[Workload, ...]
    latency_ms: float
    """Median time to the first token, or to the whole result for images and videos."""
    throughput: float | None
    """Median tokens per second; None where there are no tokens to count."""
    requests: int
    """Requests in an average half hour."""
    condition: Condition = "healthy"


@dataclass(frozen=True, slots=True, kw_only=True)
class EndpointSeed:
    """One provider's offer, as the tables write it. None means: as the model has it."""

    provider: str
    price: dict[str, Any]
    latency: float
    throughput: float | None = None
    requests: int = 400
    condition: Condition = "healthy"
    variant: str = ""
    """What follows the provider's slug in the tag, such as ``fp8`` or ``flex``."""
    quantization: str | None = None
    tier: str | None = None
    status: int = 0
    context: int | None = None
    max_output: int | None = None
    max_prompt: int | None = None
    parameters: tuple[str, ...] | None = None
    caching: bool = False
    tool_choice: tuple[bool, bool, bool, bool] = NO_TOOL_CHOICE
    native_tools: Mapping[str, str] | None = None
    """Canonical tool name without prefix -> the provider's tool type."""
    moderated: bool = False
    diarization: bool = False
    image_reference: bool = False
    audio_references: bool = False
    voice_cloning: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelSeed:
    """A model, as the tables write it."""

    id: str
    name: str
    created: str
    """Day of release, YYYY-MM-DD."""
    description: str
    endpoints: tuple[EndpointSeed, ...]
    context: int | None
    inputs: tuple[str, ...] = ("text",)
    outputs: tuple[str, ...] = ("text",)
    workloads: tuple[Workload, ...] = ("text_generation",)
    tokenizer: str | None = "Other"
    instruct: str | None = None
    parameters: tuple[str, ...] = ()
    voices: tuple[str, ...] | None = None
    defaults: Mapping[str, float] | None = None
    request_limits: tuple[int, int] | None = None
    """Prompt and completion tokens that one request may have, where the gateway caps them."""
    reasoning: Mapping[str, Any] | None = None
    knowledge_cutoff: str | None = None
    expires: str | None = None
    """Day the model is withdrawn, YYYY-MM-DD."""
    hugging_face_id: str | None = None


def _provider(
    name: str,
    slug: str,
    headquarters: str | None,
    datacenters: list[str] | None,
    *,
    policies: bool = True,
    status_page: bool = True,
) -> dict[str, Any]:
    site = f"https://{slug}.example"
    return {
        "name": name,
        "slug": slug,
        "privacy_policy_url": f"{site}/legal/privacy" if policies else None,
        "terms_of_service_url": f"{site}/legal/terms" if policies else None,
        "status_page_url": f"https://status.{slug}.example" if status_page else None,
        "headquarters": headquarters,
        "datacenters": datacenters,
    }


PROVIDERS: tuple[dict[str, Any], ...] = (
    _provider("Ampersand", "ampersand", "NL", ["NL", "DE"]),
    _provider("Bitforge", "bitforge", "DE", ["DE", "FI"], status_page=False),
    _provider("Cobalt Row", "cobalt-row", "CA", ["CA", "US"]),
    _provider("Drumlin", "drumlin", "IE", None, status_page=False),
    _provider("Fjordcloud", "fjordcloud", "NO", ["NO", "SE"]),
    _provider("Helioscope", "helioscope", "FR", ["FR"]),
    _provider("Kestrel Inference", "kestrel", "GB", ["GB", "US"]),
    _provider("Lumenworks", "lumenworks", "JP", ["JP", "SG"]),
    _provider("Northwind", "northwind", "US", ["US", "IE", "JP"]),
    _provider("Paperboat", "paperboat", None, None, policies=False, status_page=False),
    _provider("Quasar Compute", "quasar", "US", ["US"]),
    _provider("Tidepool AI", "tidepool", "US", ["US", "DE", "SG"]),
)
