"""Changes of guardrails, and of what they are assigned to: extended contract section 5."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Any

from gwtui.cli.changes.change import ChangeCommand, ChangeContext, NothingToDoError, Operand
from gwtui.cli.changes.values import complaint
from gwtui.cli.changes.workspaces import find_person
from gwtui.cli.exits import USAGE, CommandError
from gwtui.cli.lists.lookup import find
from gwtui.contract.dialects import DIALECTS
from gwtui.contract.guardrail_rules import never_sent
from gwtui.contract.guardrails import CreateGuardrailRequest, Guardrail, UpdateGuardrailRequest
from gwtui.crud.plan import Plan, bundle_alike
from gwtui.crud.undo import each_back
from gwtui.resources.assignments.plans import (
    plan_assign_keys,
    plan_assign_members,
    plan_unassign_keys,
    plan_unassign_members,
)
from gwtui.resources.guardrails.fields import editable, known_values
from gwtui.resources.guardrails.plans import (
    BoundBy,
    plan_create,
    plan_delete,
    plan_first_update,
    plan_update,
)
from gwtui.resources.guardrails.resource import GUARDRAILS
from gwtui.resources.guardrails.view import display_name
from gwtui.resources.keys.resource import KEYS
from gwtui.resources.organization.resource import shown_person
from gwtui.resources.uses import guardrail_bindings, people_names
from gwtui.watch.feeds.guardrails import Bindings, GuardrailRow, bindings_feed

_GUARDRAIL = Operand("id", "its id, how that begins, or its name")
_EDITABLE = tuple(dict.fromkeys(name for one in DIALECTS.values() for name in editable(one)))
"""What some service lets change; the planner refuses what the present one does not."""
_KEYS = Operand("key", "hash or name of a key; may be repeated", option=True)
_MEMBERS = Operand("member", "user id, mail address or name; may be repeated", option=True)


async def _create(desk: ChangeContext) -> Plan[Guardrail]:
    request = await desk.request(CreateGuardrailRequest)
    _refuse(never_sent(request, desk.dialect))
    return plan_create(request, desk.dialect, desk.now, await desk.workspace_names(default=True))


async def _update(desk: ChangeContext) -> Plan[Guardrail]:
    row = await desk.row(GUARDRAILS, desk.arguments.id)
    fresh = await desk.gateway.guardrails.get(row.identity) if row.made else row.guardrail
    request = await desk.update(UpdateGuardrailRequest, known_values(fresh, desk.dialect))
    _refuse(never_sent(request, desk.dialect))
    if not row.made and row.workspace is not None:
        return plan_first_update(row.workspace, request, desk.dialect, desk.now)
    return plan_update(fresh, request, await _reach(desk, row), desk.dialect, desk.now)


async def _delete(desk: ChangeContext) -> Plan[Any]:
    row = await _made(desk)
    fresh = await desk.gateway.guardrails.get(row.identity)
    return plan_delete(fresh, await _reach(desk, row))


async def _assign(desk: ChangeContext) -> Plan[Any]:
    _refuse_nobody(desk)
    row = await _made(desk)
    fresh = await desk.gateway.guardrails.get(row.identity)
    bindings = (await bindings_feed(desk.session.hub).refresh()).value or Bindings()
    names = {identity: display_name(one) for identity, one in (bindings.guardrails or {}).items()}
    plans: list[Plan[Any]] = []
    if desk.arguments.key:
        keys = [(await desk.row(KEYS, wanted)).key for wanted in desk.arguments.key]
        plans.append(plan_assign_keys(fresh, keys, bindings.keys, names))
    if desk.arguments.member:
        people = (await desk.gateway.organization.members()).items
        found = [find_person(people, wanted) for wanted in desk.arguments.member]
        called = {one.id or "": shown_person(one, one.id) for one in found}
        plans.append(plan_assign_members(fresh, [*called], bindings.members, names, called))
    held = {**bindings.by_key(), **bindings.by_member()}
    if all(held.get(identity) == row.identity for plan in plans for identity in _named(plan)):
        raise NothingToDoError("it is assigned to them already")
    return _one(plans, "Assign a guardrail in 2 requests")


async def _unassign(desk: ChangeContext) -> Plan[Any]:
    _refuse_nobody(desk)
    row = await _made(desk)
    fresh = await desk.gateway.guardrails.get(row.identity)
    plans: list[Plan[Any]] = []
    if desk.arguments.key:
        of_keys = (await desk.gateway.guardrails.key_assignments(row.identity)).items
        plans.append(
            plan_unassign_keys(
                fresh,
                [
                    find(of_keys, wanted, "key", lambda one: (one.key_hash, one.key_name))
                    for wanted in desk.arguments.key
                ],
            )
        )
    if desk.arguments.member:
        of_members = (await desk.gateway.guardrails.member_assignments(row.identity)).items
        people = (await desk.gateway.organization.members()).items
        called = {one.id or "": shown_person(one, one.id) for one in people}
        users = [_user(people, wanted) for wanted in desk.arguments.member]
        chosen = [find(of_members, user, "member", lambda one: (one.user_id,)) for user in users]
        plans.append(plan_unassign_members(fresh, chosen, called))
    return _one(plans, "Take a guardrail away in 2 requests")


# What they share --------------------------------------------------------------------------------


async def _made(desk: ChangeContext) -> GuardrailRow:
    row = await desk.row(GUARDRAILS, desk.arguments.id)
    if not row.made:
        raise CommandError(
            "this default guardrail is not made yet: it comes to exist with its first update"
        )
    return row


async def _reach(desk: ChangeContext, row: GuardrailRow) -> BoundBy:
    """Whom the guardrail binds now; what cannot be read in time is not known."""
    (keys, members), people = await asyncio.gather(
        guardrail_bindings(desk.gateway, row.identity), people_names(desk.gateway)
    )
    return BoundBy(keys, members, row.workspace if row.is_default else None, people or {})


def _user(people: Sequence[Any], wanted: str) -> str:
    """A user id; somebody who left the organization goes by that alone."""
    try:
        return find_person(tuple(people), wanted).id or ""
    except CommandError:
        return wanted


def _named(plan: Plan[Any]) -> list[str]:
    """The keys or members that an assignment is for."""
    return [str(one) for part in plan.summary.values() if isinstance(part, list) for one in part]


def _one(plans: Sequence[Plan[Any]], title: str) -> Plan[Any]:
    if len(plans) == 1:
        return plans[0]
    return bundle_alike(title, plans, each_back(plans))


def _refuse(problems: Sequence[Any]) -> None:
    if problems:
        raise complaint(problems)


def _refuse_nobody(desk: ChangeContext) -> None:
    if not (desk.arguments.key or desk.arguments.member):
        raise CommandError("say for what with --key or --member", USAGE)


CHANGES = (
    ChangeCommand("create", "make one", _create, model=CreateGuardrailRequest, makes=True),
    ChangeCommand(
        "update",
        "change its fields; a default one comes to exist with that",
        _update,
        (_GUARDRAIL,),
        UpdateGuardrailRequest,
        _EDITABLE,
    ),
    ChangeCommand("delete", "delete it for good", _delete, (_GUARDRAIL,)),
    ChangeCommand("assign", "bind keys and members", _assign, (_GUARDRAIL, _KEYS, _MEMBERS)),
    ChangeCommand(
        "unassign", "take it from keys and members", _unassign, (_GUARDRAIL, _KEYS, _MEMBERS)
    ),
)
