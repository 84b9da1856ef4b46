"""Changes of workspaces and of what belongs to one: budgets, members, guardrails.

See sections 2, 3 and 5 of the extended contract.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from gwtui.cli.changes.change import ChangeContext, NothingToDoError, report_unchanged
from gwtui.cli.changes.command import DeclaredChange
from gwtui.cli.changes.crud import declared_changes, plan_context, row_operand
from gwtui.cli.command import Argument
from gwtui.cli.exits import USAGE, CommandError
from gwtui.cli.guardrail_test import VERBS as TESTS
from gwtui.cli.lists.selection import find
from gwtui.contract.organization import OrganizationMember
from gwtui.contract.workspaces import BUDGET_INTERVALS
from gwtui.crud.plan import Plan
from gwtui.crud.plan_text import named
from gwtui.crud.undo import as_one
from gwtui.domain.diffs import ABSENT
from gwtui.resources import assignments
from gwtui.resources.assignments import plan_assign, plan_unassign
from gwtui.resources.budgets import BudgetLimits, WorkspaceBudgets, read_uses
from gwtui.resources.guardrails.resource import GUARDRAILS
from gwtui.resources.guardrails.writes import WRITES as GUARDRAIL_WRITES
from gwtui.resources.keys.resource import KEYS
from gwtui.resources.members import plan_add, plan_remove, roles
from gwtui.resources.uses import items_or_none
from gwtui.resources.workspaces import WORKSPACES, WRITES
from gwtui.watch.feeds.guardrails import Bindings, GuardrailRow, bindings_feed
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


async def _delete_workspace(context: ChangeContext) -> Plan[Any]:
    fresh = await context.workspace(context.arguments.id)
    at = plan_context(context)
    related = await WRITES.read_related(context.gateway, fresh, at)
    plan = WRITES.plan_delete(fresh, at, related)
    if related.is_default and (fresh.slug or fresh.id) not in context.arguments.confirm_default:
        why = f"This is the default workspace: confirm with --confirm-default {fresh.slug}."
        return replace(plan, obstacles=(*plan.obstacles, why))
    return plan


CHANGES = (*declared_changes(WORKSPACES, delete=_delete_workspace, deletes_with=(_CONFIRM,)),)


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
        raise CommandError(
            "set a budget with --set INTERVAL=USD, or remove one with --unset INTERVAL", USAGE
        )
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
    uses = await read_uses(context.gateway, space.id or "")
    return replace(plan, effects=(*plan.effects, *uses))


BUDGETS = (
    DeclaredChange(
        "set",
        "set daily, weekly, monthly or lifetime budgets, in USD",
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
    present = roles(members)
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
            lambda person: (person.user_id, *_called(known.get(person.user_id or ""))),
        )
        for text in dict.fromkeys(context.arguments.person)
    ]
    keys = await items_or_none(context.gateway.keys.list(workspace_id=space.id))
    return plan_remove(space, chosen, keys, names, context.now)


def find_person(people: tuple[OrganizationMember, ...], text: str) -> OrganizationMember:
    """Return a person in the organization by id, name or email address. Raises CommandError."""
    return find(people, text, "person", lambda person: (person.id, *_called(person)))


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


# Guardrails and their assignments ----------------------------------------------------------------


_ASSIGNED = (
    row_operand(GUARDRAILS),
    Argument(
        "--key",
        action="append",
        default=[],
        kind=KEYS.id,
        help="hash or name of a key; may be repeated",
    ),
    Argument(
        "--member",
        action="append",
        default=[],
        kind="organization",
        help="user id, email address or name; may be repeated",
    ),
)


async def _delete_guardrail(context: ChangeContext) -> Plan[Any]:
    row, at = await _existing(context), plan_context(context)
    writes = GUARDRAIL_WRITES.for_row(row, context.dialect)
    fresh = await writes.read(context.gateway, row.identity)
    return writes.plan_delete(fresh, at, await writes.read_related(context.gateway, fresh, at))


async def _assign(context: ChangeContext) -> Plan[Any]:
    _require_target(context)
    row = await _existing(context)
    fresh = await context.gateway.guardrails.get(row.identity)
    bindings = (await bindings_feed(context.session.hub).refresh()).value or Bindings()
    names = {
        identity: guardrail.display_name
        for identity, guardrail in (bindings.guardrails or {}).items()
    }
    plans: list[Plan[Any]] = []
    if context.arguments.key:
        keys = [(await context.row(KEYS, text)).key for text in context.arguments.key]
        called = assignments.key_names(keys)
        plans.append(plan_assign(assignments.KEYS, fresh, called, bindings.keys, names))
    if context.arguments.member:
        people = (await context.gateway.organization.members()).items
        chosen = [find_person(people, text) for text in context.arguments.member]
        shown = {person.id or "": shown_person(person, person.id) for person in chosen}
        called = {user: named(user, shown) for user in shown}
        plans.append(plan_assign(assignments.MEMBERS, fresh, called, bindings.members, names))
    held = {**bindings.by_key, **bindings.by_member}
    if all(held.get(identity) == row.identity for plan in plans for identity in _named(plan)):
        raise NothingToDoError("the guardrail is already assigned to them")
    return as_one("Assign a guardrail in 2 requests", plans)


async def _unassign(context: ChangeContext) -> Plan[Any]:
    _require_target(context)
    row = await _existing(context)
    fresh = await context.gateway.guardrails.get(row.identity)
    plans: list[Plan[Any]] = []
    if context.arguments.key:
        of_keys = (await context.gateway.guardrails.key_assignments(row.identity)).items
        held = [
            find(of_keys, text, "key", lambda person: (person.key_hash, person.key_name))
            for text in context.arguments.key
        ]
        plans.append(plan_unassign(assignments.KEYS, fresh, held, {}))
    if context.arguments.member:
        of_members = (await context.gateway.guardrails.member_assignments(row.identity)).items
        people = (await context.gateway.organization.members()).items
        called = {person.id or "": shown_person(person, person.id) for person in people}
        users = [_user(people, text) for text in context.arguments.member]
        chosen = [
            find(of_members, user, "member", lambda person: (person.user_id,)) for user in users
        ]
        plans.append(plan_unassign(assignments.MEMBERS, fresh, chosen, called))
    return as_one("Unassign a guardrail in 2 requests", plans)


# Helpers ----------------------------------------------------------------------------------------


async def _existing(context: ChangeContext) -> GuardrailRow:
    row = await context.row(GUARDRAILS, context.arguments.id)
    if not row.exists:
        raise CommandError("this default guardrail is not set up: the first update creates it")
    return row


def _user(people: Sequence[Any], text: str) -> str:
    # The text itself is used for people who left the organization.
    try:
        return find_person(tuple(people), text).id or ""
    except CommandError:
        return text


def _named(plan: Plan[Any]) -> list[str]:
    return [str(name) for part in plan.summary.values() if isinstance(part, list) for name in part]


def _require_target(context: ChangeContext) -> None:
    if not (context.arguments.key or context.arguments.member):
        raise CommandError("give at least one --key or --member to assign the guardrail to", USAGE)


GUARDRAIL_CHANGES = (
    *declared_changes(GUARDRAILS, delete=_delete_guardrail),
    DeclaredChange("assign", "assign a guardrail to keys and members", _assign, _ASSIGNED),
    DeclaredChange("unassign", "unassign a guardrail from keys and members", _unassign, _ASSIGNED),
    *TESTS,
)
