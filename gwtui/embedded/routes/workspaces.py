"""Workspaces, their members and their budgets. See sections 2 and 3 of the extended contract."""

from __future__ import annotations

import json
import uuid
from collections.abc import Sequence

from pydantic import JsonValue

from gwtui.contract.organization import (
    ChangeMembersRequest,
    MembersAdded,
    MembersRemoved,
    WorkspaceMember,
)
from gwtui.contract.request import Problem
from gwtui.contract.scalars import timestamp_text
from gwtui.contract.values import SERVER_TOOLS
from gwtui.contract.workspaces import (
    BUDGET_INTERVALS,
    Budget,
    CreateWorkspaceRequest,
    PutBudgetRequest,
    UpdateWorkspaceRequest,
    budget_conflict,
)
from gwtui.embedded.messages import (
    DELETED,
    PAGING,
    Flag,
    QueryParameter,
    Refusal,
    ResponseSchema,
    data_schema,
    invalid,
    join_names,
    list_schema,
    not_found,
    object_schema,
    page_schema,
    record,
    reference,
)
from gwtui.embedded.operations import (
    EVERY,
    Operation,
    OperationRequest,
    StoredResource,
    changes_in,
    page_of,
)
from gwtui.embedded.store import account, byok, keys
from gwtui.embedded.store.documents import (
    BUDGETS,
    GUARDRAILS,
    KEY_ASSIGNMENTS,
    KEYS,
    MEMBER_ASSIGNMENTS,
    MEMBERS,
    PEOPLE,
    WORKSPACES,
    Document,
    Kind,
    in_list,
)
from gwtui.embedded.store.founding import new_workspace

_BYOK = "include_byok_in_budgets"
_CONFIRM = "confirm_default_workspace_deletion"
_HERE = "workspace_id = ?"
_OF_GUARDRAILS = "guardrail_id IN (SELECT id FROM guardrails WHERE workspace_id = ?)"
_INSIDE: tuple[tuple[Kind, str], ...] = (
    (KEY_ASSIGNMENTS, "key_hash IN (SELECT id FROM keys WHERE workspace_id = ?)"),
    (KEY_ASSIGNMENTS, _OF_GUARDRAILS),
    (MEMBER_ASSIGNMENTS, _OF_GUARDRAILS),
    (KEYS, _HERE),
    (MEMBERS, _HERE),
    (BUDGETS, _HERE),
    (GUARDRAILS, _HERE),
)
"""The kinds that are deleted with a workspace, each with the SQL condition on its documents."""


def _find(call: OperationRequest, id_or_slug: str) -> Document | None:
    where = "id = ?1 OR slug = ?2 ORDER BY id = ?1 DESC"
    return WORKSPACES.find(call.db, where, (id_or_slug.lower(), id_or_slug))


def _is_default(call: OperationRequest, workspace: Document) -> bool:
    # The default workspace is the one that operations without a workspace_id use.
    return bool(workspace["id"] == account.setting(call.db, "default_workspace_id"))


RESOURCE = StoredResource(
    kind=WORKSPACES,
    path="/workspaces/{id}",
    name="Workspace",
    plural="Workspaces",
    noun="workspace",
    tag="Workspaces",
    find=_find,
)


def _create(call: OperationRequest) -> tuple[Document, None]:
    request: CreateWorkspaceRequest = call.body
    workspace_id = str(uuid.uuid4())
    document = {
        **new_workspace(workspace_id, call.now),
        "created_by": call.known_caller["creator_user_id"],
        **_changes(call, request, workspace_id),
    }
    return document, None


def _update(call: OperationRequest) -> Document:
    request: UpdateWorkspaceRequest = call.body
    document = RESOURCE.document(call)
    return RESOURCE.save_changes(call, document, _changes(call, request, document["id"]))


def _changes(
    call: OperationRequest,
    request: CreateWorkspaceRequest | UpdateWorkspaceRequest,
    workspace_id: str,
) -> Document:
    # Clients may know newer tools than this gateway, so unknown tools are a 400.
    changes = changes_in(request)
    problems = [
        Problem(f"disabled_server_tools.{index}", "is not a server tool")
        for index, tool in enumerate(request.disabled_server_tools or ())
        if tool not in SERVER_TOOLS
    ]
    # In a path, a slug equal to another workspace's UUID would name that workspace.
    taken = "(slug = ?1 OR id = ?1) AND id <> ?2"
    if "slug" in changes and WORKSPACES.find(call.db, taken, (changes["slug"], workspace_id)):
        problems.append(Problem("slug", "another workspace has it already"))
    if problems:
        raise invalid(problems)
    if "disabled_server_tools" in changes:
        changes["disabled_server_tools"] = changes["disabled_server_tools"] or None
    return changes


