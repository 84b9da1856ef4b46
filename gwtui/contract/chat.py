"""The request of POST /chat/completions. See section 2 of the inference contract.

The response is in completion.py, the provider object in routing.py.
"""

from __future__ import annotations

from decimal import Decimal
from typing import Annotated, Literal, NotRequired, Self

from pydantic import ConfigDict, Field, JsonValue, model_validator
from pydantic_core import PydanticCustomError
from typing_extensions import TypedDict

from gwtui.contract.request import RequestModel
from gwtui.contract.routing import ProviderPreferences
from gwtui.contract.scalars import AnyNumber, NumberBounds

JsonObject = dict[str, JsonValue]
Text = Annotated[str, Field(min_length=1)]
ShortName = Annotated[str, Field(min_length=1, max_length=64)]
SessionId = Annotated[str, Field(max_length=256)]
TokenCount = Annotated[int, Field(ge=1)]
Temperature = Annotated[Decimal, NumberBounds(0, 2)]
Share = Annotated[Decimal, NumberBounds(0, 1)]
Penalty = Annotated[Decimal, NumberBounds(-2, 2)]
LabelKey = Annotated[str, Field(max_length=64)]
LabelValue = Annotated[str, Field(max_length=512)]

Role = Literal["system", "user", "assistant", "developer", "tool"]
ServiceTier = Literal["auto", "default", "fast", "flex", "priority", "scale", "ultrafast"]
ReasoningEffort = Literal["max", "xhigh", "high", "medium", "low", "minimal", "none"]
Verbosity = Literal["max", "xhigh", "high", "medium", "low"]


class TextPart(RequestModel):
    """A text part of a message."""

    type: Literal["text"] = Field(description="kind of part")
    text: str = Field(description="the text", repr=False)


class MediaPart(RequestModel):
    """An image, audio, file or video part of a message."""

    type: Literal["image_url", "input_audio", "file", "video_url"] = Field(
        description="kind of part; the object stands in the field of this name"
    )
    image_url: JsonObject = Field(default_factory=dict, description="url, detail", repr=False)
    input_audio: JsonObject = Field(default_factory=dict, description="data, format", repr=False)
    file: JsonObject = Field(
        default_factory=dict, description="filename, file_data or file_id", repr=False
    )
    video_url: JsonObject = Field(default_factory=dict, description="url", repr=False)

    @model_validator(mode="after")
    def _holds_its_kind(self) -> Self:
        if self.type not in self.model_fields_set:
            raise PydanticCustomError(
                "part_empty", "a part of type {type} needs a field {type}", {"type": self.type}
            )
        return self


Part = Annotated[TextPart | MediaPart, Field(discriminator="type")]


class CalledFunction(RequestModel):
    """The function that the model called; ``arguments`` is JSON as text."""

    name: str = Field(description="which function")
    arguments: str = Field(description="its arguments, JSON as text", repr=False)


class PriorToolCall(RequestModel):
    """A tool call in an earlier answer of the model."""

    id: str = Field(description="identifier of the call")
    type: Literal["function"] = Field(description="kind of tool")
    function: CalledFunction = Field(description="what was called")


class Message(RequestModel):
    """One message of the conversation."""

    role: Role = Field(description="role of the author")
    content: str | list[Part] | None = Field(None, description="text, or parts", repr=False)
    name: str | None = Field(None, description="name of the participant")
    tool_call_id: str | None = Field(None, description="the call that a tool message answers")
    tool_calls: list[PriorToolCall] | None = Field(None, description="calls that the model made")
    refusal: str | None = Field(None, description="refusal of the model", repr=False)
    reasoning: str | None = Field(None, description="the model's reasoning", repr=False)
    reasoning_details: list[JsonObject] | None = Field(
        None, description="the model's reasoning in parts", repr=False
    )

    @model_validator(mode="after")
    def _is_whole(self) -> Self:
        if self.role == "tool" and not self.tool_call_id:
            raise PydanticCustomError("tool_call_id", "a tool message needs a tool_call_id")
        if self.content is None and self.role != "assistant":
            raise PydanticCustomError("content", "a message needs content")
        return self

    @property
    def texts(self) -> tuple[str, ...]:
        """All texts of the content, in order; parts other than text are left out."""
        if isinstance(self.content, str):
            return (self.content,)
        return tuple(part.text for part in self.content or () if isinstance(part, TextPart))


