"""The response of POST /chat/completions, whole or streamed.

See section 4 of the inference contract.
"""

from __future__ import annotations

from typing import Any

from gwtui.contract.errors import ErrorDetail
from gwtui.contract.response import ResponseModel, wire
from gwtui.contract.scalars import Number, Whole

FINISH_REASONS = ("stop", "length", "tool_calls", "content_filter", "error")
STREAM_END = "[DONE]"
"""The data of the last event of a stream; this event may be missing."""


class FunctionCall(ResponseModel):
    """A function call by the model. In a stream, a chunk may lack either field."""

    name: str | None = wire("which function", optional=True)
    arguments: str | None = wire("its arguments, JSON as text", optional=True)


class ToolCall(ResponseModel):
    """A tool call by the model. In a stream, ``index`` tells which call a chunk belongs to."""

    index: Whole | None = wire("which call", optional=True)
    id: str | None = wire("identifier of the call", optional=True)
    type: str | None = wire("kind of tool", optional=True, known=("function",))
    function: FunctionCall | None = wire("what is called", optional=True)


class ChatMessage(ResponseModel):
    """A complete message of the model."""

    role: str | None = wire("role of the author", known=("assistant",))
    content: str | list[Any] | None = wire("the answer", nullable=True, optional=True)
    refusal: str | None = wire("why there is no answer", nullable=True, optional=True)
    reasoning: str | None = wire("the thoughts before it", nullable=True, optional=True)
    reasoning_details: list[Any] | None = wire(
        "the thoughts in parts", nullable=True, optional=True
    )
    tool_calls: list[ToolCall] | None = wire("calls of tools", nullable=True, optional=True)
    images: list[Any] | None = wire("images", nullable=True, optional=True)
    audio: dict[str, Any] | None = wire("sound", nullable=True, optional=True)


class ChatDelta(ResponseModel):
    """The part of a message in one chunk; every field may be absent."""

    role: str | None = wire("role of the author", nullable=True, optional=True)
    content: str | None = wire("the next piece of the answer", nullable=True, optional=True)
    refusal: str | None = wire("the next piece of a refusal", nullable=True, optional=True)
    reasoning: str | None = wire("the next piece of the thoughts", nullable=True, optional=True)
    reasoning_details: list[Any] | None = wire(
        "the thoughts in parts", nullable=True, optional=True
    )
    tool_calls: list[ToolCall] | None = wire("pieces of calls", nullable=True, optional=True)
    audio: dict[str, Any] | None = wire("the next piece of sound", nullable=True, optional=True)


class ChatChoice(ResponseModel):
    """One choice of a complete response."""

    index: Whole | None = wire("which answer")
    finish_reason: str | None = wire("why it ended", nullable=True, known=FINISH_REASONS)
    native_finish_reason: str | None = wire("the provider's reason", nullable=True, optional=True)
    message: ChatMessage | None = wire("what the model says")
    logprobs: dict[str, Any] | None = wire("probabilities", nullable=True, optional=True)
    error: ErrorDetail | None = wire("why it broke off", nullable=True, optional=True)


class ChunkChoice(ResponseModel):
    """One choice in a chunk of a stream."""

    index: Whole | None = wire("which answer")
    delta: ChatDelta | None = wire("what it adds")
    finish_reason: str | None = wire(
        "why it ended, null until then", nullable=True, known=FINISH_REASONS
    )
    native_finish_reason: str | None = wire("the provider's reason", nullable=True, optional=True)
    logprobs: dict[str, Any] | None = wire("probabilities", nullable=True, optional=True)


class CostDetails(ResponseModel):
    """The provider's charges for the request, in USD: the total and its parts."""

    upstream_inference_cost: Number | None = wire(
        "list price of the request on a BYOK credential", unit="USD", nullable=True, optional=True
    )
    upstream_inference_prompt_cost: Number | None = wire("of the prompt", unit="USD")
    upstream_inference_completions_cost: Number | None = wire("of the answer", unit="USD")
    server_tool_cost: Number | None = wire(
        "of server tools", unit="USD", nullable=True, optional=True
    )


class PromptTokensDetails(ResponseModel):
    """Prompt tokens by type."""

    cached_tokens: Whole | None = wire("read from a cache", nullable=True, optional=True)
    cache_write_tokens: Whole | None = wire("written to a cache", nullable=True, optional=True)
    audio_tokens: Whole | None = wire("of sound", nullable=True, optional=True)
    video_tokens: Whole | None = wire("of video", nullable=True, optional=True)


class CompletionTokensDetails(ResponseModel):
    """Completion tokens by type."""

    reasoning_tokens: Whole | None = wire("of thoughts", nullable=True, optional=True)
    audio_tokens: Whole | None = wire("of sound", nullable=True, optional=True)


