"""The plan of each change of what guardrails are assigned to: extended contract section 5.

A key, and a member, holds at most one directly assigned guardrail: assigning replaces.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from gwtui.client.errors import NotFoundError
from gwtui.client.gateway import GatewayClient
from gwtui.contract.guardrails import (
    AssignKeysRequest,
    AssignMembersRequest,
    Guardrail,
    KeyAssignment,
    MemberAssignment,
)
from gwtui.contract.keys import ApiKey
from gwtui.contract.request import RequestModel
from gwtui.crud.plan import Change, Plan, Undo, bundle_alike
from gwtui.crud.text import Names, count, identity_of, named, quoted, several
from gwtui.crud.undo import CannotUndoError, or_nothing
from gwtui.domain.cells import UNKNOWN
from gwtui.resources.assignments.actions import RESOURCE
from gwtui.resources.guardrails.writes import WRITES as GUARDRAILS

Held = Mapping[str, str | None]
"""Key hash or user id -> the guardrail that it has; one that is not there has none."""


@dataclass(frozen=True, slots=True)
class AssignmentKind:
    """Keys or members: how their assignments are read and changed."""

    noun: str
    held: Callable[[GatewayClient], Awaitable[Held]]
    request: Callable[[list[str]], RequestModel]
    assign: Callable[[GatewayClient, str, Any], Awaitable[int]]
    unassign: Callable[[GatewayClient, str, Any], Awaitable[int]]


async def _held_by_keys(client: GatewayClient) -> Held:
    found = (await client.guardrails.key_assignments(None)).items
    return {one.key_hash: one.guardrail_id for one in found if one.key_hash}


async def _held_by_members(client: GatewayClient) -> Held:
    found = (await client.guardrails.member_assignments(None)).items
    return {one.user_id: one.guardrail_id for one in found if one.user_id}


KEYS = AssignmentKind(
    "key",
    _held_by_keys,
    lambda hashes: AssignKeysRequest(key_hashes=hashes),
    lambda client, guardrail, request: client.guardrails.assign_keys(guardrail, request),
    lambda client, guardrail, request: client.guardrails.unassign_keys(guardrail, request),
)
MEMBERS = AssignmentKind(
    "member",
    _held_by_members,
    lambda users: AssignMembersRequest(member_user_ids=users),
    lambda client, guardrail, request: client.guardrails.assign_members(guardrail, request),
    lambda client, guardrail, request: client.guardrails.unassign_members(guardrail, request),
)


def back_to(
    kind: AssignmentKind, given: str | None, called: Mapping[str, str], before: Held
) -> Undo[int]:
    """Gives the keys or members of ``called`` (identity -> name) what they held ``before``.

    ``given`` is the guardrail that the change gave them, None for none: whoever holds another one
    by now was changed by somebody else, and nothing is undone.
    """

    async def way(client: GatewayClient, _now: datetime) -> Plan[Any]:
        present = await kind.held(client)
        moved = [called[one] for one in called if present.get(one) != given]
        if moved:
            what = several(moved)
            raise CannotUndoError(f"Somebody else changed since what {what} holds.")
        groups: dict[str | None, list[str]] = {}
        for identity in called:
            groups.setdefault(before.get(identity), []).append(identity)
        groups.pop(given, None)
        if not groups:
            raise CannotUndoError("It is as it was before already.")
        plans = [
            await _plan(client, kind, given, guardrail, {one: called[one] for one in identities})
            for guardrail, identities in groups.items()
        ]
        if len(plans) == 1:
            return plans[0]
        return bundle_alike("", plans)

    return lambda _answer: way


async def _plan(
    client: GatewayClient,
    kind: AssignmentKind,
    given: str | None,
    back: str | None,
    called: Mapping[str, str],
) -> Plan[int]:
    """One request for those that go back to the same guardrail, or to none."""
    now_held = await _name(client, given) if given else "no guardrail"
    if back is None:
        target, name = given or "", "no guardrail"
    else:
        target, name = back, GUARDRAILS.name(await _still_there(client, back, called))
    request = kind.request(list(called))
    change = kind.unassign if back is None else kind.assign
    return Plan(
        action="assignments.remove" if back is None else f"guardrails.assign_{kind.noun}s",
        title=f"Give {count(len(called), kind.noun)} back {name}",
        resource=RESOURCE,
        identity=target,
        send=lambda client: change(client, target, request),
        changes=tuple(Change(one, now_held, name) for one in called.values()),
        summary=request.body(),
        before=dict.fromkeys(called, given),
    )


async def _still_there(client: GatewayClient, back: str, called: Mapping[str, str]) -> Guardrail:
    try:
        return await client.guardrails.get(back)
    except NotFoundError:
        what = several(list(called.values()))
    raise CannotUndoError(f"The guardrail that {what} held before no longer exists.")


async def _name(client: GatewayClient, identity: str) -> str:
    guardrail = await or_nothing(client.guardrails.get(identity))
    return GUARDRAILS.name(guardrail or Guardrail.model_validate({"id": identity}))


_MOST_CHANGES = 20
"""Keys or members that a plan lists one by one."""
_UNREAD = "What they have now could not be read: whatever guardrail one of them has is replaced."


def plan_assign_keys(
    guardrail: Guardrail,
    keys: Sequence[ApiKey],
    current: Iterable[KeyAssignment] | None,
    guardrails: Names,
) -> Plan[int]:
    """One POST .../assignments/keys. ``keys`` is not empty and each has a hash.

    ``current`` are the account's key assignments, None where they could not be read; ``guardrails``
    names guardrails.
    """
    called = {identity_of(k.hash, "key"): quoted(k.name, k.label, k.hash) for k in keys}
    held = None if current is None else {a.key_hash or "": a.guardrail_id for a in current}
    return _assign(KEYS, guardrail, called, held, guardrails)


def plan_assign_members(
    guardrail: Guardrail,
    users: Sequence[str],
    current: Iterable[MemberAssignment] | None,
    guardrails: Names,
    people: Names,
) -> Plan[int]:
    """One POST .../assignments/members. ``users`` are user ids, at least one.

    ``current`` are the account's member assignments, None where they could not be read;
    ``guardrails`` names guardrails, ``people`` users.
    """
    called = {user: named(user, people) for user in users}
    held = None if current is None else {a.user_id or "": a.guardrail_id for a in current}
    return _assign(MEMBERS, guardrail, called, held, guardrails)


def _assign(
    kind: AssignmentKind,
    guardrail: Guardrail,
    called: Mapping[str, str],
    held: Held | None,
    guardrails: Names,
) -> Plan[int]:
    """``called`` are the keys or members with their names, ``held`` what all of them have now."""
    identity = identity_of(guardrail.id, "guardrail")
    request = kind.request(list(called))
    return Plan(
        action=f"guardrails.assign_{kind.noun}s",
        title=f"Assign guardrail {GUARDRAILS.name(guardrail)} to {count(len(called), kind.noun)}",
        resource=RESOURCE,
        identity=identity,
        send=lambda client: kind.assign(client, identity, request),
        changes=_changes(called, held, identity, guardrails),
        effects=_effects(kind.noun, called, held, identity, guardrails),
        summary=request.body(),
        before=_held_before(called, held),
        undo=None if held is None else back_to(kind, identity, called, held),
    )


def plan_unassign_keys(guardrail: Guardrail, assignments: Sequence[KeyAssignment]) -> Plan[int]:
    """One POST .../assignments/keys/remove for assignments of this guardrail, at least one."""
    called = {
        identity_of(one.key_hash, "assignment"): quoted(one.key_name, one.key_label, one.key_hash)
        for one in assignments
    }
    return _unassign(KEYS, guardrail, called)


def plan_unassign_members(
    guardrail: Guardrail, assignments: Sequence[MemberAssignment], people: Names
) -> Plan[int]:
    """One POST .../assignments/members/remove for assignments of this guardrail, at least one."""
    users = [identity_of(one.user_id, "assignment") for one in assignments]
    return _unassign(MEMBERS, guardrail, {user: named(user, people) for user in users})


def _unassign(kind: AssignmentKind, guardrail: Guardrail, called: Mapping[str, str]) -> Plan[int]:
    identity = identity_of(guardrail.id, "guardrail")
    request = kind.request(list(called))
    held = dict.fromkeys(called, identity)
    return Plan(
        action="assignments.remove",
        title=f"Take guardrail {GUARDRAILS.name(guardrail)} from {count(len(called), kind.noun)}",
        resource=RESOURCE,
        identity=identity,
        send=lambda client: kind.unassign(client, identity, request),
        changes=_taken(called, guardrail),
        effects=(_UNPROTECTED,),
        summary=request.body(),
        before=held,
        undo=back_to(kind, None, called, held),
    )


_UNPROTECTED = "They have no guardrail of their own then; the workspace's default one still binds."


def _held_before(called: Mapping[str, str], held: Held | None) -> Mapping[str, str | None]:
    """What each of them has now; nothing where that could not be read."""
    return {} if held is None else {identity: held.get(identity) for identity in called}


def _changes(
    called: Mapping[str, str], held: Held | None, guardrail: str, names: Names
) -> tuple[Change, ...]:
    """One line for each: what it has now, what it will have."""
    after = named(guardrail, names)
    lines = []
    for identity, name in called.items():
        if held is None:
            before = UNKNOWN
        elif identity in held:
            before = named(held[identity], names)
        else:
            before = "no guardrail"
        lines.append(Change(name, before, after))
    return _capped(lines)


def _effects(
    noun: str, called: Mapping[str, str], held: Held | None, guardrail: str, names: Names
) -> tuple[str, ...]:
    if held is None:
        return (_UNREAD,)
    lines = [
        f"It replaces guardrail {named(held[identity], names)} on {noun} {name}."
        for identity, name in called.items()
        if identity in held and held[identity] != guardrail
    ]
    same = [name for identity, name in called.items() if held.get(identity) == guardrail]
    if same:
        lines.append(f"It is assigned already to {several(same)}.")
    return tuple(lines)


def _taken(called: Mapping[str, str], guardrail: Guardrail) -> tuple[Change, ...]:
    return _capped([Change(name, GUARDRAILS.name(guardrail), "none") for name in called.values()])


def _capped(lines: list[Change]) -> tuple[Change, ...]:
    if len(lines) <= _MOST_CHANGES:
        return tuple(lines)
    rest = Change("…", None, f"and {len(lines) - _MOST_CHANGES} more")
    return (*lines[:_MOST_CHANGES], rest)
