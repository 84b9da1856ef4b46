"""Changes of guardrails and their assignments: extended contract section 5."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from gwtui.cli.changes.change import ChangeContext, NothingToDoError
from gwtui.cli.changes.command import DeclaredChange
from gwtui.cli.changes.crud import changes_of, plan_context, row_operand
from gwtui.cli.changes.workspaces import find_person
from gwtui.cli.command import Argument
from gwtui.cli.exits import USAGE, CommandError
from gwtui.cli.guardrail_test import VERBS as TESTS
from gwtui.cli.lists.selection import find
from gwtui.crud.plan import Plan
from gwtui.crud.plan_text import named
from gwtui.crud.undo import as_one
from gwtui.resources import assignments
from gwtui.resources.assignments import plan_assign, plan_unassign
from gwtui.resources.guardrails.resource import GUARDRAILS
from gwtui.resources.guardrails.writes import WRITES
from gwtui.resources.keys.resource import KEYS
from gwtui.watch.feeds.guardrails import Bindings, GuardrailRow, bindings_feed
from gwtui.watch.feeds.workspaces import shown_person

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


async def _delete(context: ChangeContext) -> Plan[Any]:
    row, at = await _existing(context), plan_context(context)
    writes = WRITES.for_row(row, context.dialect)
    fresh = await writes.read(context.gateway, row.identity)
    return writes.plan_delete(fresh, at, await writes.around(context.gateway, fresh, at))


async def _assign(context: ChangeContext) -> Plan[Any]:
    _require_target(context)
    row = await _existing(context)
    fresh = await context.gateway.guardrails.get(row.identity)
    bindings = (await bindings_feed(context.session.hub).refresh()).value or Bindings()
    names = {identity: one.display_name for identity, one in (bindings.guardrails or {}).items()}
    plans: list[Plan[Any]] = []
    if context.arguments.key:
        keys = [(await context.row(KEYS, text)).key for text in context.arguments.key]
        called = assignments.key_names(keys)
        plans.append(plan_assign(assignments.KEYS, fresh, called, bindings.keys, names))
    if context.arguments.member:
        people = (await context.gateway.organization.members()).items
        chosen = [find_person(people, text) for text in context.arguments.member]
        shown = {one.id or "": shown_person(one, one.id) for one in chosen}
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
            find(of_keys, text, "key", lambda one: (one.key_hash, one.key_name))
            for text in context.arguments.key
        ]
        plans.append(plan_unassign(assignments.KEYS, fresh, held, {}))
    if context.arguments.member:
        of_members = (await context.gateway.guardrails.member_assignments(row.identity)).items
        people = (await context.gateway.organization.members()).items
        called = {person.id or "": shown_person(person, person.id) for person in people}
        users = [_user(people, text) for text in context.arguments.member]
        chosen = [find(of_members, user, "member", lambda one: (one.user_id,)) for user in users]
        plans.append(plan_unassign(assignments.MEMBERS, fresh, chosen, called))
    return as_one("Unassign a guardrail in 2 requests", plans)


# Helpers ----------------------------------------------------------------------------------------


async def _existing(context: ChangeContext) -> GuardrailRow:
    row = await context.row(GUARDRAILS, context.arguments.id)
    if not row.exists:
        raise CommandError(
            "this default guardrail does not exist yet: it is created on the first update"
        )
    return row


def _user(people: Sequence[Any], text: str) -> str:
    # The text itself is used for people who left the organization.
    try:
        return find_person(tuple(people), text).id or ""
    except CommandError:
        return text


def _named(plan: Plan[Any]) -> list[str]:
    return [str(one) for part in plan.summary.values() if isinstance(part, list) for one in part]


def _require_target(context: ChangeContext) -> None:
    if not (context.arguments.key or context.arguments.member):
        raise CommandError("name what to assign with --key or --member", USAGE)


CHANGES = (
    *changes_of(GUARDRAILS, delete=_delete),
    DeclaredChange("assign", "assign a guardrail to keys and members", _assign, _ASSIGNED),
    DeclaredChange("unassign", "unassign a guardrail from keys and members", _unassign, _ASSIGNED),
    *TESTS,
)
