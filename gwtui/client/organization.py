"""The organization of the connection's key, and the members of its workspaces.

Extended contract sections 2 and 4.
"""

from __future__ import annotations

from gwtui.client.answers import read_count, read_one, read_whole
from gwtui.client.call import Answer, Call, Caller, validated
from gwtui.client.errors import UnreadableAnswerError
from gwtui.client.paging import Listing, Pager
from gwtui.contract.organization import (
    ChangeMembersRequest,
    MembersAdded,
    MembersRemoved,
    OrganizationMember,
    OrganizationSettings,
    UpdateOrganizationSettingsRequest,
    WorkspaceMember,
)
from gwtui.contract.values import MAX_PAGE

_SETTINGS = "/organization/settings"
_MEMBERS = "/workspaces/{id}/members"


def people_call() -> Call:
    """The request that reads the members of the organization."""
    return Call("GET", "/organization/members")


def members_call(id_or_slug: str) -> Call:
    """The request that reads the members of a workspace."""
    return Call("GET", _MEMBERS, {"id": id_or_slug})


class OrganizationService:
    """Members and settings; every method raises GatewayError.

    NotFoundError means that the key belongs to no organization.
    """

    def __init__(self, caller: Caller) -> None:
        self._caller = caller

    async def members(self) -> Listing[OrganizationMember]:
        """Every member of the organization."""
        call = people_call()
        return await Pager(self._caller, call, OrganizationMember, "id", page=MAX_PAGE).everything()

    async def settings(self) -> OrganizationSettings:
        """What holds for the whole organization."""
        return read_one(await self._caller.call(Call("GET", _SETTINGS)), OrganizationSettings)

    async def update_settings(
        self, request: UpdateOrganizationSettingsRequest
    ) -> OrganizationSettings:
        """Change the settings: one request, never repeated."""
        body = validated(request, UpdateOrganizationSettingsRequest)
        call = Call("PATCH", _SETTINGS, body=body)
        return read_one(await self._caller.call(call), OrganizationSettings)


class MembersService:
    """Members of workspaces, named by uuid or slug; every method raises GatewayError."""

    def __init__(self, caller: Caller) -> None:
        self._caller = caller

    async def list(self, id_or_slug: str) -> Listing[WorkspaceMember]:
        """Every member of a workspace; of the default one that is the whole organization."""
        call = members_call(id_or_slug)
        pager = Pager(self._caller, call, WorkspaceMember, "user_id", page=MAX_PAGE)
        return await pager.everything()

    async def add(self, id_or_slug: str, request: ChangeMembersRequest) -> MembersAdded:
        """Add organization members; one that is there already counts as well."""
        answer = await self._change("add", id_or_slug, request)
        added = read_whole(answer, MembersAdded)
        if added.added_count is None and added.data is None:
            raise UnreadableAnswerError(
                "the answer does not say which members were added", request_id=answer.request_id
            )
        return added

    async def remove(self, id_or_slug: str, request: ChangeMembersRequest) -> MembersRemoved:
        """Remove members; refused for those with active keys in the workspace."""
        answer = await self._change("remove", id_or_slug, request)
        read_count(answer, "removed_count")
        return read_whole(answer, MembersRemoved)

    async def _change(self, verb: str, id_or_slug: str, request: ChangeMembersRequest) -> Answer:
        body = validated(request, ChangeMembersRequest)
        call = Call("POST", f"{_MEMBERS}/{verb}", {"id": id_or_slug}, body=body)
        return await self._caller.call(call)
