"""API keys: contract "API key", "POST /keys"; extended contract section 1."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gwtui.client.answers import confirm_deleted, read_one, read_rows, read_whole
from gwtui.client.call import Call, Caller, query_params, validated
from gwtui.client.errors import UnreadableAnswerError
from gwtui.client.paging import Listing, Pager, listing_of
from gwtui.contract.keys import ApiKey, CreatedKey, CreateKeyRequest, UpdateKeyRequest
from gwtui.contract.values import KEYS_PAGE
from gwtui.domain.known_secrets import remember

if TYPE_CHECKING:
    from gwtui.contract.current_key import CurrentKey

_KEY = "/keys/{hash}"


def key_call(hash: str) -> Call:
    """The request that reads one key."""
    return Call("GET", _KEY, {"hash": hash})


def current_key_call() -> Call:
    """The request that reads the connection's own key."""
    return Call("GET", "/key")


class KeysService:
    """Management of API keys; every method raises GatewayError."""

    def __init__(self, caller: Caller) -> None:
        self._caller = caller

    async def list(
        self,
        *,
        workspace_id: str | None = None,
        include_disabled: bool = True,
        include_expired: bool = True,
    ) -> Listing[ApiKey]:
        """Every key of one workspace, newest first; of the default one when none is given.

        The API lists one workspace at a time.
        """
        query = query_params(
            include_disabled=include_disabled,
            include_expired=include_expired,
            workspace_id=workspace_id,
        )
        call = Call("GET", "/keys", query=query)
        pager = Pager(self._caller, call, ApiKey, "hash", page=KEYS_PAGE, sends_limit=False)
        return await pager.everything()

    async def default_workspace(self) -> str | None:
        """The id of the default workspace, from the first page of its keys.

        The contract marks it nowhere. None when that page names none.
        """
        query = query_params(include_disabled=True, include_expired=True, offset=0)
        rows = read_rows(await self._caller.call(Call("GET", "/keys", query=query)))
        keys = listing_of(rows, ApiKey, "hash").items
        return next((key.workspace_id for key in keys if key.workspace_id), None)

    async def get(self, hash: str) -> ApiKey:
        """One key, read anew."""
        return read_one(await self._caller.call(key_call(hash)), ApiKey)

    async def current(self) -> CurrentKey:
        """What the connection's own key may do; any key may ask."""
        from gwtui.contract.current_key import CurrentKey  # noqa: PLC0415 - no list needs it

        return read_one(await self._caller.call(current_key_call()), CurrentKey)

    async def create(self, request: CreateKeyRequest) -> CreatedKey:
        """Create a key: one request, never repeated. Only this answer holds the full key."""
        body = validated(request, CreateKeyRequest)
        answer = await self._caller.call(Call("POST", "/keys", body=body))
        created = read_whole(answer, CreatedKey)
        remember(created.key)
        if created.data is None and created.key is None:
            raise UnreadableAnswerError(
                "the answer to the creation holds neither the key nor its description",
                request_id=answer.request_id,
            )
        return created

    async def update(self, hash: str, request: UpdateKeyRequest) -> ApiKey:
        """Change the given fields of a key: one request, never repeated."""
        body = validated(request, UpdateKeyRequest)
        return read_one(
            await self._caller.call(Call("PATCH", _KEY, {"hash": hash}, body=body)), ApiKey
        )

    async def delete(self, hash: str) -> None:
        """Delete a key for good: one request, never repeated."""
        confirm_deleted(await self._caller.call(Call("DELETE", _KEY, {"hash": hash})))
