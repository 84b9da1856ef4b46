"""Workspaces, their members and their budgets. Extended contract sections 2 and 3."""

from __future__ import annotations

import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from decimal import Decimal
from typing import Any

from pydantic import JsonValue

from gwtui.contract.budgets import (
    BUDGET_INTERVALS,
    Budget,
    BudgetInterval,
    PutBudgetRequest,
    budget_conflict,
)
from gwtui.contract.organization import (
    ChangeMembersRequest,
    MembersAdded,
    MembersRemoved,
    WorkspaceMember,
)
from gwtui.contract.request import Problem
from gwtui.contract.values import SERVER_TOOLS
from gwtui.contract.workspaces import CreateWorkspaceRequest, UpdateWorkspaceRequest, Workspace
from gwtui.embedded import queries, wire
from gwtui.embedded.operations import Operation, OperationRequest
from gwtui.embedded.responses import (
    DELETED,
    Refusal,
    ResponseSchema,
    invalid,
    many,
    named,
    not_found,
    one,
    page,
    plain,
    record,
    reference,
)
from gwtui.embedded.routes.crud import CrudRoutes, PagedList, workspace_in_path
from gwtui.embedded.store import budgets, keys, organization, workspaces
from gwtui.embedded.store.budgets import BudgetRecord
from gwtui.embedded.store.organization import Member
from gwtui.embedded.store.workspaces import SlugTakenError, WorkspaceRecord

_BYOK = "include_byok_in_budgets"
_CONFIRM = "confirm_default_workspace_deletion"


def _show(_call: OperationRequest, workspace: WorkspaceRecord) -> dict[str, JsonValue]:
    data = wire.data(workspace)
    del data["is_default"]
    return data


WORKSPACES = CrudRoutes(
    path="/workspaces/{id}",
    name="Workspace",
    plural="Workspaces",
    tag="Workspaces",
    model=Workspace,
    find=lambda call, id_or_slug: workspaces.find(call.db, id_or_slug),
    show=_show,
)


def _create(call: OperationRequest) -> str:
    request = call.body_as(CreateWorkspaceRequest)
    workspace_id = str(uuid.uuid4())
    _refuse_unknown_tools(request)
    made: dict[str, Any] = {name: _stored(request, name) for name in type(request).model_fields}
    with _slug_refused():
        workspaces.add(
            call.db,
            WorkspaceRecord(
                id=workspace_id,
                is_default=False,
                created_at=call.now,
                created_by=call.known_caller.user_id,
                updated_at=None,
                default_guardrail_id=workspaces.default_guardrail_id(workspace_id),
                **made,
            ),
        )
    return workspace_id


def _update(call: OperationRequest) -> str:
    request = call.body_as(UpdateWorkspaceRequest)
    workspace = WORKSPACES.found(call)
    _refuse_unknown_tools(request)
    changes = {name: _stored(request, name) for name in request.model_fields_set}
    with _slug_refused():
        workspaces.change(call.db, workspace, changes, call.now)
    return workspace.id


def _delete(call: OperationRequest, workspace: WorkspaceRecord) -> None:
    if workspace.is_default and not call.query[_CONFIRM]:
        raise invalid([Problem(_CONFIRM, "must be true to delete the default workspace")])
    active = keys.count_active(call.db, workspace.id, call.now)
    if active:
        what = "1 active API key" if active == 1 else f"{active} active API keys"
        message = f"The workspace still has {what}: disable, delete or move them first"
        raise Refusal(400, message)
    workspaces.remove(call.db, workspace.id)


def _refuse_unknown_tools(request: CreateWorkspaceRequest | UpdateWorkspaceRequest) -> None:
    """A client may know tools that came later, this service knows its own."""
    problems = [
        Problem(f"disabled_server_tools.{index}", "is not a server tool")
        for index, tool in enumerate(request.disabled_server_tools or ())
        if tool not in SERVER_TOOLS
    ]
    if problems:
        raise invalid(problems)


def _stored(request: CreateWorkspaceRequest | UpdateWorkspaceRequest, name: str) -> Any:
    """A field as the store keeps it: lists as tuples; no server tool disabled is none at all."""
    value = getattr(request, name)
    if name == "disabled_server_tools" and not value:
        return None
    return tuple(value) if isinstance(value, list) else value


@contextmanager
def _slug_refused() -> Iterator[None]:
    try:
        yield
    except SlugTakenError:
        raise invalid([Problem("slug", "another workspace has it already")]) from None


def _add_members(call: OperationRequest) -> JsonValue:
    """Whoever is a member already counts as updated: the role is the organization's anyway."""
    workspace = workspace_in_path(call)
    user_ids = call.body_as(ChangeMembersRequest).user_ids
    outsiders = organization.not_members(call.db, user_ids)
    if outsiders:
        message = f"not members of the organization: {named(outsiders)}"
        raise invalid([Problem("user_ids", message)])
    if not workspace.is_default:
        joining = {str(uuid.uuid4()): user_id for user_id in user_ids}
        organization.join(call.db, workspace.id, joining, call.now)
    added = organization.memberships(call.db, workspace, user_ids)
    return {"added_count": len(added), "data": [wire.data(member) for member in added]}


