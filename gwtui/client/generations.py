"""Generations, one by one: extended contract section 8."""

from __future__ import annotations

from gwtui.client.call import Call, Caller, checked
from gwtui.client.reading import read_one
from gwtui.contract.activity import FeedbackRequest, Generation, GenerationContent


class GenerationsService:
    """Single generations; every method raises GatewayError."""

    def __init__(self, caller: Caller) -> None:
        self._caller = caller

    async def get(self, id: str) -> Generation:
        """Request and usage metadata of one generation; any key may ask."""
        call = Call("GET", "/generation", query={"id": id})
        return read_one(await self._caller.call(call), Generation)

    async def content(self, id: str) -> GenerationContent:
        """What a generation read and wrote.

        NotFoundError also where its workspace does not log that.
        """
        call = Call("GET", "/generation/content", query={"id": id})
        return read_one(await self._caller.call(call), GenerationContent)

    async def give_feedback(self, request: FeedbackRequest) -> None:
        """Say what was wrong with a generation: one request, never repeated.

        The contract describes no answer: whatever a success says is not read.
        """
        body = checked(request, FeedbackRequest)
        await self._caller.call(Call("POST", "/generation/feedback", body=body))
