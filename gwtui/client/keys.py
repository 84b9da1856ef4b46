"""API keys: contract "API key", "POST /keys"; extended contract section 1."""

from __future__ import annotations

from gwtui.client.call import Call, Caller, checked
from gwtui.client.errors import UnreadableAnswerError
from gwtui.client.paging import Listing, Pager, merged
from gwtui.client.reading import confirm_deleted, read_one, read_whole
from gwtui.client.workspaces import WorkspacesService
from gwtui.contract.keys import ApiKey, CreatedKey, CreateKeyRequest, CurrentKey, UpdateKeyRequest
from gwtui.contract.paging import KEYS_PAGE

_KEY = "/keys/{hash}"


class KeysService:
    """Management of API keys; every method raises GatewayError."""

    def __init__(self, caller: Caller, workspaces: WorkspacesService) -> None:
        self._caller = caller
        self._workspaces = workspaces

    async def list(
        self,
        *,
        workspace_id: str | None = None,
        include_disabled: bool = True,
        include_expired: bool = True,
    ) -> Listing[ApiKey]:
        """Every key of one workspace, newest first; of the default workspace when none is given."""
        query: dict[str, str | int | bool] = {
            "include_disabled": include_disabled,
            "include_expired": include_expired,
        }
        if workspace_id is not None:
            query["workspace_id"] = workspace_id
        pager = Pager(self._caller, "/keys", ApiKey, "hash", page=KEYS_PAGE, sends_limit=False)
        return await pager.everything(query)

    async def list_everywhere(
        self, *, include_disabled: bool = True, include_expired: bool = True
    ) -> Listing[ApiKey]:
        """Every key of every workspace, workspace by workspace.

        The API lists one workspace at a time. A workspace that is deleted meanwhile is left out.
        """
        workspaces = await self._workspaces.list()
        parts = [
            await self.list(
                workspace_id=workspace.id,
                include_disabled=include_disabled,
                include_expired=include_expired,
            )
            for workspace in workspaces.items
            if workspace.id
        ]
        return merged(parts, lambda key: key.hash, complete=workspaces.complete)

    async def get(self, hash: str) -> ApiKey:
        """One key, read anew."""
        return read_one(await self._caller.call(Call("GET", _KEY, {"hash": hash})), ApiKey)

    async def current(self) -> CurrentKey:
        """What the connection's own key may do; any key may ask."""
        return read_one(await self._caller.call(Call("GET", "/key")), CurrentKey)

    async def create(self, request: CreateKeyRequest) -> CreatedKey:
        """Create a key: one request, never repeated. Only this answer holds the full key."""
        body = checked(request, CreateKeyRequest)
        answer = await self._caller.call(Call("POST", "/keys", body=body))
        created = read_whole(answer, CreatedKey)
        if created.data is None and created.key is None:
            raise UnreadableAnswerError(
                "the answer to the creation holds neither the key nor its description",
                request_id=answer.request_id,
            )
        return created

    async def update(self, hash: str, request: UpdateKeyRequest) -> ApiKey:
        """Change the given fields of a key: one request, never repeated."""
        body = checked(request, UpdateKeyRequest)
        return read_one(
            await self._caller.call(Call("PATCH", _KEY, {"hash": hash}, body=body)), ApiKey
        )

    async def delete(self, hash: str) -> None:
        """Delete a key for good: one request, never repeated."""
        confirm_deleted(await self._caller.call(Call("DELETE", _KEY, {"hash": hash})))
