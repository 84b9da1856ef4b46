"""Embedding requests and the model that answers them. Inference contract section 8.

The model hashes n-grams, so that texts with the same words and stems lie close: every word, every
pair of words and every run of three or four letters adds to a place that its hash gives. Vectors
have length 1, so that their dot product is their similarity.
"""

from __future__ import annotations

import asyncio
import base64
import math
import re
import struct
from collections.abc import Iterator, Sequence
from hashlib import blake2b
from itertools import pairwise
from typing import Any

from starlette.responses import Response

from gwtui.contract.embeddings import EmbeddingRequest
from gwtui.contract.values import GENERATION_ID
from gwtui.embedded.inference import answers
from gwtui.embedded.inference.exchange import InferenceExchange, RequestContext
from gwtui.embedded.inference.parsed_request import ParsedRequest
from gwtui.embedded.operations import Responder

DIMENSIONS = 256
MAX_DIMENSIONS = 4096

_WORD = re.compile(r"\w+")
_WORD_WEIGHT, _PAIR_WEIGHT, _LETTERS_WEIGHT = 1.0, 0.5, 0.35


class EmbeddingExchange(InferenceExchange):
    """An embedding request on its way to its answer."""

    def __init__(
        self, context: RequestContext, parsed: ParsedRequest, request: EmbeddingRequest
    ) -> None:
        super().__init__(context, parsed)
        self._request = request

    async def answer(self, responder: Responder) -> Response:
        """The vectors. Raises Refusal."""
        taken = await self._reach()
        vectors = await asyncio.to_thread(self._vectors, taken.parsed)
        await self._clock.sleep(taken.pace.thinks_for)
        outcome = self._outcome(taken, None, None, streamed=False)
        cost = await self._book(responder, taken, outcome)
        prompt = taken.parsed.prompt_tokens
        body: dict[str, Any] = {
            "id": self._at.id,
            "object": "list",
            "model": taken.attempt.model.id,
            "provider": taken.attempt.endpoint.provider_name,
            "data": [
                {"object": "embedding", "embedding": found, "index": index}
                for index, found in enumerate(vectors)
            ],
            "usage": {"prompt_tokens": prompt, "total_tokens": prompt, **answers.cost_fields(cost)},
        }
        if self._at.wants_metadata:
            body["service_metadata"] = self._metadata(None)
        headers = {GENERATION_ID: self._at.id}
        return responder.respond(200, body, headers)

    def _vectors(self, parsed: ParsedRequest) -> list[list[float] | str]:
        size = self._request.dimensions or DIMENSIONS
        found = [vector(each.text, size) for each in parsed.texts]
        if self._request.encoding_format == "base64":
            return [base64_floats(values) for values in found]
        return list(found)


def vector(text: str, dimensions: int = DIMENSIONS) -> list[float]:
    """The vector of a text, of length 1."""
    sums = [0.0] * dimensions
    for feature, weight in _features(text.casefold()):
        bits = int.from_bytes(blake2b(feature.encode("utf-8", "replace"), digest_size=8).digest())
        sums[(bits >> 1) % dimensions] += weight if bits & 1 else -weight
    length = math.sqrt(sum(value * value for value in sums))
    if not length:
        # Nothing to go by: all such texts are the same.
        return [1.0, *[0.0] * (dimensions - 1)]
    return [value / length for value in sums]


def base64_floats(values: Sequence[float]) -> str:
    """The values as float32, little-endian, in base64."""
    return base64.b64encode(struct.pack(f"<{len(values)}f", *values)).decode("ascii")


def _features(text: str) -> Iterator[tuple[str, float]]:
    words = _WORD.findall(text)
    for word in words:
        yield f"w:{word}", _WORD_WEIGHT
        padded = f"^{word}$"
        for length in (3, 4):
            for start in range(len(padded) - length + 1):
                yield f"l:{padded[start : start + length]}", _LETTERS_WEIGHT
    for first, second in pairwise(words):
        yield f"p:{first} {second}", _PAIR_WEIGHT
