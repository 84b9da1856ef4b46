"""What became of a change of who has what: guardrails of keys, members of workspaces."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import Any

from gwtui.client.gateway import GatewayClient
from gwtui.client.paging import Listing
from gwtui.contract.guardrails import KeyAssignment, MemberAssignment
from gwtui.crud.text import Names, named
from gwtui.domain.cells import UNKNOWN
from gwtui.domain.diffs import ABSENT
from gwtui.domain.times import age
from gwtui.local.journal import OpenIntent
from gwtui.resources.recovery.evidence import (
    Compared,
    Evidence,
    TimeWindow,
    before_of,
    texts,
    verdict,
)
from gwtui.resources.uses import people_names, soon

TAKEN = "assignments.remove"
ADDED = "members.add"
_NO_GUARDRAIL = "no guardrail"
_MOST_NAMES = 10
"""Guardrails whose names are looked up."""


async def look_at_assignments(client: GatewayClient, intent: OpenIntent) -> Evidence:
    """Which guardrail each key or member has now. Raises GatewayError."""
    hashes = texts(intent.summary.get("key_hashes"))
    wanted = hashes or texts(intent.summary.get("member_user_ids"))
    listed: Listing[KeyAssignment] | Listing[MemberAssignment]
    if hashes:
        keys = listed = await client.guardrails.key_assignments(None)
        found = {one.key_hash: one for one in keys.items}
        called: Names = {one.key_hash or "": one.key_name or "" for one in keys.items}
    else:
        members = listed = await client.guardrails.member_assignments(None)
        found = {one.user_id: one for one in members.items}  # type: ignore[misc]
        called = await people_names(client) or {}
    before = before_of(intent)
    goal = None if intent.action == TAKEN else intent.identity
    rails = [goal, *(before.get(one) for one in wanted)]
    rails += [found[one].guardrail_id for one in wanted if one in found]
    names = await _guardrail_names(client, rails)
    window = TimeWindow.around(intent.at, client.skew)
    lines = []
    for one in wanted:
        row = found.get(one)
        present = _held(row, listed)
        was = before.get(one, ABSENT)
        since = _since(window, row.created_at) if row is not None else ""
        lines.append(
            Compared(
                named(one, called),
                _rail(was, names),
                _rail(goal, names),
                _rail(present, names) + since,
                verdict(was, goal, present),
            )
        )
    return Evidence(intent, _incomplete(listed), compared=tuple(lines), route="assignments")


async def look_at_members(client: GatewayClient, intent: OpenIntent) -> Evidence:
    """Who of those concerned is in the workspace now. Raises GatewayError."""
    space = intent.identity or ""
    listed = await client.workspaces.members(space)
    found = {one.user_id: one for one in listed.items}
    people = await people_names(client) or {}
    before = before_of(intent)
    goal = intent.action == ADDED
    window = TimeWindow.around(intent.at, client.skew)
    lines = []
    for user in texts(intent.summary.get("user_ids")):
        row = found.get(user)
        present: Any = True if row is not None else False if listed.complete else ABSENT
        was = before.get(user, ABSENT)
        since = _since(window, row.created_at) if row is not None else ""
        lines.append(
            Compared(
                named(user, people),
                _member(was),
                _member(goal),
                _member(present) + since,
                verdict(was, goal, present),
            )
        )
    return Evidence(intent, _incomplete(listed), compared=tuple(lines), route=f"members/{space}")


def _held(row: KeyAssignment | MemberAssignment | None, listed: Listing[Any]) -> Any:
    """The guardrail that one has now; ABSENT where that is not known."""
    if row is not None:
        return row.guardrail_id or ABSENT
    return None if listed.complete else ABSENT


def _rail(identity: Any, names: Names) -> str:
    if identity is ABSENT:
        return UNKNOWN
    return named(identity, names) if identity else _NO_GUARDRAIL


def _member(value: Any) -> str:
    return UNKNOWN if value is ABSENT else "member" if value else "no member"


def _since(window: TimeWindow, made: datetime | None) -> str:
    """When that came to be, beside the moment of the write."""
    return "" if made is None else f", {beside(window, made)}"


def beside(window: TimeWindow, made: datetime) -> str:
    """When something was made: "12 s after this write"."""
    seconds = window.apart(made).total_seconds()
    return f"{age(abs(seconds))} {'after' if seconds >= 0 else 'before'} this write"


def _incomplete(listed: Listing[Any]) -> tuple[str, ...]:
    whole = listed.complete and not listed.unreadable
    return () if whole else ("The list is not whole: who is not in it is not known.",)


async def _guardrail_names(client: GatewayClient, rails: Iterable[Any]) -> Names:
    wanted: Sequence[str] = [one for one in dict.fromkeys(rails) if isinstance(one, str) and one]
    found = await asyncio.gather(
        *(soon(client.guardrails.get(one)) for one in wanted[:_MOST_NAMES])
    )
    return {one.id or "": one.name or "" for one in found if one is not None}
