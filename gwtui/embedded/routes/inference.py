"""Requests to models: chat completions and embeddings. Inference contract sections 1 to 8."""

from __future__ import annotations

import secrets

from gwtui.contract.chat import ChatRequest
from gwtui.contract.completion import ChatChunk, ChatResult
from gwtui.contract.embeddings import EmbeddingRequest, EmbeddingsResult
from gwtui.contract.request import Problem
from gwtui.embedded.inference import service
from gwtui.embedded.inference.chat import ChatExchange
from gwtui.embedded.inference.embeddings import MAX_DIMENSIONS, EmbeddingExchange
from gwtui.embedded.inference.exchange import Situation
from gwtui.embedded.inference.key_policy import Standing, standing_of
from gwtui.embedded.inference.request_needs import chat_asked, embedding_asked
from gwtui.embedded.operations import Access, Operation, OperationRequest
from gwtui.embedded.responses import ResponseSchema, invalid, reference

OPERATIONS = (
    Operation(
        method="POST",
        path="/chat/completions",
        operation_id="createChatCompletion",
        summary="Create a chat completion, whole or as a stream; the answer is simulated",
        tag="Inference",
        access=Access.INFERENCE,
        handler=service.chat,
        answer=ResponseSchema("ChatResult", reference(ChatResult), (ChatResult, ChatChunk)),
        streams=ChatChunk,
        body=ChatRequest,
        refusals=(402, 403, 404, 408, 413, 422, 429, 502, 503, 524, 529),
    ),
    Operation(
        method="POST",
        path="/embeddings",
        operation_id="createEmbeddings",
        summary="Submit an embedding request; the vectors are simulated",
        tag="Inference",
        access=Access.INFERENCE,
        handler=service.embed,
        answer=ResponseSchema("EmbeddingsResult", reference(EmbeddingsResult), (EmbeddingsResult,)),
        body=EmbeddingRequest,
        refusals=(402, 403, 404, 408, 413, 429, 502, 503, 524, 529),
    ),
)


_ID_BYTES = 10
_LONGEST_HEADER = 256


def chat(call: OperationRequest) -> ChatExchange:
    """Handle POST /chat/completions."""
    request = call.body_as(ChatRequest)
    standing = standing_of(call)
    asked = chat_asked(request, standing.workspace.default_text_model)
    return ChatExchange(_situation(call, standing), asked, request)


def embed(call: OperationRequest) -> EmbeddingExchange:
    """Handle POST /embeddings."""
    request = call.body_as(EmbeddingRequest)
    if request.dimensions is not None and request.dimensions > MAX_DIMENSIONS:
        raise invalid([Problem("dimensions", f"must be at most {MAX_DIMENSIONS}")])
    return EmbeddingExchange(_situation(call, standing_of(call)), embedding_asked(request), request)


_KEPT_HEADERS = ("user-agent", "http-referer", "origin", "x-session-id")


def _situation(call: OperationRequest, standing: Standing) -> Situation:
    wanted = (*_KEPT_HEADERS, call.site.dialect.metadata_header.lower())
    headers = {
        name: call.headers[name][:_LONGEST_HEADER] for name in wanted if name in call.headers
    }
    generation_id = f"gen-{int(call.now.timestamp())}-{secrets.token_hex(_ID_BYTES)}"
    return Situation(call.site, standing, call.now, generation_id, headers)