class SchemaFormat(TypedDict):
    """The JSON schema that the answer must follow."""

    __pydantic_config__ = ConfigDict(extra="forbid", strict=True)  # type: ignore[misc]

    name: ShortName
    schema: NotRequired[JsonObject | None]
    strict: NotRequired[bool | None]
    description: NotRequired[str | None]


class ResponseFormat(RequestModel):
    """The required format of the answer."""

    type: Literal["text", "json_object", "json_schema", "grammar", "python"] = Field(
        description="kind of answer"
    )
    json_schema: SchemaFormat | None = Field(None, description="schema of a json_schema answer")
    grammar: str | None = Field(None, description="grammar of a grammar answer")

    @model_validator(mode="after")
    def _has_its_schema(self) -> Self:
        if self.type == "json_schema" and self.json_schema is None:
            raise PydanticCustomError("json_schema", "type json_schema needs a json_schema")
        return self


class FunctionRequest(RequestModel):
    """A function that the model may call."""

    name: ShortName = Field(description="name of the function")
    description: str | None = Field(None, description="what it does")
    parameters: JsonObject | None = Field(None, description="JSON schema of its arguments")
    strict: bool | None = Field(None, description="follow the schema exactly")


class ToolRequest(RequestModel):
    """A function, or a tool that the service runs itself (``service:`` and its name)."""

    type: Text = Field(description="function, or the name of a server tool")
    function: FunctionRequest | None = Field(None, description="the function")
    parameters: JsonObject | None = Field(None, description="settings of a server tool")

    @model_validator(mode="after")
    def _has_its_function(self) -> Self:
        if self.type == "function" and self.function is None:
            raise PydanticCustomError("function", "a tool of type function needs a function")
        return self


class ChosenFunction(RequestModel):
    """The name of the function that the model must call."""

    name: Text = Field(description="name of the function")


class ChosenTool(RequestModel):
    """The tool that the model must call."""

    type: Literal["function"] = Field(description="kind of tool")
    function: ChosenFunction = Field(description="the function")


class ReasoningRequest(RequestModel):
    """Reasoning options: effort, token limit, and whether the answer contains the reasoning."""

    effort: ReasoningEffort | None = Field(None, description="how much")
    summary: Literal["auto", "concise", "detailed"] | None = Field(
        None, description="how reasoning is summarized"
    )
    max_tokens: TokenCount | None = Field(
        None,
        description="max reasoning tokens",
        json_schema_extra={"x-unit": "tokens"},
    )
    exclude: bool | None = Field(None, description="hide the reasoning")
    enabled: bool | None = Field(None, description="whether to reason")


class DebugRequest(RequestModel):
    """Debug output of a stream."""

    echo_upstream_body: bool | None = Field(
        None, description="start the stream with the request as sent to the provider"
    )


