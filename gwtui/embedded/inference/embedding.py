"""An embedding request on its way to its vectors. Inference contract section 8."""

from __future__ import annotations

import asyncio
from typing import Any

from starlette.responses import Response

from gwtui.contract.completion import GENERATION_ID
from gwtui.contract.embeddings import EmbeddingRequest
from gwtui.embedded.inference import answers
from gwtui.embedded.inference.asked import Asked
from gwtui.embedded.inference.exchange import InferenceExchange, Situation
from gwtui.embedded.inference.vectors import DIMENSIONS, base64_floats, vector
from gwtui.embedded.operations import Desk


class EmbeddingExchange(InferenceExchange):
    """An embedding request on its way to its answer."""

    def __init__(self, situation: Situation, asked: Asked, request: EmbeddingRequest) -> None:
        super().__init__(situation, asked)
        self._request = request

    async def answer(self, desk: Desk) -> Response:
        """The vectors. Raises Refusal."""
        taken = await self._reach()
        vectors = await asyncio.to_thread(self._vectors, taken.asked)
        await self._clock.sleep(taken.pace.thinks_for)
        course = self._course(taken, None, None, streamed=False)
        cost = await self._book(desk, taken, course)
        prompt = taken.asked.prompt_tokens
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
        return desk.respond(200, body, headers)

    def _vectors(self, asked: Asked) -> list[list[float] | str]:
        size = self._request.dimensions or DIMENSIONS
        found = [vector(each.text, size) for each in asked.texts]
        if self._request.encoding_format == "base64":
            return [base64_floats(values) for values in found]
        return list(found)
