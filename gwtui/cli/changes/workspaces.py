"""Changes of workspaces: deleting the default one wants its slug typed."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from gwtui.cli.changes.change import ChangeCommand, Operand
from gwtui.cli.changes.crud import changes_of, plan_context
from gwtui.cli.changes.desk import ChangeContext
from gwtui.crud.plan import Plan
from gwtui.resources.workspaces.resource import WORKSPACES
from gwtui.resources.workspaces.writes import WRITES

_WORKSPACE = Operand("id", WRITES.operand)
_CONFIRM = Operand("confirm-default", "its slug, where it is the default workspace", option=True)


async def _delete(desk: ChangeContext) -> Plan[Any]:
    fresh = await desk.workspace(desk.arguments.id)
    context = plan_context(desk)
    around = await WRITES.around(desk.gateway, fresh, context)
    plan = WRITES.plan_delete(fresh, context, around)
    if around.is_default and (fresh.slug or fresh.id) not in desk.arguments.confirm_default:
        why = f"It is the default workspace: confirm that with --confirm-default {fresh.slug}."
        return replace(plan, obstacles=(*plan.obstacles, why))
    return plan


CHANGES = (
    *(one for one in changes_of(WORKSPACES) if one.name != "delete"),
    ChangeCommand("delete", "delete it for good", _delete, (_WORKSPACE, _CONFIRM)),
)
