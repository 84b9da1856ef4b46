"""The organization: its members and its settings. Extended contract section 4."""

from __future__ import annotations

from pydantic import JsonValue

from gwtui.contract.organization import (
    OrganizationMember,
    OrganizationSettings,
    UpdateOrganizationSettingsRequest,
)
from gwtui.embedded.operations import Access, Operation, OperationRequest
from gwtui.embedded.queries import PAGING
from gwtui.embedded.responses import not_found, one, page
from gwtui.embedded.store import account, organization
from gwtui.embedded.store.organization import Person


def person_data(person: Person) -> dict[str, JsonValue]:
    """The wire form of a member of the organization."""
    return {
        "id": person.id,
        "email": person.email,
        "first_name": person.first_name,
        "last_name": person.last_name,
        "role": person.role,
    }


def _members(call: OperationRequest) -> JsonValue:
    _organization_id(call)
    found = organization.listed(call.db, offset=call.query["offset"], limit=call.query["limit"])
    return {
        "data": [person_data(person) for person in found],
        "total_count": organization.count(call.db),
    }


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
        path="/organization/members",
        operation_id="listOrganizationMembers",
        summary="List the members of the organization",
        tag="Organization",
        access=Access.MANAGEMENT,
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
        access=Access.MANAGEMENT,
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
        access=Access.MANAGEMENT,
        handler=_update_settings,
        answer=one(OrganizationSettings),
        body=UpdateOrganizationSettingsRequest,
        refusals=(404,),
    ),
)
