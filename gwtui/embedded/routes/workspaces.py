"""Reading workspaces. Extended contract section 2."""

from __future__ import annotations

from pydantic import JsonValue

from gwtui.contract.workspaces import Workspace
from gwtui.embedded import wire
from gwtui.embedded.answers import one, page
from gwtui.embedded.operations import Access, Call, Operation
from gwtui.embedded.queries import PAGING
from gwtui.embedded.refusals import not_found
from gwtui.embedded.store import workspaces
from gwtui.embedded.store.workspaces import WorkspaceRecord


def workspace_data(workspace: WorkspaceRecord) -> dict[str, JsonValue]:
    """The wire form of a workspace."""
    key_ids = workspace.io_logging_api_key_ids
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
    }


def _list(call: Call) -> JsonValue:
    found = workspaces.listed(call.db, offset=call.query["offset"], limit=call.query["limit"])
    return {
        "data": [workspace_data(workspace) for workspace in found],
        "total_count": workspaces.count(call.db),
    }


def _get(call: Call) -> JsonValue:
    workspace = workspaces.find(call.db, call.path["id"])
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
        method="GET",
        path="/workspaces/{id}",
        operation_id="getWorkspace",
        summary="Get a workspace by UUID or slug",
        tag="Workspaces",
        access=Access.MANAGEMENT,
        handler=_get,
        answer=one(Workspace),
    ),
)
