"""Changes of workspaces, of their budgets and their members: extended contract sections 2 and 3."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from gwtui.cli.changes.change import (
    ChangeCommand,
    ChangeContext,
    NothingToDoError,
    Operand,
    report_unchanged,
)
from gwtui.cli.changes.crud import changes_of, plan_context
from gwtui.cli.exits import USAGE, CommandError
from gwtui.cli.lists.lookup import find
from gwtui.contract.budgets import BUDGET_INTERVALS
from gwtui.contract.organization import OrganizationMember
from gwtui.crud.plan import Plan
from gwtui.domain.diffs import ABSENT
from gwtui.domain.lookup import among
from gwtui.resources.budgets.form import BudgetLimits
from gwtui.resources.budgets.writes import WorkspaceBudgets, read_uses
from gwtui.resources.members.writes import plan_add, plan_remove, user_ids
from gwtui.resources.uses import items_or_none
from gwtui.resources.workspaces.resource import WORKSPACES
from gwtui.resources.workspaces.writes import WRITES
from gwtui.watch.feeds.organization import shown_person

_ITSELF = Operand("id", WRITES.operand)
_CONFIRM = Operand("confirm-default", "its slug, where it is the default workspace", option=True)
_WORKSPACE = Operand("workspace", WRITES.operand)
_INTERVALS = Operand("interval", f"which ones: {', '.join(BUDGET_INTERVALS)}", many=True)
_PEOPLE = Operand("person", "user id, mail address or name", many=True)


async def _delete(context: ChangeContext) -> Plan[Any]:
    fresh = await context.workspace(context.arguments.id)
    at = plan_context(context)
    around = await WRITES.around(context.gateway, fresh, at)
    plan = WRITES.plan_delete(fresh, at, around)
    if around.is_default and (fresh.slug or fresh.id) not in context.arguments.confirm_default:
        why = f"It is the default workspace: confirm that with --confirm-default {fresh.slug}."
        return replace(plan, obstacles=(*plan.obstacles, why))
    return plan


CHANGES = (
    *(one for one in changes_of(WORKSPACES) if one.name != "delete"),
    ChangeCommand("delete", "delete it for good", _delete, (_ITSELF, _CONFIRM), many=WORKSPACES),
)


# Budgets ------------------------------------------------------------------------------------------


async def _set_budgets(context: ChangeContext) -> Plan[Any]:
    request = await context.request(BudgetLimits)
    return await _plan_budgets(
        context, {name: getattr(request, name) for name in request.model_fields_set}
    )


async def _remove_budgets(context: ChangeContext) -> Plan[Any]:
    intervals = context.arguments.interval
    unknown = [one for one in intervals if one not in BUDGET_INTERVALS]
    if unknown:
        raise CommandError(
            f"{unknown[0]!r} is no interval{among(unknown[0], BUDGET_INTERVALS)}", USAGE
        )
    return await _plan_budgets(context, dict.fromkeys(intervals))


async def _plan_budgets(context: ChangeContext, given: Mapping[str, Any]) -> Plan[Any]:
    if not given:
        raise CommandError("say what to change with --set or --unset", USAGE)
    space = await context.workspace(context.arguments.workspace)
    present = WorkspaceBudgets(
        space, (await context.gateway.workspaces.budgets(space.id or "")).items
    )
    known = present.known
    changed = {name: value for name, value in given.items() if known.get(name, ABSENT) != value}
    if not changed:
        raise NothingToDoError("the budgets are like this already")
    report_unchanged(given.keys() - changed.keys())
    plan = present.plan(changed, context.now)
    uses = await read_uses(context.gateway, space.id or "", context.now)
    return replace(plan, effects=(*plan.effects, *uses))


BUDGETS = (
    ChangeCommand(
        "set", "set budgets, by interval in USD", _set_budgets, (_WORKSPACE,), BudgetLimits
    ),
    ChangeCommand("remove", "take budgets away", _remove_budgets, (_WORKSPACE, _INTERVALS)),
)


# Members ------------------------------------------------------------------------------------------


async def _add_members(context: ChangeContext) -> Plan[Any]:
    space = await context.workspace(context.arguments.workspace)
    people = (await context.gateway.organization.members()).items
    chosen = [find_person(people, text) for text in dict.fromkeys(context.arguments.person)]
    members = (await context.gateway.workspaces.members(space.id or "")).items
    present = user_ids(members)
    if all(person.id in present for person in chosen):
        raise NothingToDoError("they are members already")
    return plan_add(space, chosen, present)


async def _remove_members(context: ChangeContext) -> Plan[Any]:
    space = await context.workspace(context.arguments.workspace)
    members = (await context.gateway.workspaces.members(space.id or "")).items
    people = (await context.gateway.organization.members()).items
    known = {person.id: person for person in people if person.id}
    names = {user: shown_person(person, user) for user, person in known.items()}
    chosen = [
        find(
            members,
            text,
            "member",
            lambda one: (one.user_id, *_called(known.get(one.user_id or ""))),
        )
        for text in dict.fromkeys(context.arguments.person)
    ]
    keys = await items_or_none(context.gateway.keys.list(workspace_id=space.id))
    return plan_remove(space, chosen, keys, names, context.now)


def find_person(people: tuple[OrganizationMember, ...], text: str) -> OrganizationMember:
    """Somebody in the organization. Raises CommandError."""
    return find(people, text, "person", lambda one: (one.id, *_called(one)))


def _called(person: OrganizationMember | None) -> tuple[str | None, ...]:
    return () if person is None else (person.email, person.full_name)


MEMBERS = (
    ChangeCommand("add", "add people of the organization", _add_members, (_WORKSPACE, _PEOPLE)),
    ChangeCommand("remove", "remove people from it", _remove_members, (_WORKSPACE, _PEOPLE)),
)