def _delete(call: OperationRequest, workspace: Document) -> None:
    # The usage of its keys remains in the account's total; their generations are deleted.
    workspace_id = workspace["id"]
    if _is_default(call, workspace):
        if not call.query[_CONFIRM]:
            raise invalid([Problem(_CONFIRM, "must be true to delete the default workspace")])
        account.change(call.db, default_workspace_id=None)
    active = keys.count_active(call.db, workspace_id, call.now)
    if active:
        what = "1 active API key" if active == 1 else f"{active} active API keys"
        message = f"The workspace still has {what}: disable, delete or move them first"
        raise Refusal(400, message)
    here = (workspace_id,)
    call.db.execute("UPDATE generations SET content = NULL WHERE workspace_id = ?", here)
    for kind, where in _INSIDE:
        kind.delete(call.db, where, here)
    byok.remove(call.db, "workspace_id = ?", here)
    WORKSPACES.delete(call.db, "id = ?", here)


# Members --------------------------------------------------------------------------------------


def _list_members(call: OperationRequest) -> JsonValue:
    # Members in the order of joining; everyone in the organization is in the default workspace.
    workspace = RESOURCE.document(call)
    here = ("workspace_id = ?", (workspace["id"],))
    kind, condition = (PEOPLE, EVERY) if _is_default(call, workspace) else (MEMBERS, here)
    return page_of(call, kind, condition, lambda members: _shown_members(call, workspace, members))


def _shown_members(
    call: OperationRequest, workspace: Document, members: Sequence[Document]
) -> list[Document]:
    users = [str(member.get("user_id", member["id"])) for member in members]
    people = PEOPLE.documents(call.db, in_list("id"), (json.dumps(users),))
    roles = {person["id"]: person["role"] for person in people}
    return [
        {
            # An implicit membership is as old as the workspace and keeps one id.
            "id": member["id"]
            if "user_id" in member
            else str(uuid.uuid5(uuid.UUID(workspace["id"]), user)),
            "workspace_id": workspace["id"],
            "user_id": user,
            "role": "admin" if roles.get(user) == "org:admin" else "member",
            "created_at": member.get("created_at", workspace["created_at"]),
        }
        for user, member in zip(users, members, strict=True)
    ]


def _memberships(
    call: OperationRequest, workspace: Document, users: Sequence[str]
) -> list[Document]:
    given = list(dict.fromkeys(users))
    listed = (json.dumps(given),)
    if _is_default(call, workspace):
        people = PEOPLE.documents(call.db, in_list("id"), listed)
    else:
        where = f"{in_list('user_id')} AND workspace_id = ?"
        people = MEMBERS.documents(call.db, where, (*listed, workspace["id"]))
    shown = _shown_members(call, workspace, people)
    return sorted(shown, key=lambda member: given.index(member["user_id"]))


def _add_members(call: OperationRequest) -> JsonValue:
    # Existing members count as added; the role is the role in the organization.
    workspace = RESOURCE.document(call)
    users: list[str] = call.body.user_ids
    unknown = PEOPLE.missing(call.db, users)
    if unknown:
        message = f"not members of the organization: {join_names(unknown)}"
        raise invalid([Problem("user_ids", message)])
    members = {member["user_id"] for member in _memberships(call, workspace, users)}
    for user in dict.fromkeys(users):
        if user not in members:
            member = {
                "id": str(uuid.uuid4()),
                "workspace_id": workspace["id"],
                "user_id": user,
                "created_at": timestamp_text(call.now),
            }
            MEMBERS.insert(call.db, member)
    added = _memberships(call, workspace, users)
    return {"added_count": len(added), "data": [*added]}


def _remove_members(call: OperationRequest) -> JsonValue:
    # All members are removed or none. Users who are not members are not counted.
    workspace = RESOURCE.document(call)
    users: list[str] = call.body.user_ids
    if _is_default(call, workspace):
        raise Refusal(
            400,
            "Every member of the organization belongs to the default workspace; "
            "nobody can be removed from it",
        )
    leaving = [member["user_id"] for member in _memberships(call, workspace, users)]
    creators = keys.active_creators(call.db, workspace["id"], call.now)
    held = [user_id for user_id in leaving if user_id in creators]
    if held:
        message = f"still have active API keys in the workspace: {join_names(held)}"
        raise invalid([Problem("user_ids", message)])
    where = f"workspace_id = ? AND {in_list('user_id')}"
    removed = MEMBERS.delete(call.db, where, (workspace["id"], json.dumps(leaving)))
    return {"removed_count": removed}


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


# Budgets --------------------------------------------------------------------------------------


def _list_budgets(call: OperationRequest) -> JsonValue:
    workspace = RESOURCE.document(call)
    return {"data": [*keys.budgets_of(call.db, workspace["id"]).values()], _BYOK: workspace[_BYOK]}


def _get_budget(call: OperationRequest) -> JsonValue:
    interval = _interval(call)
    workspace = RESOURCE.document(call)
    budget = keys.budgets_of(call.db, workspace["id"]).get(interval)
    if budget is None:
        raise not_found()
    return {"data": budget, _BYOK: workspace[_BYOK]}


