"""A dashboard on guardrails, in either dialect."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from gwtui.contract.dialects import GENERIC, Dialect
from gwtui.contract.guardrails import CreateGuardrailRequest
from gwtui.watch.feeds.guardrails import GuardrailRow
from harness import Harness, dashboard, harness, listing


class GuardrailDesk(Harness):
    """A person at the list of guardrails."""

    async def choose(self, name: str) -> GuardrailRow:
        """Put the cursor on a guardrail; its assignments are known then."""
        await self.select(name=name)
        await self.until(lambda: self.selected.bound is not None, "its assignments")
        row: GuardrailRow = self.selected
        return row

    async def choose_unmade(self) -> GuardrailRow:
        """Put the cursor on a default guardrail that nobody changed yet."""
        table = listing(self.app).table
        for identity in table.identities:
            table.select(identity)
            if not self.selected.exists:
                await self.pilot.pause()
                row: GuardrailRow = self.selected
                return row
        raise AssertionError("every default guardrail is made")


@asynccontextmanager
async def guardrail_desk(
    start: str = "guardrails",
    *,
    size: tuple[int, int] = (80, 24),
    dialect: Dialect = GENERIC,
    also: tuple[CreateGuardrailRequest, ...] = (),
) -> AsyncIterator[GuardrailDesk]:
    """``also`` are guardrails that are made before the dashboard starts."""
    async with harness(GuardrailDesk, dialect=dialect) as desk:
        async with desk.colleague() as client:
            for request in also:
                await client.guardrails.create(request)
        async with dashboard(desk, start=start, size=size):
            await desk.rows(start)
            yield desk
