"""Generations, one by one: extended contract section 8."""

from __future__ import annotations

from gwtui.client.call import Call, Caller
from gwtui.client.reading import read_one
from gwtui.contract.activity import Generation


class GenerationsService:
    """Metadata of single generations."""

    def __init__(self, caller: Caller) -> None:
        self._caller = caller

    async def get(self, id: str) -> Generation:
        """Request and usage metadata of one generation; any key may ask. Raises GatewayError."""
        call = Call("GET", "/generation", query={"id": id})
        return read_one(await self._caller.call(call), Generation)
