"""The organization that the connection's key belongs to: extended contract section 4."""

from __future__ import annotations

from gwtui.client.answers import read_one
from gwtui.client.call import Call, Caller, validated
from gwtui.client.paging import Listing, Pager
from gwtui.contract.organization import (
    OrganizationMember,
    OrganizationSettings,
    UpdateOrganizationSettingsRequest,
)
from gwtui.contract.values import MAX_PAGE

_SETTINGS = "/organization/settings"


def people_call() -> Call:
    """The request that reads the members of the organization."""
    return Call("GET", "/organization/members")


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
