"""What became of a change of one thing: how it is now, beside before and wanted."""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal, InvalidOperation
from typing import Any

from gwtui.client.errors import NotFoundError
from gwtui.contract.budgets import Budget
from gwtui.domain.cells import UNKNOWN
from gwtui.domain.diffs import ABSENT
from gwtui.resources.budgets.plans import in_words
from gwtui.resources.recovery.bindings import beside
from gwtui.resources.recovery.evidence import (
    Compared,
    Evidence,
    InspectionContext,
    TimeWindow,
    before_of,
    verdict,
)
from gwtui.resources.recovery.kinds import ComparedResource

_THERE, _GONE = "there", "gone"


async def look_at_update(look: InspectionContext, kind: ComparedResource) -> Evidence:
    """Each field of the thing as it is now. Raises GatewayError."""
    intent = look.intent
    identity = intent.identity or ""
    route = f"{kind.place}/{identity}"
    try:
        present = await kind.get(look.client, identity)
    except NotFoundError:
        why = f"This {kind.noun} is not there now: it was deleted since, or it never was."
        return Evidence(intent, (why,), route=kind.place)
    compared = kind.compare(present, intent.summary, before_of(intent))
    return Evidence(intent, _changed(look, present), compared=compared, route=route)


def _changed(look: InspectionContext, present: Any) -> tuple[str, ...]:
    """When it was changed last, where the gateway tells."""
    made = getattr(present, "updated_at", None)
    if made is None:
        return ()
    window = TimeWindow.around(look.intent.at, look.client.skew)
    return (f"It was changed last {beside(window, made)}, by the gateway's clock.",)


async def look_at_deletion(look: InspectionContext, kind: ComparedResource) -> Evidence:
    """Whether the thing is there. Raises GatewayError."""
    intent = look.intent
    identity = intent.identity or ""
    try:
        present = await kind.get(look.client, identity)
    except NotFoundError:
        return Evidence(intent, (), compared=(_existence(kind, _GONE),), route=kind.place)
    return Evidence(
        intent,
        _changed(look, present),
        compared=(_existence(kind, _THERE),),
        route=f"{kind.place}/{identity}",
    )


def _existence(kind: ComparedResource, present: str) -> Compared:
    label = f"The {kind.noun}"
    return Compared(label, _THERE, _GONE, present, verdict(_THERE, _GONE, present))


async def look_at_budget(look: InspectionContext) -> Evidence:
    """The limit that stands now. Raises GatewayError."""
    intent, client = look.intent, look.client
    space, _, interval = (intent.identity or "").partition("/")
    listed = await client.workspaces.budgets(space)
    found: Budget | None = next((one for one in listed.items if one.interval == interval), None)
    present: Any = None if listed.complete else ABSENT
    if found is not None:
        present = ABSENT if found.limit_usd is None else found.limit_usd
    goal = None if intent.action.endswith(".delete") else _amount(intent.summary)
    was = _amount(before_of(intent))

    def words(value: Any) -> str:
        return UNKNOWN if value is ABSENT else in_words(interval, value)

    label = f"{interval.capitalize()} budget"
    line = Compared(label, words(was), words(goal), words(present), verdict(was, goal, present))
    window = TimeWindow.around(intent.at, client.skew)
    changed = None if found is None else found.updated_at or found.created_at
    said = () if changed is None else (f"It was set last {beside(window, changed)}.",)
    return Evidence(intent, said, compared=(line,), route=f"workspaces/{space}")


def _amount(fields: Mapping[str, Any]) -> Any:
    """The limit in a journal's line; None for no budget, ABSENT where none was kept."""
    if "limit_usd" not in fields:
        return ABSENT
    limit = fields["limit_usd"]
    try:
        return None if limit is None else Decimal(str(limit))
    except InvalidOperation:
        return ABSENT
