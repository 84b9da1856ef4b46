"""Sending what was agreed to over the one road of writes, part by part, and handing over."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

from gwtui.cli.output import narrate
from gwtui.crud.plan import Applied, Consent, Outcome, Plan

if TYPE_CHECKING:
    from gwtui.crud.executor import WriteRoad

PATIENCE = 20.0
"""Seconds that a request under way gets for its answer after the person interrupted."""

Sent = tuple[Plan[Any], Outcome[Any]]


async def send(road: WriteRoad, consent: Consent[Any]) -> list[Sent]:
    """The requests one after the other, up to the first that was not applied.

    An interrupt ends it after the request that is under way.
    """
    done: list[Sent] = []
    for each in consent.each():
        outcome, interrupted = await _carry_out(road, each)
        done.append((each.plan, outcome))
        for what, fault in (
            ("the outcome could not be written to the journal", road.journal_fault),
            ("the audit log could not be written", road.audit_fault),
        ):
            if fault is not None:
                narrate(f"{what}: {fault}")
        if interrupted or not isinstance(outcome, Applied):
            break
    return done


async def _carry_out(road: WriteRoad, consent: Consent[Any]) -> tuple[Outcome[Any], bool]:
    """What became of it, and whether somebody interrupted it meanwhile.

    What was sent cannot be called back: its answer is worth more than a quick end, above all where
    it holds the value of a new key.
    """
    task = asyncio.ensure_future(road.carry_out(consent))
    try:
        return await asyncio.shield(task), False
    except asyncio.CancelledError:
        narrate("the request is under way: waiting for its answer, interrupt again to leave")
        await asyncio.wait({task}, timeout=PATIENCE)
        if not task.done():
            raise
        return task.result(), True
