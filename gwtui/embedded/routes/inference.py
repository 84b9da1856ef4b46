"""Requests to models: chat completions and embeddings. Inference contract sections 1 to 8."""

from __future__ import annotations

from gwtui.contract.request import RequestModel
from gwtui.contract.response import ResponseModel
from gwtui.embedded.operations import Access, Continued, Operation, OperationRequest
from gwtui.embedded.responses import DeferredModel, ResponseSchema, reference

CHAT_REQUEST: DeferredModel[RequestModel] = DeferredModel("gwtui.contract.chat", "ChatRequest")
CHAT_RESULT: DeferredModel[ResponseModel] = DeferredModel("gwtui.contract.completion", "ChatResult")
CHAT_CHUNK: DeferredModel[ResponseModel] = DeferredModel("gwtui.contract.completion", "ChatChunk")
EMBEDDING_REQUEST: DeferredModel[RequestModel] = DeferredModel(
    "gwtui.contract.embeddings", "EmbeddingRequest"
)
EMBEDDINGS_RESULT: DeferredModel[ResponseModel] = DeferredModel(
    "gwtui.contract.embeddings", "EmbeddingsResult"
)


def _chat(call: OperationRequest) -> Continued:
    from gwtui.embedded.inference import service  # noqa: PLC0415 - with the first request

    return service.chat(call)


def _embed(call: OperationRequest) -> Continued:
    from gwtui.embedded.inference import service  # noqa: PLC0415 - with the first request

    return service.embed(call)


OPERATIONS = (
    Operation(
        method="POST",
        path="/chat/completions",
        operation_id="createChatCompletion",
        summary="Create a chat completion, whole or as a stream; the answer is simulated",
        tag="Inference",
        access=Access.INFERENCE,
        handler=_chat,
        answer=ResponseSchema("ChatResult", reference(CHAT_RESULT), (CHAT_RESULT, CHAT_CHUNK)),
        streams=CHAT_CHUNK,
        body=CHAT_REQUEST,
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
        answer=ResponseSchema(
            "EmbeddingsResult", reference(EMBEDDINGS_RESULT), (EMBEDDINGS_RESULT,)
        ),
        body=EMBEDDING_REQUEST,
        refusals=(402, 403, 404, 408, 413, 429, 502, 503, 524, 529),
    ),
)
