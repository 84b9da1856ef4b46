"""The way back from every write: carried out on the real embedded gateway, it leaves no trace.

Where somebody changed the same thing since, or it is gone, nothing is planned and that is said.
"""

from __future__ import annotations

from decimal import Decimal

import pytest

from undo_kit import WAYS, client_of, done_now, limits, listed, send
from writes_kit import PLANS, FaultWorld


@pytest.mark.parametrize("name", WAYS)
async def test_the_way_back_leaves_no_trace(world: FaultWorld, name: str) -> None:
    make, look = WAYS[name]
    async with client_of(world) as client:
        before = await look(world, client)
        plan = make(world)
        assert plan.undo is not None
        answer = await send(client, plan)
        assert await look(world, client) != before, "the write itself must show"
        back = await listed().plan(client, done_now(plan, answer))
        assert back.undoes == plan.id
        assert all(part.undoes == plan.id for part in back.parts)
        assert back.undo is None
        assert back.title == f"Undo: {plan.title}"
        assert back.changes or back.danger == "high", "it says what it does"
        await send(client, back)
        assert await look(world, client) == before


@pytest.mark.parametrize("operation", PLANS)
def test_every_write_has_a_way_back_or_says_that_it_has_none(
    world: FaultWorld, operation: str
) -> None:
    plan = PLANS[operation](world)
    if operation in {"putWorkspaceBudget", "deleteWorkspaceBudget"}:
        # Budgets are changed as a series, which is undone as a whole.
        assert limits(world, {"daily": Decimal(1)}).undo is not None
        return
    honest = any("cannot be undone" in line for line in plan.effects)
    assert honest == (plan.undo is None)
