"""Which workspace a request means."""

from __future__ import annotations

from gwtui.contract.request import Problem
from gwtui.embedded.operations import OperationRequest
from gwtui.embedded.responses import invalid, not_found
from gwtui.embedded.store import workspaces
from gwtui.embedded.store.workspaces import WorkspaceRecord


def workspace_of(call: OperationRequest, workspace_id: str | None) -> WorkspaceRecord:
    """The workspace that a body or query names by its UUID, the default one when it names none.

    Raises a 400 when there is no such workspace, or no default one.
    """
    if not workspace_id:
        return default_workspace(call)
    workspace = workspaces.get(call.db, workspace_id)
    if workspace is None:
        raise invalid([Problem("workspace_id", "there is no such workspace")])
    return workspace


def default_workspace(call: OperationRequest) -> WorkspaceRecord:
    """The default workspace. Raises a 400 once it was deleted."""
    workspace = workspaces.default(call.db)
    if workspace is None:
        raise invalid([Problem("workspace_id", "is required, there is no default workspace")])
    return workspace


def workspace_in_path(call: OperationRequest) -> WorkspaceRecord:
    """The workspace that the path names by UUID or slug. Raises a 404 when there is none."""
    workspace = workspaces.find(call.db, call.path["id"])
    if workspace is None:
        raise not_found()
    return workspace