class ChatRequest(RequestModel):
    """Body of POST /chat/completions. Absent parameters use the endpoint's defaults."""

    messages: Annotated[list[Message], Field(min_length=1)] = Field(
        description="the conversation so far", repr=False
    )
    model: Text = Field("", description="author/slug; the default model of the account if empty")
    models: list[Text] | None = Field(None, description="fallback models, in order")
    provider: ProviderPreferences | None = Field(None, description="which endpoints may serve it")
    service_tier: ServiceTier | None = Field(None, description="tier of the endpoint")
    max_completion_tokens: TokenCount | None = Field(
        None, description="max output tokens", json_schema_extra={"x-unit": "tokens"}
    )
    max_tokens: TokenCount | None = Field(
        None,
        description="deprecated name of max_completion_tokens",
        json_schema_extra={"x-unit": "tokens", "deprecated": True},
    )
    temperature: Temperature | None = Field(
        None, description="temperature, 0 to 2; higher is more random"
    )
    top_p: Share | None = Field(None, description="nucleus sampling, 0 to 1")
    frequency_penalty: Penalty | None = Field(None, description="frequency penalty, -2 to 2")
    presence_penalty: Penalty | None = Field(None, description="presence penalty, -2 to 2")
    seed: int | None = Field(None, description="the same seed gives the same answer")
    stop: str | Annotated[list[str], Field(max_length=4)] | None = Field(
        None, description="stop sequences"
    )
    stream: bool | None = Field(False, description="stream the answer")
    stream_options: JsonObject | None = Field(
        None, description="no effect: usage is always included"
    )
    response_format: ResponseFormat | None = Field(None, description="format of the answer")
    tools: list[ToolRequest] | None = Field(None, description="tools that the model may call")
    tool_choice: Literal["none", "auto", "required"] | ChosenTool | None = Field(
        None, description="tool choice"
    )
    parallel_tool_calls: bool | None = Field(None, description="allow parallel tool calls")
    reasoning: ReasoningRequest | None = Field(None, description="reasoning settings")
    reasoning_effort: ReasoningEffort | None = Field(None, description="reasoning effort")
    include_reasoning: bool | None = Field(None, description="deprecated name of reasoning.exclude")
    verbosity: Verbosity | None = Field(None, description="length of answers")
    structured_outputs: bool | None = Field(None, description="follow the schema of the answer")
    web_search_options: JsonObject | None = Field(None, description="web search settings")
    user: str | None = Field(None, description="your own ID for the end user")
    session_id: SessionId | None = Field(None, description="id of a session of requests")
    metadata: Annotated[dict[LabelKey, LabelValue], Field(max_length=16)] | None = Field(
        None, description="your own labels"
    )
    trace: JsonObject | None = Field(None, description="trace of the request")
    debug: DebugRequest | None = Field(None, description="debug output")
    cache_control: JsonObject | None = Field(None, description="what to cache")
    deferred_tools: JsonValue = Field(None, description="tools that are loaded when needed")
    image_config: JsonObject | None = Field(None, description="image settings")
    prediction: JsonObject | None = Field(None, description="predicted output")
    prompt_cache_options: JsonObject | None = Field(None, description="how to cache")
    prompt_cache_key: str | None = Field(None, description="key of the prompt cache")
    logit_bias: dict[str, AnyNumber] | None = Field(None, description="token -> bias")
    logprobs: bool | None = Field(None, description="return log probabilities")
    top_logprobs: Annotated[int, Field(ge=0, le=20)] | None = Field(
        None, description="number of log probabilities per token, 0 to 20"
    )
    min_p: AnyNumber | None = Field(
        None, description="minimum probability of a token, relative to the top token"
    )
    top_a: AnyNumber | None = Field(None, description="typical sampling relative to the top token")
    top_k: int | None = Field(None, description="sample from this many top tokens")
    repetition_penalty: AnyNumber | None = Field(None, description="repetition penalty")
    modalities: list[Literal["text", "image", "audio"]] | None = Field(
        None, description="output modalities"
    )
    plugins: list[JsonObject] | None = Field(None, description="plugins, each with an id")
    stop_server_tools_when: list[JsonObject] | None = Field(
        None, description="conditions that stop server tools"
    )

    @model_validator(mode="after")
    def _one_effort(self) -> Self:
        asked = self.reasoning.effort if self.reasoning else None
        if asked and self.reasoning_effort and asked != self.reasoning_effort:
            raise PydanticCustomError(
                "reasoning_effort", "reasoning.effort and reasoning_effort differ: give one"
            )
        return self

    @property
    def output_limit(self) -> int | None:
        """The maximum number of output tokens, None if the request sets no limit."""
        return self.max_completion_tokens or self.max_tokens
