"""Requests to models: chat completions and embeddings. Inference contract sections 1 to 8.

In its transaction a handler reads everything that holds for the key. The rest follows outside of
it: content filters, routing, the tries, the answer, and one transaction that accounts for it.
"""

from __future__ import annotations

import secrets

from gwtui.contract.chat import ChatRequest
from gwtui.contract.completion import ChatChunk, ChatResult
from gwtui.contract.embeddings import EmbeddingRequest, EmbeddingsResult
from gwtui.contract.request import Problem
from gwtui.embedded.inference.chat import ChatExchange
from gwtui.embedded.inference.embeddings import MAX_DIMENSIONS, EmbeddingExchange
from gwtui.embedded.inference.exchange import RequestContext
from gwtui.embedded.inference.key_policy import KeyPolicy, policy_of
from gwtui.embedded.inference.parsed_request import parse_chat, parse_embedding
from gwtui.embedded.operations import Access, Operation, OperationRequest
from gwtui.embedded.responses import ResponseSchema, invalid, reference

_KEPT_HEADERS = ("user-agent", "http-referer", "origin", "x-session-id")
_ID_BYTES = 10
_LONGEST_HEADER = 256


def _chat(call: OperationRequest) -> ChatExchange:
    request = call.body_as(ChatRequest)
    policy = policy_of(call)
    parsed = parse_chat(request, policy.workspace.default_text_model)
    return ChatExchange(_request_context(call, policy), parsed, request)


def _embed(call: OperationRequest) -> EmbeddingExchange:
    request = call.body_as(EmbeddingRequest)
    if request.dimensions is not None and request.dimensions > MAX_DIMENSIONS:
        raise invalid([Problem("dimensions", f"must be at most {MAX_DIMENSIONS}")])
    context = _request_context(call, policy_of(call))
    return EmbeddingExchange(context, parse_embedding(request), request)


def _request_context(call: OperationRequest, policy: KeyPolicy) -> RequestContext:
    kept = (*_KEPT_HEADERS, call.site.dialect.metadata_header.lower())
    headers = {name: call.headers[name][:_LONGEST_HEADER] for name in kept if name in call.headers}
    generation_id = f"gen-{int(call.now.timestamp())}-{secrets.token_hex(_ID_BYTES)}"
    return RequestContext(call.site, policy, call.now, generation_id, headers)


OPERATIONS = (
    Operation(
        method="POST",
        path="/chat/completions",
        operation_id="createChatCompletion",
        summary="Create a chat completion, whole or as a stream; the answer is simulated",
        tag="Inference",
        access=Access.INFERENCE,
        handler=_chat,
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
        handler=_embed,
        answer=ResponseSchema("EmbeddingsResult", reference(EmbeddingsResult), (EmbeddingsResult,)),
        body=EmbeddingRequest,
        refusals=(402, 403, 404, 408, 413, 429, 502, 503, 524, 529),
    ),
)
