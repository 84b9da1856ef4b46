"""Credits: contract "Credits", "GET /credits"."""

from __future__ import annotations

from gwtui.client.call import Call, Caller
from gwtui.client.reading import read_one
from gwtui.contract.credits import Credits


class CreditsService:
    """The account's credits."""

    def __init__(self, caller: Caller) -> None:
        self._caller = caller

    async def get(self) -> Credits:
        """What was bought and what is used, in USD. Raises GatewayError."""
        return read_one(await self._caller.call(Call("GET", "/credits")), Credits)
