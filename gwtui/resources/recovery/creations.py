"""What may have come of a creation in doubt: the things that were made near its time."""

from __future__ import annotations

from typing import Any

from gwtui.client.errors import NotFoundError
from gwtui.crud.text import count
from gwtui.resources.recovery.bindings import beside
from gwtui.resources.recovery.evidence import (
    Candidate,
    Evidence,
    InspectionContext,
    TimeWindow,
    near,
)
from gwtui.resources.recovery.kinds import ComparedResource

_SPACES = "workspaces"
_MOST_UNDATED = 20
"""Things that are listed although the gateway does not say when they were made."""


async def look_for_creation(look: InspectionContext, kind: ComparedResource) -> Evidence:
    """What was made near the time of the write. Raises GatewayError."""
    intent, client = look.intent, look.client
    space = intent.summary.get("workspace_id")
    if kind.every is None:
        return Evidence(intent, (f"There is nothing that makes {kind.noun}.",))
    try:
        listed = await kind.every(client, space if isinstance(space, str) and space else None)
    except NotFoundError:
        gone = "The workspace in which it was to be made no longer exists."
        return Evidence(intent, (gone,), reach=look.reach)
    window = TimeWindow.around(intent.at, client.skew, look.reach)
    found = near(window, listed.items, kind.made_at)
    candidates = tuple(_candidate(look, kind, window, item) for item in found.inside)
    undated = [
        _candidate(look, kind, window, item) for item in listed.items if kind.made_at(item) is None
    ][:_MOST_UNDATED]
    where = "in that workspace" if intent.resource != _SPACES else "in the account"
    read = f"{count(len(listed.items), kind.noun)} {where} read"
    said = [
        f"{_number(len(candidates), kind.noun)} made {window.told}, by the gateway's clock; {read}."
    ]
    if found.nearest_outside is not None and not candidates:
        said.append(f"The nearest other one was made {beside(window, found.nearest_outside)}.")
    if found.undated:
        said.append(
            f"Of {count(found.undated, kind.noun)} the gateway does not say when they were made."
        )
    if not listed.complete or listed.unreadable:
        said.append("The list is not whole: there may be others.")
    if any(one.made_by for one in candidates):
        said.append("What another write of this machine is known to have made says so.")
    return Evidence(
        intent, tuple(said), (*candidates, *undated), route=kind.place, reach=look.reach
    )


def _number(number: int, noun: str) -> str:
    if not number:
        return f"No {noun} was"
    return f"1 {noun} was" if number == 1 else f"{number} {noun}s were"


def _candidate(
    look: InspectionContext, kind: ComparedResource, window: TimeWindow, item: Any
) -> Candidate:
    identity = kind.identity(item) or ""
    made = kind.made_at(item)
    return Candidate(
        identity,
        kind.name(item),
        made,
        None if made is None else window.apart(made),
        kind.compare(item, kind.wanted(look.intent.summary), None),
        f"{kind.place}/{identity}",
        look.makers.get(identity, ""),
        item,
    )
