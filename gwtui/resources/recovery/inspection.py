"""Looks into a write in doubt: reads what there is now, compares, and leaves the rest to a person.

Nothing is sent but reads.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import timedelta
from typing import TypeAlias

from gwtui.client.errors import NotFoundError
from gwtui.client.gateway import GatewayClient
from gwtui.local.journal import Journal, OpenIntent
from gwtui.resources.assignments import actions as assignments
from gwtui.resources.budgets import actions as budgets
from gwtui.resources.generations import actions as generation
from gwtui.resources.members import actions as members
from gwtui.resources.recovery.bindings import look_at_assignments, look_at_members
from gwtui.resources.recovery.changes import look_at_budget, look_at_deletion, look_at_update
from gwtui.resources.recovery.creations import look_for_creation
from gwtui.resources.recovery.evidence import Evidence, InspectionContext
from gwtui.resources.recovery.kinds import kinds
from gwtui.resources.uses import items_soon, people_names
from gwtui.watch.feed import Feed
from gwtui.watch.feeds.doubts import Doubt, Inspected, inspected_feed
from gwtui.watch.hub import FeedHub

_CREATE, _DELETE = ".create", ".delete"
_NO_WAY = "The gateway does not tell which feedback it has got: nothing can be read back."
_NOT_THERE = "The workspace that it concerned is not there now."
_STRANGE = "This version does not know how to look into such a change."


async def look_into(look: InspectionContext) -> Evidence:
    """Everything that can be found now. Raises GatewayError."""
    intent, client = look.intent, look.client
    if intent.resource == generation.RESOURCE:
        return Evidence(intent, (_NO_WAY,))
    try:
        found = await _look_at_binding(look)
    except NotFoundError:
        return Evidence(intent, (_NOT_THERE,))
    if found is not None:
        return found
    names = await _names(client, intent)
    kind = kinds(client.connection.dialect, look.now, names).get(intent.resource)
    if kind is None:
        return Evidence(intent, (_STRANGE,))
    if intent.action.endswith(_CREATE):
        looking = look_for_creation(look, kind)
    elif intent.action.endswith(_DELETE):
        looking = look_at_deletion(look, kind)
    else:
        looking = look_at_update(look, kind)
    return await looking


async def _look_at_binding(look: InspectionContext) -> Evidence | None:
    """Of what is no resource by itself; None for everything else. Raises GatewayError."""
    match look.intent.resource:
        case assignments.RESOURCE:
            return await look_at_assignments(look.client, look.intent)
        case members.RESOURCE:
            return await look_at_members(look.client, look.intent)
        case budgets.RESOURCE:
            return await look_at_budget(look)
    return None


async def _names(client: GatewayClient, intent: OpenIntent) -> Mapping[str, str]:
    """Names of what the fields mention; without them their identifiers are shown."""
    names: dict[str, str] = {}
    if "workspace_id" in intent.summary:
        spaces = await items_soon(client.workspaces.list())
        names |= {one.id or "": one.name or "" for one in spaces or ()}
    if "allowed_user_ids" in intent.summary or "creator_user_id" in intent.summary:
        names |= await people_names(client) or {}
    return names


Inspection: TypeAlias = Inspected[Evidence]


def evidence_feed(hub: FeedHub, journal: Journal, plan: str, reach: timedelta) -> Feed[Inspection]:
    """The evidence on the write of that plan, as far as ``reach`` before and after it."""

    async def look(client: GatewayClient, doubt: Doubt) -> Evidence:
        now = hub.clock.now()
        return await look_into(InspectionContext(client, doubt.intent, now, reach, doubt.made))

    return inspected_feed(hub, journal, (plan, f"{reach.total_seconds():.0f}"), look)
