"""A dashboard on guardrails, in either dialect, and a second administrator at the same gateway."""

from __future__ import annotations

import shutil
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

from gwtui.client.gateway import GatewayClient
from gwtui.contract.dialects import GENERIC, Dialect
from gwtui.contract.guardrails import CreateGuardrailRequest, Guardrail
from gwtui.watch.feeds.guardrails import GuardrailRow
from seeded_gateways import open_gateway
from shell_kit import Site, dashboard, listing, quick_clock, until
from two_administrators_kit import Desk


class DialectSite(Site):
    """A gateway that speaks a dialect, and a dashboard that knows it."""

    def __init__(self, dialect: Dialect) -> None:
        super().__init__(quick_clock())
        self.dialect = dialect
        if dialect is not GENERIC:
            self.gateway.close()
            self.gateway = open_gateway(dialect=dialect, clock=self.clock)
            self.token = self.gateway.issue_key(management=True)

    @asynccontextmanager
    async def connect(self, *, read_only: bool = False, token: str | None = None) -> Any:
        async with super().connect(read_only=read_only, token=token) as connection:
            yield replace(connection, dialect=self.dialect)


class GuardrailDesk(Desk):
    """A person at the list of guardrails."""

    @property
    def row(self) -> GuardrailRow:
        row = listing(self.app).table.selected
        assert isinstance(row, GuardrailRow)
        return row

    async def choose(self, name: str) -> GuardrailRow:
        """Put the cursor on a guardrail; its assignments are known then."""
        table = listing(self.app).table
        for identity in table.identities:
            table.select(identity)
            if self.row.guardrail.name == name:
                await until(self.pilot, lambda: self.row.bound is not None, "its assignments")
                return self.row
        raise AssertionError(f"no guardrail {name}")

    async def choose_unmade(self) -> GuardrailRow:
        """Put the cursor on a default guardrail that nobody changed yet."""
        table = listing(self.app).table
        for identity in table.identities:
            table.select(identity)
            if not self.row.made:
                await self.pilot.pause()
                return self.row
        raise AssertionError("every default guardrail is made")

    async def read(self, identity: str | None) -> Guardrail:
        async with self.colleague() as client:
            return await client.guardrails.get(identity or "")


@asynccontextmanager
async def guardrail_desk(
    folder: Path,
    *,
    size: tuple[int, int] = (80, 24),
    start: str = "guardrails",
    dialect: Dialect = GENERIC,
    also: tuple[CreateGuardrailRequest, ...] = (),
) -> AsyncIterator[GuardrailDesk]:
    """``also`` are guardrails that are made before the dashboard starts."""
    place = DialectSite(dialect)
    await place.start()
    try:
        async with place.connect() as connection, GatewayClient(connection) as client:
            for request in also:
                await client.guardrails.create(request)
        async with dashboard(place, folder, start=start, size=size) as (app, pilot):
            desk = GuardrailDesk(place, app, pilot, folder)
            await until(pilot, lambda: listing(app).table.total_count, "rows")
            yield desk
    finally:
        await place.stop()
        place.gateway.close()
        shutil.rmtree(place.folder, ignore_errors=True)
