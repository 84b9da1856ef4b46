"""Providers of the catalog: extended contract section 7."""

from __future__ import annotations

from gwtui.client.call import Call, Caller
from gwtui.client.paging import Listing, listing_of
from gwtui.client.reading import read_rows
from gwtui.contract.providers import Provider


class ProvidersService:
    """The companies that serve endpoints."""

    def __init__(self, caller: Caller) -> None:
        self._caller = caller

    async def list(self) -> Listing[Provider]:
        """Every provider; the API does not page them. Raises GatewayError."""
        answer = await self._caller.call(Call("GET", "/providers"))
        return listing_of(read_rows(answer), Provider, "slug")
