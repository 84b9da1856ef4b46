"""A common form for chat and embedding requests: models, texts, tokens, preferences.

A token is up to six letters. Prompts and answers are counted in the same way.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal

from gwtui.contract.chat import ChatRequest, MediaPart, Message, TextPart
from gwtui.contract.embeddings import EmbeddingContent, EmbeddingRequest
from gwtui.contract.request import Problem
from gwtui.contract.routing import ProviderPreferences
from gwtui.contract.values import SUPPORTED_PARAMETERS
from gwtui.embedded.inference.content_filters import InputText
from gwtui.embedded.messages import invalid

Api = Literal["completions", "embeddings"]

_PIECE = re.compile(r"\s*(?:\w{1,6}|[^\w\s])|\s+")

_MESSAGE_TOKENS = 4
"""Prompt tokens per message, in addition to its text."""
_PROMPT_TOKENS = 3
_MEDIA_TOKENS = {"image": 258, "audio": 120, "file": 300, "video": 300}
"""Prompt tokens per media part of a message."""
_MODALITIES = {
    "image_url": "image",
    "input_audio": "audio",
    "file": "file",
    "input_file": "file",
    "video_url": "video",
    "input_video": "video",
}
_HOLD_TEXTS = frozenset({"messages", "content", "text"})
"""Fields of the logged input that contain texts."""
_SIGNS, _FIRST_SIGN = 20_000, 0x4E00
"""A token given by its number becomes one Chinese character of this range.

Such a character is a word of one token, and no filter matches it.
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class ParsedRequest:
    """A parsed request. ``texts`` are scanned by filters and sent to the model."""

    api: Api
    models: tuple[str, ...]
    preferences: ProviderPreferences
    texts: tuple[InputText, ...]
    text_tokens: int
    other_tokens: int
    """Prompt tokens that are not text."""
    images: int = 0
    audio_tokens: int = 0
    modalities: frozenset[str] = frozenset()
    """Input modalities other than text: image, audio, file, video."""
    streamed: bool = False
    service_tier: str | None = None
    parameters: frozenset[str] = frozenset()
    max_tokens: int | None = None
    user: str | None = None
    session_id: str | None = None
    logged: dict[str, Any] = field(default_factory=dict, repr=False)
    """The input as logged."""

    @property
    def prompt_tokens(self) -> int:
        """Total tokens of the prompt."""
        return self.text_tokens + self.other_tokens


def tokens_of(text: str) -> list[str]:
    """Split a text into tokens, without losing a character."""
    return _PIECE.findall(text)


def _tokens(texts: Iterable[InputText]) -> int:
    return sum(len(tokens_of(each.text)) for each in texts)


def parse_chat(request: ChatRequest, default_model: str | None) -> ParsedRequest:
    """Parse a chat request. Raises a 400 if it names no model and there is no default."""
    first = request.model or default_model
    names = dict.fromkeys([*([first] if first else []), *(request.models or ())])
    if not names:
        raise invalid([Problem("model", "is required: the workspace has no default model")])
    media = [_MODALITIES[part.type] for message in request.messages for part in _media(message)]
    texts = tuple(
        InputText(text, message.role == "user")
        for message in request.messages
        for text in message.texts
    )
    return ParsedRequest(
        api="completions",
        models=tuple(names),
        preferences=request.provider or ProviderPreferences(),
        texts=texts,
        text_tokens=_tokens(texts),
        other_tokens=_PROMPT_TOKENS
        + _MESSAGE_TOKENS * len(request.messages)
        + sum(_MEDIA_TOKENS[modality] for modality in media),
        images=media.count("image"),
        audio_tokens=media.count("audio") * _MEDIA_TOKENS["audio"],
        modalities=frozenset(media),
        service_tier=request.service_tier,
        parameters=_parameters(request),
        max_tokens=request.output_limit,
        streamed=bool(request.stream),
        user=request.user,
        session_id=request.session_id,
        logged={"messages": request.body().get("messages")},
    )


def parse_embedding(request: EmbeddingRequest) -> ParsedRequest:
    """Parse an embedding request."""
    given: Sequence[Any] = [request.input] if isinstance(request.input, str) else request.input
    if given and isinstance(given[0], int):
        given = [given]
    media = [
        _MODALITIES[part.type]
        for item in given
        if isinstance(item, EmbeddingContent)
        for part in item.content
        if part.type != "text"
    ]
    texts = tuple(InputText(_input_text(item)) for item in given)
    return ParsedRequest(
        api="embeddings",
        models=(request.model,),
        preferences=request.provider or ProviderPreferences(),
        texts=texts,
        text_tokens=_tokens(texts),
        other_tokens=sum(_MEDIA_TOKENS[modality] for modality in media),
        images=media.count("image"),
        modalities=frozenset(media),
        user=request.user,
        session_id=request.session_id,
        logged={"prompt": request.body().get("input")},
    )


def with_texts(parsed: ParsedRequest, texts: Sequence[str]) -> ParsedRequest:
    """Return the request with its texts replaced, also in the logged input."""
    if list(texts) == [each.text for each in parsed.texts]:
        return parsed
    new = tuple(
        InputText(text, each.by_user) for each, text in zip(parsed.texts, texts, strict=True)
    )
    if parsed.api == "embeddings":
        whole = isinstance(parsed.logged["prompt"], str)
        logged: dict[str, Any] = {"prompt": texts[0] if whole else list(texts)}
    else:
        logged = _refilled(parsed.logged, iter(texts))
    return replace(parsed, texts=new, text_tokens=_tokens(new), logged=logged)


def _refilled(value: Any, texts: Iterator[str]) -> Any:
    if isinstance(value, list):
        return [_refilled(each, texts) for each in value]
    if isinstance(value, dict):
        return {
            name: _refilled(each, texts) if name in _HOLD_TEXTS else each
            for name, each in value.items()
        }
    return next(texts) if isinstance(value, str) else value


def _input_text(item: Any) -> str:
    if isinstance(item, str):
        return item
    if isinstance(item, EmbeddingContent):
        return " ".join(part.text for part in item.content if part.text)
    return " ".join(chr(_FIRST_SIGN + token % _SIGNS) for token in item)


def _media(message: Message) -> Iterator[MediaPart]:
    parts: Iterable[TextPart | MediaPart] = (
        message.content if isinstance(message.content, list) else ()
    )
    return (part for part in parts if isinstance(part, MediaPart))


def _parameters(request: ChatRequest) -> frozenset[str]:
    given = {
        name for name in request.model_fields_set if getattr(request, name) not in (None, [], {})
    }
    if request.response_format is not None and request.response_format.type == "json_schema":
        given.add("structured_outputs")
    return frozenset(given.intersection(SUPPORTED_PARAMETERS))
