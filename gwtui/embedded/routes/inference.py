"""Requests to models: chat completions and embeddings. Inference contract sections 1 to 8.

In its transaction a handler reads everything that holds for the key. The rest follows outside of
it: content filters, routing, the tries, the answer, and one transaction that accounts for it.
"""

from __future__ import annotations

from gwtui.contract.chat import ChatRequest
from gwtui.contract.completion import ChatChunk, ChatResult
from gwtui.contract.embeddings import EmbeddingRequest, EmbeddingsResult
from gwtui.contract.request import Problem
from gwtui.embedded.inference.chat import ChatExchange
from gwtui.embedded.inference.embeddings import MAX_DIMENSIONS, EmbeddingExchange
from gwtui.embedded.inference.key_policy import policy_of
from gwtui.embedded.operations import Access, Deferred, Operation, OperationRequest
from gwtui.embedded.responses import ResponseSchema, invalid, reference


def _chat(call: OperationRequest) -> Deferred:
    return ChatExchange(call, policy_of(call), call.body_as(ChatRequest)).answer


def _embed(call: OperationRequest) -> Deferred:
    request = call.body_as(EmbeddingRequest)
    if request.dimensions is not None and request.dimensions > MAX_DIMENSIONS:
        raise invalid([Problem("dimensions", f"must be at most {MAX_DIMENSIONS}")])
    return EmbeddingExchange(call, policy_of(call), request).answer


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
