"""Workspaces: create, list, get, update, delete. Extended contract section 2."""

from __future__ import annotations

import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from pydantic import JsonValue

from gwtui.contract.request import Problem
from gwtui.contract.values import SERVER_TOOLS
from gwtui.contract.workspaces import CreateWorkspaceRequest, UpdateWorkspaceRequest, Workspace
from gwtui.embedded import queries, wire
from gwtui.embedded.operations import Access, Operation, OperationRequest
from gwtui.embedded.queries import PAGING
from gwtui.embedded.responses import DELETED, Refusal, invalid, not_found, one, page
from gwtui.embedded.routes.scope import workspace_in_path
from gwtui.embedded.store import keys, workspaces
from gwtui.embedded.store.workspaces import SlugTakenError, WorkspaceRecord

_CONFIRM = "confirm_default_workspace_deletion"


def workspace_data(workspace: WorkspaceRecord) -> dict[str, JsonValue]:
    """The wire form of a workspace."""
    key_ids, tools = workspace.io_logging_api_key_ids, workspace.disabled_server_tools
    return {
        "id": workspace.id,
        "name": workspace.name,
        "slug": workspace.slug,
        "description": workspace.description,
        "created_at": wire.timestamp_or_none(workspace.created_at),
        "created_by": workspace.created_by,
        "updated_at": wire.timestamp_or_none(workspace.updated_at),
        "default_image_model": workspace.default_image_model,
        "default_text_model": workspace.default_text_model,
        "default_provider_sort": workspace.default_provider_sort,
        "default_guardrail_id": workspace.default_guardrail_id,
        "io_logging_api_key_ids": None if key_ids is None else list(key_ids),
        "io_logging_sampling_rate": wire.number(workspace.io_logging_sampling_rate),
        "is_data_discount_logging_enabled": workspace.is_data_discount_logging_enabled,
        "is_observability_broadcast_enabled": workspace.is_observability_broadcast_enabled,
        "is_observability_io_logging_enabled": workspace.is_observability_io_logging_enabled,
        "disabled_server_tools": None if tools is None else list(tools),
        "include_byok_in_budgets": workspace.include_byok_in_budgets,
    }


def _list(call: OperationRequest) -> JsonValue:
    found = workspaces.listed(call.db, offset=call.query["offset"], limit=call.query["limit"])
    return {
        "data": [workspace_data(workspace) for workspace in found],
        "total_count": workspaces.count(call.db),
    }


def _create(call: OperationRequest) -> JsonValue:
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
    return _answer(call, workspace_id)


def _get(call: OperationRequest) -> JsonValue:
    return {"data": workspace_data(workspace_in_path(call))}


def _update(call: OperationRequest) -> JsonValue:
    request = call.body_as(UpdateWorkspaceRequest)
    workspace = workspace_in_path(call)
    _refuse_unknown_tools(request)
    changes = {name: _stored(request, name) for name in request.model_fields_set}
    with _slug_refused():
        workspaces.change(call.db, workspace, changes, call.now)
    return _answer(call, workspace.id)


def _delete(call: OperationRequest) -> JsonValue:
    workspace = workspace_in_path(call)
    if workspace.is_default and not call.query[_CONFIRM]:
        raise invalid([Problem(_CONFIRM, "must be true to delete the default workspace")])
    active = keys.count_active(call.db, workspace.id, call.now)
    if active:
        what = "1 active API key" if active == 1 else f"{active} active API keys"
        message = f"The workspace still has {what}: disable, delete or move them first"
        raise Refusal(400, message)
    workspaces.remove(call.db, workspace.id)
    return {"deleted": True}


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


def _answer(call: OperationRequest, workspace_id: str) -> JsonValue:
    workspace = workspaces.get(call.db, workspace_id)
    if workspace is None:
        raise not_found()
    return {"data": workspace_data(workspace)}


OPERATIONS = (
    Operation(
        method="GET",
        path="/workspaces",
        operation_id="listWorkspaces",
        summary="List workspaces",
        tag="Workspaces",
        access=Access.MANAGEMENT,
        handler=_list,
        answer=page(Workspace),
        query=PAGING,
    ),
    Operation(
        method="POST",
        path="/workspaces",
        operation_id="createWorkspace",
        summary="Create a workspace",
        tag="Workspaces",
        access=Access.MANAGEMENT,
        handler=_create,
        answer=one(Workspace),
        status=201,
        body=CreateWorkspaceRequest,
    ),
    Operation(
        method="GET",
        path="/workspaces/{id}",
        operation_id="getWorkspace",
        summary="Get a workspace by UUID or slug",
        tag="Workspaces",
        access=Access.MANAGEMENT,
        handler=_get,
        answer=one(Workspace),
    ),
    Operation(
        method="PATCH",
        path="/workspaces/{id}",
        operation_id="updateWorkspace",
        summary="Update a workspace, named by UUID or slug",
        tag="Workspaces",
        access=Access.MANAGEMENT,
        handler=_update,
        answer=one(Workspace),
        body=UpdateWorkspaceRequest,
    ),
    Operation(
        method="DELETE",
        path="/workspaces/{id}",
        operation_id="deleteWorkspace",
        summary="Delete a workspace, named by UUID or slug, with its budgets and guardrails",
        tag="Workspaces",
        access=Access.MANAGEMENT,
        handler=_delete,
        answer=DELETED,
        query=(queries.boolean(_CONFIRM, "needed to delete the default workspace"),),
        # Provider credentials of the workspace go with it.
        erases=True,
    ),
)
