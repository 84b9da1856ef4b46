"""A dashboard on guardrails, in either dialect, and a second administrator at the same gateway."""

from __future__ import annotations

import shutil
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

from textual.pilot import Pilot
from textual.screen import Screen

from founded import open_gateway
from gwtui.client.gateway import GatewayClient
from gwtui.contract.dialects import GENERIC, Dialect
from gwtui.contract.guardrails import CreateGuardrailRequest, Guardrail
from gwtui.local.journal import Journal, JournalEntry
from gwtui.ui.app import GwtuiApp
from gwtui.ui.forms.editors import TextEditor
from gwtui.ui.forms.row import FieldRow
from gwtui.watch.feeds.guardrails import GuardrailRow
from screen_text import shown
from shell_kit import Site, dashboard, listing, notices, quick_clock, until


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


class GuardrailDesk:
    """What a test does at the dashboard."""

    def __init__(self, place: Site, app: GwtuiApp, pilot: Pilot[int], folder: Path) -> None:
        self.place = place
        self.app = app
        self.pilot = pilot
        self.journal = Journal(folder / "journal.jsonl")
        self.told = 0
        """Entries of the journal that were there before this step."""

    async def press(self, *keys: str) -> None:
        await self.pilot.press(*keys)

    async def wait_for(self, kind: type[Screen[Any]]) -> Any:
        await until(self.pilot, lambda: isinstance(self.app.screen, kind), kind.__name__)
        return self.app.screen

    async def back_to_list(self) -> None:
        await until(self.pilot, lambda: self.app.screen is self.app.navigation.screen, "the list")

    async def said(self, words: str) -> None:
        await until(self.pilot, lambda: words in notices(self.app), words)

    async def rows(self, resource: str) -> Any:
        """Wait until a list is there with its rows; gives its table."""
        await until(self.pilot, lambda: listing(self.app).resource == resource, resource)
        await until(self.pilot, lambda: listing(self.app).table.total_count, "rows")
        return listing(self.app).table

    async def reads(self, words: str) -> None:
        """Wait until the screen shows these words, however its lines are broken."""
        await until(self.pilot, lambda: words in self.text, f"“{words}” in {self.text}")

    @property
    def text(self) -> str:
        """Everything on the screen, blanks and frames made one blank."""
        return " ".join(shown(self.app).replace("│", " ").replace("▌", " ").split())

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

    async def focus(self, field: str) -> None:
        """Give a field of the form the keys."""
        self.app.screen.query_one(f"#field-{field}", FieldRow).editor.focus()
        await self.pilot.pause()

    async def type_into(self, field: str, text: str) -> None:
        """Replace the text of a field."""
        editor = self.app.screen.query_one(f"#field-{field}", FieldRow).query_one(TextEditor)
        editor.focus()
        await self.press("end", *["backspace"] * len(editor.value), *text)
        await self.pilot.pause()

    @asynccontextmanager
    async def colleague(self) -> AsyncIterator[GatewayClient]:
        async with self.place.connect() as connection, GatewayClient(connection) as client:
            yield client

    async def read(self, identity: str | None) -> Guardrail:
        async with self.colleague() as client:
            return await client.guardrails.get(identity or "")

    def entries(self) -> list[JournalEntry]:
        """What this step wrote to the journal."""
        return [*self.journal.entries()][self.told :]

    def events(self) -> list[str]:
        return [entry.event for entry in self.entries()]


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
