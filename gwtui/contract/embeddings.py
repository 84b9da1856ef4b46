"""POST /embeddings. See section 8 of the inference contract."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import Field

from gwtui.contract.chat import JsonObject, SessionId, Text, TokenCount
from gwtui.contract.completion import CostDetails
from gwtui.contract.request import RequestModel
from gwtui.contract.response import ResponseModel, wire
from gwtui.contract.routing import ProviderPreferences
from gwtui.contract.scalars import Number, Whole

Finite = Annotated[float, Field(allow_inf_nan=False)]
Tokens = list[Annotated[int, Field(ge=0)]]


class EmbeddingContentPart(RequestModel):
    """One part of a multimodal input."""

    type: Literal["text", "image_url", "input_audio", "input_video", "input_file"] = Field(
        description="kind of part"
    )
    text: str | None = Field(None, description="the text", repr=False)
    image_url: JsonObject | None = Field(None, description="url", repr=False)
    input_audio: JsonObject | None = Field(None, description="data, format", repr=False)
    input_video: JsonObject | None = Field(None, description="the video", repr=False)
    input_file: JsonObject | None = Field(None, description="the file", repr=False)


class EmbeddingContent(RequestModel):
    """A multimodal input."""

    content: Annotated[list[EmbeddingContentPart], Field(min_length=1)] = Field(
        description="its parts", repr=False
    )


EmbeddingInput = (
    Text
    | Annotated[list[Text], Field(min_length=1)]
    | Annotated[Tokens, Field(min_length=1)]
    | Annotated[list[Annotated[Tokens, Field(min_length=1)]], Field(min_length=1)]
    | Annotated[list[EmbeddingContent], Field(min_length=1)]
)


class EmbeddingRequest(RequestModel):
    """Body of POST /embeddings."""

    model: Text = Field(description="author/slug")
    input: EmbeddingInput = Field(
        description="a text, texts, tokens or lists of tokens, or parts", repr=False
    )
    dimensions: TokenCount | None = Field(None, description="length of the vectors")
    encoding_format: Literal["float", "base64"] | None = Field(
        None, description="numbers, or float32 in base64"
    )
    input_type: str | None = Field(None, description="purpose of the vectors")
    provider: ProviderPreferences | None = Field(None, description="which endpoints may serve it")
    user: str | None = Field(None, description="your own ID for the end user")
    session_id: SessionId | None = Field(None, description="id of a session of requests")
    trace: JsonObject | None = Field(None, description="trace of the request")


class EmbeddingVector(ResponseModel):
    """The vector of one input."""

    object: str | None = wire("kind of object", known=("embedding",))
    embedding: list[Finite] | str | None = wire("numbers, or float32 in base64")
    index: Whole | None = wire("which input", optional=True)


class EmbeddingUsage(ResponseModel):
    """Usage and cost of a request."""

    prompt_tokens: Whole | None = wire("of the inputs", unit="tokens")
    total_tokens: Whole | None = wire("the same", unit="tokens")
    cost: Number | None = wire("credits spent", unit="USD", nullable=True, optional=True)
    is_byok: bool | None = wire("whether a BYOK credential was used", optional=True)
    cost_details: CostDetails | None = wire("what the provider asks", nullable=True, optional=True)
    prompt_tokens_details: dict[str, Any] | None = wire(
        "by modality, when there are two or more", nullable=True, optional=True
    )


class EmbeddingsResult(ResponseModel):
    """The vectors of all inputs."""

    object: str | None = wire("kind of answer", known=("list",))
    model: str | None = wire("the model that answered")
    data: list[EmbeddingVector] | None = wire("the vectors")
    id: str | None = wire("generation id", optional=True)
    usage: EmbeddingUsage | None = wire("what it used", optional=True)
    provider: str | None = wire("display name of the provider", nullable=True, optional=True)
