"""Changes of workspaces: contract "POST /workspaces", extended contract section 2."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from gwtui.cli.changes.change import Change, Operand
from gwtui.cli.changes.desk import Desk
from gwtui.contract.workspaces import CreateWorkspaceRequest, UpdateWorkspaceRequest, Workspace
from gwtui.crud.plan import Plan
from gwtui.resources.uses import workspace_contents, workspace_uses
from gwtui.resources.workspaces.plans import (
    EDITABLE,
    known_values,
    plan_create,
    plan_delete,
    plan_update,
)
from gwtui.watch.feeds.workspaces import DEFAULT_SLUG, default_workspace_id

_WORKSPACE = Operand("id", "its id, slug or name")
_CONFIRM = Operand("confirm-default", "its slug, where it is the default workspace", option=True)


async def _create(desk: Desk) -> Plan[Workspace]:
    return plan_create(await desk.request(CreateWorkspaceRequest))


async def _update(desk: Desk) -> Plan[Workspace]:
    fresh = await desk.workspace(desk.arguments.id)
    request = await desk.update(UpdateWorkspaceRequest, known_values(fresh))
    contents = await workspace_contents(desk.gateway, fresh.id or "")
    return plan_update(fresh, request, workspace_uses(contents, desk.now))


async def _delete(desk: Desk) -> Plan[Any]:
    fresh = await desk.workspace(desk.arguments.id)
    contents = await workspace_contents(desk.gateway, fresh.id or "")
    default = await default_workspace_id(desk.gateway)
    is_default = fresh.slug == DEFAULT_SLUG if default is None else default == fresh.id
    plan = plan_delete(fresh, contents, desk.now, is_default=is_default)
    if is_default and (fresh.slug or fresh.id) not in desk.arguments.confirm_default:
        why = f"It is the default workspace: confirm that with --confirm-default {fresh.slug}."
        return replace(plan, obstacles=(*plan.obstacles, why))
    return plan


CHANGES = (
    Change("create", "make one", _create, model=CreateWorkspaceRequest, makes=True),
    Change("update", "change its fields", _update, (_WORKSPACE,), UpdateWorkspaceRequest, EDITABLE),
    Change("delete", "delete it for good", _delete, (_WORKSPACE, _CONFIRM)),
)