class TokenUsage(ResponseModel):
    """Token counts of a request, by the provider's tokenizer, and the cost."""

    prompt_tokens: Whole | None = wire("of the prompt", unit="tokens")
    completion_tokens: Whole | None = wire("of the answer, thoughts included", unit="tokens")
    total_tokens: Whole | None = wire("both", unit="tokens")
    cost: Number | None = wire("credits spent", unit="USD", nullable=True, optional=True)
    is_byok: bool | None = wire("whether a BYOK credential was used", optional=True)
    cost_details: CostDetails | None = wire("what the provider asks", nullable=True, optional=True)
    prompt_tokens_details: PromptTokensDetails | None = wire(
        "parts of the prompt", nullable=True, optional=True
    )
    completion_tokens_details: CompletionTokensDetails | None = wire(
        "parts of the answer", nullable=True, optional=True
    )
    server_tool_use_details: dict[str, Any] | None = wire(
        "server tools that ran", nullable=True, optional=True
    )


class AvailableEndpoint(ResponseModel):
    """An endpoint that passed all routing filters."""

    provider: str | None = wire("display name of the provider")
    model: str | None = wire("model identifier")
    selected: bool | None = wire("whether it served the request")


class AvailableEndpoints(ResponseModel):
    """The endpoints that could have served the request."""

    total: Whole | None = wire("how many there are")
    available: list[AvailableEndpoint] | None = wire("those that were left")


class EndpointAttempt(ResponseModel):
    """One attempt to serve the request by an endpoint."""

    provider: str | None = wire("display name of the provider")
    model: str | None = wire("model identifier")
    status: Whole | None = wire("what it answered", nullable=True)


class PipelineStage(ResponseModel):
    """One step that the service ran on the request, such as a guardrail."""

    type: str | None = wire("kind of step", known=("guardrail",))
    name: str | None = wire("name of the step")
    summary: str | None = wire("what it did, in words", nullable=True, optional=True)
    data: dict[str, Any] | None = wire("what it found", nullable=True, optional=True)
    guardrail_id: str | None = wire("uuid of the guardrail", nullable=True, optional=True)
    guardrail_scope: str | None = wire("what it is assigned to", nullable=True, optional=True)


class ServiceMetadata(ResponseModel):
    """How the service handled a request. Sent on demand; in a stream with the last chunk."""

    requested: str | None = wire("the model that was asked for")
    strategy: str | None = wire(
        "how the model was found", known=("direct", "fallback", "alias", "auto", "free")
    )
    region: str | None = wire("where it was processed", nullable=True)
    summary: str | None = wire("what happened, in words", nullable=True)
    attempt: Whole | None = wire("which attempt answered, 0 when no provider was reached")
    is_byok: bool | None = wire("whether a BYOK credential was used")
    endpoints: AvailableEndpoints | None = wire("what could have served it")
    attempts: list[EndpointAttempt] | None = wire("what was asked", nullable=True, optional=True)
    generation_time: Number | None = wire(
        "time of generation", unit="ms", nullable=True, optional=True
    )
    pipeline: list[PipelineStage] | None = wire(
        "what happened before the model", nullable=True, optional=True
    )


class ChatResult(ResponseModel):
    """A complete response."""

    id: str | None = wire("generation id")
    object: str | None = wire("kind of answer", known=("chat.completion",))
    created: Whole | None = wire("Unix timestamp, seconds")
    model: str | None = wire("the model that answered")
    provider: str | None = wire("display name of the provider", nullable=True, optional=True)
    choices: list[ChatChoice] | None = wire("the answers")
    system_fingerprint: str | None = wire("the provider's version", nullable=True)
    service_tier: str | None = wire("tier that served it", nullable=True, optional=True)
    usage: TokenUsage | None = wire("what it used", optional=True)
    service_metadata: ServiceMetadata | None = wire(
        "how it was handled", nullable=True, optional=True
    )


class ChatChunk(ResponseModel):
    """One event of a stream. Usage is sent once, with or without a choice."""

    id: str | None = wire("generation id")
    object: str | None = wire("kind of answer", known=("chat.completion.chunk",))
    created: Whole | None = wire("Unix timestamp, seconds")
    model: str | None = wire("the model that answers")
    provider: str | None = wire("display name of the provider", nullable=True, optional=True)
    choices: list[ChunkChoice] | None = wire("the next pieces")
    system_fingerprint: str | None = wire("the provider's version; never null", optional=True)
    service_tier: str | None = wire("tier that serves it", nullable=True, optional=True)
    usage: TokenUsage | None = wire("what it used", nullable=True, optional=True)
    error: ErrorDetail | None = wire(
        "why the stream ends; its status stays 200", nullable=True, optional=True
    )
    service_metadata: ServiceMetadata | None = wire(
        "how it was handled", nullable=True, optional=True
    )
    debug: dict[str, Any] | None = wire(
        "debug information that was requested", nullable=True, optional=True
    )
