"""The account: its credits, and the organization that owns it with its members and settings.

Contract "GET /credits", extended section 4.
"""

from __future__ import annotations

from pydantic import JsonValue

from gwtui.contract.organization import (
    OrganizationMember,
    OrganizationSettings,
    UpdateOrganizationSettingsRequest,
)
from gwtui.contract.usage import Credits
from gwtui.embedded import wire
from gwtui.embedded.operations import Operation, OperationRequest
from gwtui.embedded.queries import PAGING
from gwtui.embedded.responses import not_found, one, page
from gwtui.embedded.routes.crud import PagedList
from gwtui.embedded.store import account, organization
from gwtui.embedded.store.organization import Person


def _credits(call: OperationRequest) -> JsonValue:
    return {"data": wire.data(account.get(call.db), "total_credits", "total_usage")}


def _members(call: OperationRequest) -> JsonValue:
    _organization_id(call)
    return _PEOPLE.answer(call)


_PEOPLE: PagedList[Person] = PagedList(
    organization.listed, organization.count, lambda _call, person: wire.data(person)
)


def _settings(call: OperationRequest) -> JsonValue:
    return {
        "data": {
            "id": _organization_id(call),
            "is_filtered_model_catalog_enabled": organization.filtered_catalog(call.db),
        }
    }


def _update_settings(call: OperationRequest) -> JsonValue:
    _organization_id(call)
    request = call.body_as(UpdateOrganizationSettingsRequest)
    organization.filter_catalog(call.db, enabled=request.is_filtered_model_catalog_enabled)
    return _settings(call)


def _organization_id(call: OperationRequest) -> str:
    """Raises a 404 for an account that belongs to no organization."""
    organization_id = account.get(call.db).organization_id
    if organization_id is None:
        raise not_found()
    return organization_id


OPERATIONS = (
    Operation(
        method="GET",
        path="/credits",
        operation_id="getCredits",
        summary="Get remaining credits",
        tag="Credits",
        handler=_credits,
        answer=one(Credits),
    ),
    Operation(
        method="GET",
        path="/organization/members",
        operation_id="listOrganizationMembers",
        summary="List the members of the organization",
        tag="Organization",
        handler=_members,
        answer=page(OrganizationMember),
        query=PAGING,
        refusals=(404,),
    ),
    Operation(
        method="GET",
        path="/organization/settings",
        operation_id="getOrganizationSettings",
        summary="Get the settings of the organization",
        tag="Organization",
        handler=_settings,
        answer=one(OrganizationSettings),
        refusals=(404,),
    ),
    Operation(
        method="PATCH",
        path="/organization/settings",
        operation_id="updateOrganizationSettings",
        summary="Change the settings of the organization",
        tag="Organization",
        handler=_update_settings,
        answer=one(OrganizationSettings),
        body=UpdateOrganizationSettingsRequest,
        refusals=(404,),
    ),
)
