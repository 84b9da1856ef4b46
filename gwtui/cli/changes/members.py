"""Changes of a workspace's members: extended contract section 2."""

from __future__ import annotations

from typing import Any

from gwtui.cli.changes.change import ChangeCommand, NothingToDoError, Operand
from gwtui.cli.changes.desk import ChangeContext
from gwtui.cli.lists.lookup import find
from gwtui.contract.organization import OrganizationMember
from gwtui.crud.plan import Plan
from gwtui.resources.members.writes import plan_add, plan_remove, user_ids
from gwtui.resources.organization.resource import shown_person
from gwtui.resources.uses import items_soon

_WORKSPACE = Operand("workspace", "its id, slug or name")
_PEOPLE = Operand("person", "user id, mail address or name", many=True)


async def _add(desk: ChangeContext) -> Plan[Any]:
    space = await desk.workspace(desk.arguments.workspace)
    people = (await desk.gateway.organization.members()).items
    chosen = [find_person(people, wanted) for wanted in dict.fromkeys(desk.arguments.person)]
    members = (await desk.gateway.workspaces.members(space.id or "")).items
    present = user_ids(members)
    if all(person.id in present for person in chosen):
        raise NothingToDoError("they are members already")
    return plan_add(space, chosen, present)


async def _remove(desk: ChangeContext) -> Plan[Any]:
    space = await desk.workspace(desk.arguments.workspace)
    members = (await desk.gateway.workspaces.members(space.id or "")).items
    people = (await desk.gateway.organization.members()).items
    known = {person.id: person for person in people if person.id}
    names = {user: shown_person(person, user) for user, person in known.items()}
    chosen = [
        find(
            members,
            wanted,
            "member",
            lambda one: (one.user_id, *_called(known.get(one.user_id or ""))),
        )
        for wanted in dict.fromkeys(desk.arguments.person)
    ]
    keys = await items_soon(desk.gateway.keys.list(workspace_id=space.id))
    return plan_remove(space, chosen, keys, names, desk.now)


def find_person(people: tuple[OrganizationMember, ...], wanted: str) -> OrganizationMember:
    """Somebody in the organization. Raises CommandError."""
    return find(people, wanted, "person", lambda one: (one.id, *_called(one)))


def _called(person: OrganizationMember | None) -> tuple[str | None, ...]:
    return () if person is None else (person.email, person.full_name)


CHANGES = (
    ChangeCommand("add", "add people of the organization", _add, (_WORKSPACE, _PEOPLE)),
    ChangeCommand("remove", "remove people from it", _remove, (_WORKSPACE, _PEOPLE)),
)
