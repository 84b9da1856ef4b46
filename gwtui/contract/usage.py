"""Usage: credits, activity and generations.

See "Credits" in the contract and section 8 of the extended contract.
"""

from __future__ import annotations

from decimal import Decimal
from typing import Annotated, Any, Literal

from pydantic import Field

from gwtui.contract.request import RequestModel
from gwtui.contract.response import ResponseModel, wire
from gwtui.contract.scalars import Number, Timestamp, Whole


class Credits(ResponseModel):
    """The purchased and used credits of the account, in USD."""

    total_credits: Number | None = wire("total purchased", unit="USD")
    total_usage: Number | None = wire("total used", unit="USD")

    @property
    def balance(self) -> Decimal | None:
        """The balance in USD; negative when overdrawn, None if a figure is unknown."""
        if self.total_credits is None or self.total_usage is None:
            return None
        return self.total_credits - self.total_usage

    @property
    def used_share(self) -> Decimal | None:
        """The used share of the purchases: 0 to 1, above 1 if overdrawn, None if unknown."""
        if self.total_credits is None or self.total_usage is None or self.total_credits <= 0:
            return None
        return self.total_usage / self.total_credits


class ActivityRow(ResponseModel):
    """The account's usage of one endpoint on one UTC day."""

    date: str | None = wire("UTC day, YYYY-MM-DD")
    model: str | None = wire("model identifier")
    model_permaslug: str | None = wire("canonical model identifier")
    endpoint_id: str | None = wire("uuid of the endpoint")
    provider_name: str | None = wire("display name of the provider")
    requests: Whole | None = wire("requests")
    usage: Number | None = wire("credits spent", unit="USD")
    byok_usage_inference: Number | None = wire("cost on BYOK credentials", unit="USD")
    prompt_tokens: Whole | None = wire("tokens", unit="tokens")
    completion_tokens: Whole | None = wire("tokens", unit="tokens")
    reasoning_tokens: Whole | None = wire("tokens", unit="tokens")
    cached_tokens: Whole | None = wire("tokens", unit="tokens", optional=True)
    workspace_id: str | None = wire("only when grouped by workspace", optional=True, nullable=True)


class Generation(ResponseModel):
    """Metadata of one generation: request and usage. Amounts in USD, times in ms."""

    id: str | None = wire("generation id")
    created_at: Timestamp | None = wire("when it began")
    model: str | None = wire("model identifier")
    provider_name: str | None = wire(
        "display name of the provider; null when none answered", nullable=True
    )
    usage: Number | None = wire("credits spent", unit="USD")
    total_cost: Number | None = wire("cost", unit="USD")
    is_byok: bool | None = wire("whether a BYOK credential was used")
    origin: str | None = wire("where the request came from")
    data_region: str | None = wire("where it was processed", known=("global", "europe", "us"))
    tokens_prompt: Whole | None = wire("normalised tokens", unit="tokens", nullable=True)
    tokens_completion: Whole | None = wire("normalised tokens", unit="tokens", nullable=True)
    native_tokens_prompt: Whole | None = wire("provider's tokens", unit="tokens", nullable=True)
    native_tokens_completion: Whole | None = wire("provider's tokens", unit="tokens", nullable=True)
    native_tokens_reasoning: Whole | None = wire("provider's tokens", unit="tokens", nullable=True)
    native_tokens_cached: Whole | None = wire("provider's tokens", unit="tokens", nullable=True)
    native_tokens_completion_images: Whole | None = wire(
        "provider's tokens", unit="tokens", nullable=True
    )
    latency: Number | None = wire("time to first token", unit="ms", nullable=True)
    generation_time: Number | None = wire("time of generation", unit="ms", nullable=True)
    moderation_latency: Number | None = wire("time of moderation", unit="ms", nullable=True)
    finish_reason: str | None = wire("why it ended", nullable=True)
    native_finish_reason: str | None = wire("the provider's reason", nullable=True)
    streamed: bool | None = wire("whether it was streamed", nullable=True)
    cancelled: bool | None = wire("whether the caller left", nullable=True)
    api_type: str | None = wire(
        "which API",
        nullable=True,
        known=("completions", "embeddings", "rerank", "decisions", "video", "tts", "stt", "image"),
    )
    router: str | None = wire("router", nullable=True)
    service_tier: str | None = wire("tier", nullable=True)
    upstream_id: str | None = wire("provider's id", nullable=True)
    upstream_inference_cost: Number | None = wire("provider's price", unit="USD", nullable=True)
    cache_discount: Number | None = wire("saved by caching", unit="USD", nullable=True)
    app_id: Whole | None = wire("application", nullable=True)
    user_agent: str | None = wire("client", nullable=True)
    http_referer: str | None = wire("client's page", nullable=True)
    external_user: str | None = wire("external user", nullable=True)
    preset_id: str | None = wire("preset", nullable=True)
    workspace_id: str | None = wire("workspace", nullable=True)
    num_media_prompt: Whole | None = wire("media in the prompt", nullable=True)
    num_media_completion: Whole | None = wire("media in the completion", nullable=True)
    num_input_audio_prompt: Whole | None = wire("audio clips in the prompt", nullable=True)
    num_search_results: Whole | None = wire("search results used", nullable=True)
    num_fetches: Whole | None = wire("pages fetched", nullable=True)
    web_search_engine: str | None = wire("search engine", nullable=True)
    provider_responses: list[dict[str, Any]] | None = wire("every try", nullable=True)
    request_id: str | None = wire("request id", optional=True, nullable=True)
    session_id: str | None = wire("session id", optional=True, nullable=True)
    response_cache_source_id: str | None = wire(
        "generation that a cached answer came from", optional=True, nullable=True
    )


class GenerationOutput(ResponseModel):
    """The output of a model."""

    completion: str | None = wire("the answer", nullable=True)
    reasoning: str | None = wire("the thoughts before it", nullable=True)


class GenerationContent(ResponseModel):
    """Input and output of a generation, if the workspace logs them."""

    input: dict[str, Any] | None = wire("``prompt``, a text, or ``messages``, a list")
    output: GenerationOutput | None = wire("the answer")
    error: dict[str, Any] | None = wire("why there is none", optional=True, nullable=True)


FeedbackCategory = Literal[
    "latency",
    "incoherence",
    "incorrect_response",
    "formatting",
    "billing",
    "api_error",
    "other",
]


class FeedbackRequest(RequestModel):
    """Body of POST /generation/feedback."""

    generation_id: Annotated[str, Field(min_length=1)] = Field(description="what it is about")
    category: FeedbackCategory = Field(description="what was wrong")
    comment: str | None = Field(None, description="in your own words")
