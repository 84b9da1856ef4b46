"""The way back from a change of assignments: each key and member gets what it had before."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from gwtui.actions.assignments import RESOURCE
from gwtui.actions.guardrail_words import shown_name
from gwtui.actions.plan import Change, Plan, Undo, bundle_alike
from gwtui.actions.undo import CannotUndoError, or_nothing
from gwtui.actions.wording import count, several
from gwtui.client.errors import NotFoundError
from gwtui.client.gateway import GatewayClient
from gwtui.contract.guardrails import AssignKeysRequest, AssignMembersRequest, Guardrail
from gwtui.contract.request import RequestModel

Held = Mapping[str, str | None]
"""Key hash or user id -> the guardrail that it has; one that is not there has none."""


@dataclass(frozen=True, slots=True)
class Kind:
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


KEYS = Kind(
    "key",
    _held_by_keys,
    lambda hashes: AssignKeysRequest(key_hashes=hashes),
    lambda client, guardrail, request: client.guardrails.assign_keys(guardrail, request),
    lambda client, guardrail, request: client.guardrails.unassign_keys(guardrail, request),
)
MEMBERS = Kind(
    "member",
    _held_by_members,
    lambda users: AssignMembersRequest(member_user_ids=users),
    lambda client, guardrail, request: client.guardrails.assign_members(guardrail, request),
    lambda client, guardrail, request: client.guardrails.unassign_members(guardrail, request),
)


def back_to(kind: Kind, given: str | None, called: Mapping[str, str], before: Held) -> Undo[int]:
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
    kind: Kind,
    given: str | None,
    back: str | None,
    called: Mapping[str, str],
) -> Plan[int]:
    """One request for those that go back to the same guardrail, or to none."""
    now_held = await _name(client, given) if given else "no guardrail"
    if back is None:
        target, name = given or "", "no guardrail"
    else:
        target, name = back, shown_name(await _still_there(client, back, called))
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
    return shown_name(guardrail or Guardrail.model_validate({"id": identity}))