def _put_budget(call: OperationRequest) -> JsonValue:
    request: PutBudgetRequest = call.body
    interval = _interval(call)
    workspace = RESOURCE.document(call)
    budgets = keys.budgets_of(call.db, workspace["id"])
    limits = {name: keys.exact(budget["limit_usd"]) for name, budget in budgets.items()}
    conflict = budget_conflict({**limits, interval: request.limit_usd})
    if conflict:
        raise invalid([Problem("limit_usd", conflict)])
    changes = changes_in(request, _BYOK)
    moment = timestamp_text(call.now)
    if interval not in budgets:
        budget = {
            "id": str(uuid.uuid4()),
            "workspace_id": workspace["id"],
            **changes,
            "reset_interval": None if interval == "lifetime" else interval,
            "created_at": moment,
            "updated_at": moment,
        }
        BUDGETS.insert(call.db, budget)
    elif budgets[interval]["limit_usd"] != changes["limit_usd"]:
        BUDGETS.replace(call.db, {**budgets[interval], **changes, "updated_at": moment})
    if _BYOK in request.model_fields_set:
        # This changes the budgets, so the workspace keeps its ``updated_at``.
        WORKSPACES.replace(call.db, {**workspace, _BYOK: request.include_byok_in_budgets})
    return _get_budget(call)


def _delete_budget(call: OperationRequest) -> JsonValue:
    interval = _interval(call)
    where = "workspace_id = ? AND coalesce(reset_interval, 'lifetime') = ?"
    BUDGETS.delete(call.db, where, (RESOURCE.document(call)["id"], interval))
    return {"deleted": True}


def _interval(call: OperationRequest) -> str:
    interval = call.path["interval"]
    if interval not in BUDGET_INTERVALS:
        raise invalid([Problem("interval", "must be one of " + ", ".join(BUDGET_INTERVALS))])
    return interval


_BUDGET = "/workspaces/{id}/budgets/{interval}"
_BESIDE_BUDGETS = {_BYOK: {"type": "boolean"}}

OPERATIONS = (
    RESOURCE.list(lambda _call: EVERY),
    RESOURCE.create(CreateWorkspaceRequest, _create),
    RESOURCE.get("Get a workspace by UUID or slug"),
    RESOURCE.update(UpdateWorkspaceRequest, _update),
    RESOURCE.delete(
        _delete,
        summary="Delete a workspace with its budgets and guardrails",
        query=(
            QueryParameter(_CONFIRM, "required to delete the default one", Flag, default="false"),
        ),
    ),
    Operation(
        method="GET",
        path="/workspaces/{id}/members",
        operation_id="listWorkspaceMembers",
        summary="List the members of a workspace; of the default one, the whole organization",
        tag="Workspaces",
        handler=_list_members,
        answer=page_schema(WorkspaceMember),
        query=PAGING,
    ),
    Operation(
        method="POST",
        path="/workspaces/{id}/members/add",
        operation_id="addWorkspaceMembers",
        summary="Add members of the organization to a workspace",
        tag="Workspaces",
        handler=_add_members,
        answer=_ADDED,
        body=ChangeMembersRequest,
    ),
    Operation(
        method="POST",
        path="/workspaces/{id}/members/remove",
        operation_id="removeWorkspaceMembers",
        summary="Remove members from a workspace; refused while they have active keys there",
        tag="Workspaces",
        handler=_remove_members,
        answer=object_schema(MembersRemoved.__name__, {"removed_count": {"type": "integer"}}),
        body=ChangeMembersRequest,
    ),
    Operation(
        method="GET",
        path="/workspaces/{id}/budgets",
        operation_id="listWorkspaceBudgets",
        summary="List the budgets of a workspace, the shortest interval first",
        tag="Workspaces",
        handler=_list_budgets,
        answer=list_schema(Budget, _BESIDE_BUDGETS),
    ),
    Operation(
        method="GET",
        path=_BUDGET,
        operation_id="getWorkspaceBudget",
        summary="Get the budget of an interval: daily, weekly, monthly or lifetime",
        tag="Workspaces",
        handler=_get_budget,
        answer=data_schema(Budget, _BESIDE_BUDGETS),
        refusals=(400,),
    ),
    Operation(
        method="PUT",
        path=_BUDGET,
        operation_id="putWorkspaceBudget",
        summary="Create or replace the budget of an interval",
        tag="Workspaces",
        handler=_put_budget,
        answer=data_schema(Budget, _BESIDE_BUDGETS),
        body=PutBudgetRequest,
    ),
    Operation(
        method="DELETE",
        path=_BUDGET,
        operation_id="deleteWorkspaceBudget",
        summary="Delete the budget of an interval; no error when there is none",
        tag="Workspaces",
        handler=_delete_budget,
        answer=DELETED,
        refusals=(400,),
    ),
)
