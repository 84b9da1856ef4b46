"""Workspaces: contract "Workspace"; extended contract section 2."""

from __future__ import annotations

from gwtui.client.call import Call, Caller
from gwtui.client.paging import Listing, Pager
from gwtui.client.reading import read_one
from gwtui.contract.paging import MAX_PAGE
from gwtui.contract.workspaces import Workspace


class WorkspacesService:
    """Reading of workspaces; every method raises GatewayError."""

    def __init__(self, caller: Caller) -> None:
        self._caller = caller

    async def list(self) -> Listing[Workspace]:
        """Every workspace of the account."""
        pager = Pager(self._caller, "/workspaces", Workspace, "id", page=MAX_PAGE)
        return await pager.everything({})

    async def get(self, id_or_slug: str) -> Workspace:
        """One workspace, by uuid or slug."""
        call = Call("GET", "/workspaces/{id}", {"id": id_or_slug})
        return read_one(await self._caller.call(call), Workspace)
