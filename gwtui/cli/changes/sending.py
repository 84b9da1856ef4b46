"""Sending what was agreed to over the one road of writes, part by part, and handing over."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

from gwtui.actions.plan import Applied, Consent, Outcome, Plan
from gwtui.cli.output import narrate

if TYPE_CHECKING:
    from gwtui.actions.road import WriteRoad

PATIENCE = 20.0
"""Seconds that a request under way gets for its answer after the person interrupted."""

Sent = tuple[Plan[Any], Outcome[Any]]


async def send(road: WriteRoad, consent: Consent[Any]) -> list[Sent]:
    """The requests one after the other, up to the first that was not applied."""
    done: list[Sent] = []
    for each in consent.each():
        outcome = await _carry_out(road, each)
        done.append((each.plan, outcome))
        for what, fault in (
            ("the outcome could not be written to the journal", road.journal_fault),
            ("the audit log could not be written", road.audit_fault),
        ):
            if fault is not None:
                narrate(f"{what}: {fault}")
        if not isinstance(outcome, Applied):
            break
    return done


async def _carry_out(road: WriteRoad, consent: Consent[Any]) -> Outcome[Any]:
    task = asyncio.ensure_future(road.carry_out(consent))
    try:
        return await asyncio.shield(task)
    except asyncio.CancelledError:
        if road.in_flight:
            narrate("a request is under way: waiting for its answer, interrupt again to leave")
            await road.settle(PATIENCE)
        raise
