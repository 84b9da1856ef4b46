"""The plan of each change of what guardrails are assigned to: extended contract section 5.

A key, and a member, holds at most one directly assigned guardrail: assigning replaces.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from gwtui.actions.assignment_undo import KEYS, MEMBERS, Held, Kind, back_to
from gwtui.actions.assignments import RESOURCE
from gwtui.actions.guardrail_words import shown_name
from gwtui.actions.plan import Change, Plan
from gwtui.actions.wording import Names, count, identity_of, named, quoted, several
from gwtui.contract.guardrails import (
    Guardrail,
    KeyAssignment,
    MemberAssignment,
)
from gwtui.contract.keys import ApiKey
from gwtui.domain.cells import UNKNOWN

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
    kind: Kind,
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
        title=f"Assign guardrail {shown_name(guardrail)} to {count(len(called), kind.noun)}",
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


def _unassign(kind: Kind, guardrail: Guardrail, called: Mapping[str, str]) -> Plan[int]:
    identity = identity_of(guardrail.id, "guardrail")
    request = kind.request(list(called))
    held = dict.fromkeys(called, identity)
    return Plan(
        action="assignments.remove",
        title=f"Take guardrail {shown_name(guardrail)} from {count(len(called), kind.noun)}",
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
    return _capped([Change(name, shown_name(guardrail), "none") for name in called.values()])


def _capped(lines: list[Change]) -> tuple[Change, ...]:
    if len(lines) <= _MOST_CHANGES:
        return tuple(lines)
    rest = Change("…", None, f"and {len(lines) - _MOST_CHANGES} more")
    return (*lines[:_MOST_CHANGES], rest)