def _remove_members(call: OperationRequest) -> JsonValue:
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


_MEMBERS: PagedList[Member] = PagedList(
    organization.members_of,
    organization.count_members,
    lambda _call, member: wire.data(member),
    scope=lambda call: (workspace_in_path(call),),
)
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


def _show_budget(budget: BudgetRecord) -> dict[str, JsonValue]:
    return wire.data(budget, *Budget.model_fields)


def _list_budgets(call: OperationRequest) -> JsonValue:
    workspace = workspace_in_path(call)
    found = budgets.of_workspace(call.db, workspace.id)
    return {
        "data": [_show_budget(budget) for budget in found.values()],
        _BYOK: workspace.include_byok_in_budgets,
    }


def _get_budget(call: OperationRequest) -> JsonValue:
    interval = _interval(call)
    workspace = workspace_in_path(call)
    budget = budgets.of_workspace(call.db, workspace.id).get(interval)
    if budget is None:
        raise not_found()
    return {"data": _show_budget(budget), _BYOK: workspace.include_byok_in_budgets}


def _put_budget(call: OperationRequest) -> JsonValue:
    request = call.body_as(PutBudgetRequest)
    interval = _interval(call)
    workspace = workspace_in_path(call)
    limits: dict[str, Decimal] = {
        other: budget.limit_usd
        for other, budget in budgets.of_workspace(call.db, workspace.id).items()
    }
    conflict = budget_conflict({**limits, interval: request.limit_usd})
    if conflict:
        raise invalid([Problem("limit_usd", conflict)])
    budgets.put(call.db, workspace.id, interval, request.limit_usd, call.now)
    if _BYOK in request.model_fields_set:
        included = request.include_byok_in_budgets
        workspaces.count_byok_in_budgets(call.db, workspace.id, included=included)
    return _get_budget(call)


def _delete_budget(call: OperationRequest) -> JsonValue:
    interval = _interval(call)
    budgets.remove(call.db, workspace_in_path(call).id, interval)
    return {"deleted": True}


def _interval(call: OperationRequest) -> BudgetInterval:
    """The interval that the path names."""
    for interval in BUDGET_INTERVALS:
        if interval == call.path["interval"]:
            return interval
    raise invalid([Problem("interval", "must be one of " + ", ".join(BUDGET_INTERVALS))])


_BUDGET = "/workspaces/{id}/budgets/{interval}"
_BESIDE_BUDGETS = {_BYOK: {"type": "boolean"}}

_BUDGETS = (
    Operation(
        method="GET",
        path="/workspaces/{id}/budgets",
        operation_id="listWorkspaceBudgets",
        summary="List the budgets of a workspace, the shortest interval first",
        tag="Workspaces",
        handler=_list_budgets,
        answer=many(Budget, _BESIDE_BUDGETS),
    ),
    Operation(
        method="GET",
        path=_BUDGET,
        operation_id="getWorkspaceBudget",
        summary="Get the budget of an interval: daily, weekly, monthly or lifetime",
        tag="Workspaces",
        handler=_get_budget,
        answer=one(Budget, _BESIDE_BUDGETS),
        refusals=(400,),
    ),
    Operation(
        method="PUT",
        path=_BUDGET,
        operation_id="putWorkspaceBudget",
        summary="Create or replace the budget of an interval",
        tag="Workspaces",
        handler=_put_budget,
        answer=one(Budget, _BESIDE_BUDGETS),
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

OPERATIONS = (
    WORKSPACES.list("List workspaces", workspaces.listed, workspaces.count),
    WORKSPACES.create("Create a workspace", CreateWorkspaceRequest, _create),
    WORKSPACES.get("Get a workspace by UUID or slug"),
    WORKSPACES.update("Update a workspace, named by UUID or slug", UpdateWorkspaceRequest, _update),
    WORKSPACES.delete(
        "Delete a workspace, named by UUID or slug, with its budgets and guardrails",
        _delete,
        query=(queries.boolean(_CONFIRM, "needed to delete the default workspace"),),
        # Provider credentials of the workspace go with it.
        erases=True,
    ),
    Operation(
        method="GET",
        path="/workspaces/{id}/members",
        operation_id="listWorkspaceMembers",
        summary="List the members of a workspace; of the default one, the whole organization",
        tag="Workspaces",
        handler=_MEMBERS.answer,
        answer=page(WorkspaceMember),
        query=queries.PAGING,
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
        answer=plain(MembersRemoved.__name__, {"removed_count": {"type": "integer"}}),
        body=ChangeMembersRequest,
    ),
    *_BUDGETS,
)
