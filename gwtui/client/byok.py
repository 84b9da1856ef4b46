"""BYOK provider credentials: contract "BYOK provider credential"; extended section 6."""

from __future__ import annotations

from gwtui.client.answers import confirm_deleted, read_one
from gwtui.client.call import Call, Caller, query_params, validated
from gwtui.client.paging import Listing, Pager
from gwtui.contract.byok import ByokCredential, CreateByokRequest, UpdateByokRequest
from gwtui.contract.values import MAX_PAGE

_CREDENTIAL = "/byok/{id}"


def credential_call(id: str) -> Call:
    """The request that reads one credential."""
    return Call("GET", _CREDENTIAL, {"id": id})


class ByokService:
    """Management of the customer's own provider keys; every method raises GatewayError.

    Each write is one request, never repeated. No answer holds a raw key.
    """

    def __init__(self, caller: Caller) -> None:
        self._caller = caller

    async def list(
        self, *, workspace_id: str | None = None, provider: str | None = None
    ) -> Listing[ByokCredential]:
        """Every credential of one workspace; of the default one when none is given."""
        query = query_params(workspace_id=workspace_id, provider=provider)
        call = Call("GET", "/byok", query=query)
        return await Pager(self._caller, call, ByokCredential, "id", page=MAX_PAGE).everything()

    async def get(self, id: str) -> ByokCredential:
        """One credential, read anew."""
        return read_one(await self._caller.call(credential_call(id)), ByokCredential)

    async def create(self, request: CreateByokRequest) -> ByokCredential:
        """Store a provider key."""
        body = validated(request, CreateByokRequest)
        return read_one(await self._caller.call(Call("POST", "/byok", body=body)), ByokCredential)

    async def update(self, id: str, request: UpdateByokRequest) -> ByokCredential:
        """Change the given fields; ``key`` rotates in place, the old material is gone."""
        body = validated(request, UpdateByokRequest)
        call = Call("PATCH", _CREDENTIAL, {"id": id}, body=body)
        return read_one(await self._caller.call(call), ByokCredential)

    async def delete(self, id: str) -> None:
        """Delete a credential: its key material is wiped."""
        confirm_deleted(await self._caller.call(Call("DELETE", _CREDENTIAL, {"id": id})))
