"""Changes of workspaces, their budgets and members: extended contract sections 2 and 3."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from gwtui.cli.changes.change import ChangeContext, NothingToDoError, report_unchanged
from gwtui.cli.changes.command import DeclaredChange
from gwtui.cli.changes.crud import changes_of, plan_context
from gwtui.cli.command import Argument
from gwtui.cli.exits import USAGE, CommandError
from gwtui.cli.lists.selection import find
from gwtui.contract.budgets import BUDGET_INTERVALS
from gwtui.contract.organization import OrganizationMember
from gwtui.crud.plan import Plan
from gwtui.domain.diffs import ABSENT
from gwtui.resources.budgets import BudgetLimits, WorkspaceBudgets, read_uses
from gwtui.resources.members import plan_add, plan_remove, user_ids
from gwtui.resources.uses import items_or_none
from gwtui.resources.workspaces import WORKSPACES, WRITES
from gwtui.watch.feeds.workspaces import shown_person

_CONFIRM = Argument(
    "--confirm-default",
    action="append",
    default=[],
    help="slug of the workspace; required to delete the default workspace",
)
_WORKSPACE = Argument("workspace", kind=WORKSPACES.id, help=WRITES.operand)
_INTERVALS = Argument(
    "interval",
    nargs="+",
    values=BUDGET_INTERVALS,
    help=f"which budgets: {', '.join(BUDGET_INTERVALS)}",
)
_PEOPLE = Argument("person", nargs="+", kind="organization", help="user id, email address or name")


async def _delete(context: ChangeContext) -> Plan[Any]:
    fresh = await context.workspace(context.arguments.id)
    at = plan_context(context)
    around = await WRITES.around(context.gateway, fresh, at)
    plan = WRITES.plan_delete(fresh, at, around)
    if around.is_default and (fresh.slug or fresh.id) not in context.arguments.confirm_default:
        why = f"This is the default workspace: confirm with --confirm-default {fresh.slug}."
        return replace(plan, obstacles=(*plan.obstacles, why))
    return plan


CHANGES = (*changes_of(WORKSPACES, delete=_delete, deletes_with=(_CONFIRM,)),)


# Budgets ------------------------------------------------------------------------------------------


async def _set_budgets(context: ChangeContext) -> Plan[Any]:
    request = await context.request(BudgetLimits)
    return await _plan_budgets(
        context, {name: getattr(request, name) for name in request.model_fields_set}
    )


async def _remove_budgets(context: ChangeContext) -> Plan[Any]:
    return await _plan_budgets(context, dict.fromkeys(context.arguments.interval))


async def _plan_budgets(context: ChangeContext, given: Mapping[str, Any]) -> Plan[Any]:
    if not given:
        raise CommandError("give the budgets to change with --set or --unset", USAGE)
    space = await context.workspace(context.arguments.workspace)
    present = WorkspaceBudgets(
        space, (await context.gateway.workspaces.budgets(space.id or "")).items
    )
    known = present.known
    changed = {name: value for name, value in given.items() if known.get(name, ABSENT) != value}
    if not changed:
        raise NothingToDoError("all budgets already have these values")
    report_unchanged(given.keys() - changed.keys())
    plan = present.plan(changed, context.now)
    uses = await read_uses(context.gateway, space.id or "", context.now)
    return replace(plan, effects=(*plan.effects, *uses))


BUDGETS = (
    DeclaredChange(
        "set",
        "set daily, weekly, monthly or total budgets, in USD",
        _set_budgets,
        (_WORKSPACE,),
        BudgetLimits,
    ),
    DeclaredChange("remove", "remove budgets", _remove_budgets, (_WORKSPACE, _INTERVALS)),
)


# Members ------------------------------------------------------------------------------------------


async def _add_members(context: ChangeContext) -> Plan[Any]:
    space = await context.workspace(context.arguments.workspace)
    people = (await context.gateway.organization.members()).items
    chosen = [find_person(people, text) for text in dict.fromkeys(context.arguments.person)]
    members = (await context.gateway.workspaces.members(space.id or "")).items
    present = user_ids(members)
    if all(person.id in present for person in chosen):
        raise NothingToDoError("they are already members")
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
    """Return a person in the organization by id, name or email address. Raises CommandError."""
    return find(people, text, "person", lambda one: (one.id, *_called(one)))


def _called(person: OrganizationMember | None) -> tuple[str | None, ...]:
    return () if person is None else (person.email, person.full_name)


MEMBERS = (
    DeclaredChange(
        "add", "add organization members to a workspace", _add_members, (_WORKSPACE, _PEOPLE)
    ),
    DeclaredChange(
        "remove", "remove people from a workspace", _remove_members, (_WORKSPACE, _PEOPLE)
    ),
)
