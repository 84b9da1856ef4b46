"""An upper bound of the tokens of a prompt, before it is sent."""

from __future__ import annotations

from collections.abc import Iterable

from pydantic import JsonValue

from gwtui.contract.chat import ChatRequest, MediaPart
from gwtui.contract.embeddings import EmbeddingContent, EmbeddingRequest

_MESSAGE_OVERHEAD = 16
"""Tokens that a provider's chat template adds to a message, at the most."""
_PROMPT_OVERHEAD = 64
_JOINT = 4
"""Quotes, brackets and commas around a value."""
_PROMPT_FIELDS = ("messages", "tools", "response_format")
"""Fields of a request that the model reads."""


def max_prompt_tokens(request: ChatRequest | EmbeddingRequest) -> int | None:
    """An upper bound of the prompt in any tokenizer; None when it holds more than text.

    No tokenizer makes more tokens of a text than it has bytes in UTF-8.
    """
    if isinstance(request, ChatRequest):
        return _chat_tokens(request)
    given = request.input
    if isinstance(given, str):
        return _bytes([given]) + _MESSAGE_OVERHEAD
    inputs: list[str | int | list[int] | EmbeddingContent] = list(given)
    total = 0
    for item in inputs:
        if isinstance(item, EmbeddingContent):
            if any(part.type != "text" for part in item.content):
                return None
            total += _bytes(part.text or "" for part in item.content) + _MESSAGE_OVERHEAD
        elif isinstance(item, str):
            total += _bytes([item]) + _MESSAGE_OVERHEAD
        else:
            total += 1 if isinstance(item, int) else len(item) + _MESSAGE_OVERHEAD
    return total


def _chat_tokens(request: ChatRequest) -> int | None:
    for message in request.messages:
        parts = message.content if isinstance(message.content, list) else ()
        if any(isinstance(part, MediaPart) for part in parts):
            return None
    body = request.body()
    read = sum(_bytes_inside(body.get(name)) for name in _PROMPT_FIELDS)
    return read + len(request.messages) * _MESSAGE_OVERHEAD + _PROMPT_OVERHEAD


def _bytes_inside(value: JsonValue) -> int:
    """Bytes of all texts in a JSON value, names included, and a few for what joins them."""
    if isinstance(value, dict):
        return sum(_bytes_inside(name) + _bytes_inside(part) for name, part in value.items())
    if isinstance(value, list):
        return sum(map(_bytes_inside, value))
    return _bytes([value if isinstance(value, str) else str(value)]) + _JOINT


def _bytes(texts: Iterable[str]) -> int:
    return sum(len(text.encode("utf-8", "surrogatepass")) for text in texts)
