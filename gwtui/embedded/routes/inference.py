"""Requests to models: chat completions and embeddings. Inference contract sections 1 to 8."""

from __future__ import annotations

from gwtui.contract.chat import ChatRequest
from gwtui.contract.completion import ChatChunk, ChatResult
from gwtui.contract.embeddings import EmbeddingRequest, EmbeddingsResult
from gwtui.embedded.inference import service
from gwtui.embedded.operations import Access, Operation
from gwtui.embedded.responses import ResponseSchema, reference

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
