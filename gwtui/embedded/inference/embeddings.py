"""Embedding requests and their vectors. Inference contract section 8."""

from __future__ import annotations

import asyncio
import base64
import math
import struct
from typing import TYPE_CHECKING, Any
from zlib import crc32

from starlette.responses import Response

from gwtui.contract.embeddings import EmbeddingRequest, EmbeddingsResult
from gwtui.contract.request import Problem
from gwtui.contract.values import GENERATION_ID
from gwtui.embedded.inference.accounting import cost_fields
from gwtui.embedded.inference.exchange import InferenceExchange
from gwtui.embedded.inference.key_policy import KeyPolicy, policy_of
from gwtui.embedded.inference.parsed_request import parse_embedding
from gwtui.embedded.operations import Access, Deferred, Operation, OperationRequest
from gwtui.embedded.responses import ResponseSchema, invalid, reference

if TYPE_CHECKING:
    from gwtui.embedded.app import Responder

DIMENSIONS = 256
MAX_DIMENSIONS = 4096


class EmbeddingExchange(InferenceExchange):
    """An embedding request on its way to its answer."""

    def __init__(
        self, call: OperationRequest, policy: KeyPolicy, request: EmbeddingRequest
    ) -> None:
        super().__init__(call, policy, parse_embedding(request))
        self._request = request

    async def answer(self, responder: Responder) -> Response:
        """The vectors. Raises Refusal."""
        taken = await self._reach()
        vectors = await asyncio.to_thread(self._vectors)
        await self.clock.sleep(taken.thinks_for)
        cost = await self._book(responder, taken, None, None)
        prompt = self.parsed.prompt_tokens
        body: dict[str, Any] = {
            "id": self.id,
            "object": "list",
            "model": taken.attempt.model.id,
            "provider": taken.attempt.endpoint.provider_name,
            "data": [
                {"object": "embedding", "embedding": found, "index": index}
                for index, found in enumerate(vectors)
            ],
            "usage": {"prompt_tokens": prompt, "total_tokens": prompt, **cost_fields(cost)},
            **self._metadata_field(None),
        }
        return responder.respond(200, body, {GENERATION_ID: self.id})

    def _vectors(self) -> list[list[float] | str]:
        size = self._request.dimensions or DIMENSIONS
        vectors = [vector(each.text, size) for each in self.parsed.texts]
        if self._request.encoding_format != "base64":
            return list(vectors)
        packed = (struct.pack(f"<{size}f", *values) for values in vectors)
        return [base64.b64encode(floats).decode("ascii") for floats in packed]


def vector(text: str, dimensions: int = DIMENSIONS) -> list[float]:
    """The vector of a text, of length 1: how often each run of three letters stands in it.

    The dot product of two vectors is the larger the more runs their texts share.
    """
    counts = [0.0] * dimensions
    padded = f"  {text.casefold()} "
    for start in range(len(padded) - 2):
        run = padded[start : start + 3].encode("utf-8", "replace")
        counts[crc32(run) % dimensions] += 1
    length = math.hypot(*counts)
    return [value / length for value in counts]


def _embed(call: OperationRequest) -> Deferred:
    request = call.body_as(EmbeddingRequest)
    if request.dimensions is not None and request.dimensions > MAX_DIMENSIONS:
        raise invalid([Problem("dimensions", f"must be at most {MAX_DIMENSIONS}")])
    return EmbeddingExchange(call, policy_of(call), request).answer


OPERATIONS = (
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
