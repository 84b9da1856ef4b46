"""Changes of a workspace's budgets: extended contract section 3. Each budget is one request."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from gwtui.cli.changes.change import ChangeCommand, NothingToDoError, Operand
from gwtui.cli.changes.desk import ChangeContext, tell_left_alone
from gwtui.cli.exits import USAGE, CommandError
from gwtui.contract.budgets import BUDGET_INTERVALS
from gwtui.crud.plan import Plan
from gwtui.domain.diffs import ABSENT
from gwtui.domain.suggestions import among
from gwtui.resources.budgets.form import BudgetLimits
from gwtui.resources.budgets.writes import WorkspaceBudgets, read_uses

_WORKSPACE = Operand("workspace", "its id, slug or name")
_INTERVALS = Operand("interval", f"which ones: {', '.join(BUDGET_INTERVALS)}", many=True)


async def _set(desk: ChangeContext) -> Plan[Any]:
    request = await desk.request(BudgetLimits)
    return await _plan(desk, {name: getattr(request, name) for name in request.model_fields_set})


async def _remove(desk: ChangeContext) -> Plan[Any]:
    intervals = desk.arguments.interval
    unknown = [one for one in intervals if one not in BUDGET_INTERVALS]
    if unknown:
        raise CommandError(
            f"{unknown[0]!r} is no interval{among(unknown[0], BUDGET_INTERVALS)}", USAGE
        )
    return await _plan(desk, dict.fromkeys(intervals))


async def _plan(desk: ChangeContext, given: Mapping[str, Any]) -> Plan[Any]:
    if not given:
        raise CommandError("say what to change with --set or --unset", USAGE)
    space = await desk.workspace(desk.arguments.workspace)
    present = WorkspaceBudgets(space, (await desk.gateway.workspaces.budgets(space.id or "")).items)
    known = present.known
    wanted = {name: value for name, value in given.items() if known.get(name, ABSENT) != value}
    if not wanted:
        raise NothingToDoError("the budgets are like this already")
    tell_left_alone(given.keys() - wanted.keys())
    plan = present.plan(wanted, desk.now)
    uses = await read_uses(desk.gateway, space.id or "", desk.now)
    return replace(plan, effects=(*plan.effects, *uses))


CHANGES = (
    ChangeCommand("set", "set budgets, by interval in USD", _set, (_WORKSPACE,), BudgetLimits),
    ChangeCommand("remove", "take budgets away", _remove, (_WORKSPACE, _INTERVALS)),
)
