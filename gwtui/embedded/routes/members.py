"""Members of workspaces: list, add, remove. Extended contract section 2."""

from __future__ import annotations

import uuid

from pydantic import JsonValue

from gwtui.contract.organization import (
    ChangeMembersRequest,
    MembersAdded,
    MembersRemoved,
    WorkspaceMember,
)
from gwtui.contract.request import Problem
from gwtui.embedded import wire
from gwtui.embedded.operations import Access, Operation, OperationRequest
from gwtui.embedded.queries import PAGING
from gwtui.embedded.responses import (
    Refusal,
    ResponseSchema,
    invalid,
    named,
    page,
    plain,
    record,
    reference,
)
from gwtui.embedded.routes.scope import workspace_in_path
from gwtui.embedded.store import keys, organization
from gwtui.embedded.store.organization import Member


def member_data(member: Member) -> dict[str, JsonValue]:
    """The wire form of a membership."""
    return {
        "id": member.id,
        "workspace_id": member.workspace_id,
        "user_id": member.user_id,
        "role": member.role,
        "created_at": wire.timestamp_or_none(member.created_at),
    }


def _list(call: OperationRequest) -> JsonValue:
    workspace = workspace_in_path(call)
    offset, limit = call.query["offset"], call.query["limit"]
    found = organization.members_of(call.db, workspace, offset=offset, limit=limit)
    return {
        "data": [member_data(member) for member in found],
        "total_count": organization.count_members(call.db, workspace),
    }


def _add(call: OperationRequest) -> JsonValue:
    """Whoever is a member already counts as updated: the role is the organization's anyway."""
    workspace = workspace_in_path(call)
    user_ids = call.body_as(ChangeMembersRequest).user_ids
    strangers = organization.strangers(call.db, user_ids)
    if strangers:
        message = f"not members of the organization: {named(strangers)}"
        raise invalid([Problem("user_ids", message)])
    if not workspace.is_default:
        joining = {str(uuid.uuid4()): user_id for user_id in user_ids}
        organization.join(call.db, workspace.id, joining, call.now)
    added = organization.memberships(call.db, workspace, user_ids)
    return {"added_count": len(added), "data": [member_data(member) for member in added]}


def _remove(call: OperationRequest) -> JsonValue:
    """All of them or nobody. Who is no member is not counted."""
    workspace = workspace_in_path(call)
    user_ids = call.body_as(ChangeMembersRequest).user_ids
    if workspace.is_default:
        raise Refusal(
            400,
            "Every member of the organization belongs to the default workspace; "
            "nobody can be removed from it",
        )
    leaving = [member.user_id for member in organization.memberships(call.db, workspace, user_ids)]
    creators = keys.active_creators(call.db, workspace.id, call.now)
    held = [user_id for user_id in leaving if user_id in creators]
    if held:
        message = f"still have active API keys in the workspace: {named(held)}"
        raise invalid([Problem("user_ids", message)])
    return {"removed_count": organization.leave(call.db, workspace.id, leaving)}


_ADDED = ResponseSchema(
    MembersAdded.__name__,
    record(
        {
            "added_count": {"type": "integer"},
            "data": {"type": "array", "items": reference(WorkspaceMember)},
        }
    ),
    (WorkspaceMember,),
)

OPERATIONS = (
    Operation(
        method="GET",
        path="/workspaces/{id}/members",
        operation_id="listWorkspaceMembers",
        summary="List the members of a workspace; of the default one, the whole organization",
        tag="Workspaces",
        access=Access.MANAGEMENT,
        handler=_list,
        answer=page(WorkspaceMember),
        query=PAGING,
    ),
    Operation(
        method="POST",
        path="/workspaces/{id}/members/add",
        operation_id="addWorkspaceMembers",
        summary="Add members of the organization to a workspace",
        tag="Workspaces",
        access=Access.MANAGEMENT,
        handler=_add,
        answer=_ADDED,
        body=ChangeMembersRequest,
    ),
    Operation(
        method="POST",
        path="/workspaces/{id}/members/remove",
        operation_id="removeWorkspaceMembers",
        summary="Remove members from a workspace; refused while they have active keys there",
        tag="Workspaces",
        access=Access.MANAGEMENT,
        handler=_remove,
        answer=plain(MembersRemoved.__name__, {"removed_count": {"type": "integer"}}),
        body=ChangeMembersRequest,
    ),
)
