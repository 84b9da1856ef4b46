"""A person at a dashboard on the real embedded gateway, and a second administrator beside."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from textual.pilot import Pilot
from textual.screen import Screen

from gwtui.client.gateway import GatewayClient
from gwtui.local.ledger import Ledger, LedgerEntry
from gwtui.ui.app import GwtuiApp
from gwtui.ui.forms.field_editors import TextEditor
from gwtui.ui.forms.row import FieldRow
from screen_text import shown
from shell_kit import Site, listing, notices, until


class Desk:
    """What a test does at the dashboard, whatever resource it shows."""

    def __init__(self, place: Site, app: GwtuiApp, pilot: Pilot[int], folder: Path) -> None:
        self.place = place
        self.app = app
        self.pilot = pilot
        self.ledger = Ledger(folder / "audit.jsonl")
        self.entries_before = 0
        """Entries of the ledger that were there before this step."""

    async def press(self, *keys: str) -> None:
        await self.pilot.press(*keys)

    async def wait_for(self, kind: type[Screen[Any]]) -> Any:
        """Wait until a screen of this class is on top; gives it."""
        await until(self.pilot, lambda: isinstance(self.app.screen, kind), kind.__name__)
        return self.app.screen

    async def wait_for_conflict(self) -> None:
        """Wait until the form is on top in which a side is chosen for each field."""
        await until(self.pilot, lambda: "choose for each field" in shown(self.app), "the conflict")

    async def back_to_list(self) -> None:
        """Wait until no dialog is above the list."""
        await until(self.pilot, lambda: self.app.screen is self.app.navigation.screen, "the list")

    async def said(self, words: str) -> None:
        """Wait until a notice says this."""
        await until(self.pilot, lambda: words in notices(self.app), words)

    async def reads(self, words: str) -> None:
        """Wait until the screen shows these words, however its lines are broken."""
        await until(self.pilot, lambda: words in self.text, f"“{words}” in {self.text}")

    @property
    def text(self) -> str:
        """Everything on the screen, blanks and frames made one blank."""
        return " ".join(shown(self.app).replace("│", " ").replace("▌", " ").split())

    async def rows(self, resource: str) -> Any:
        """Wait until a list is there with its rows; gives its table."""
        await until(self.pilot, lambda: listing(self.app).resource == resource, resource)
        await until(self.pilot, lambda: listing(self.app).table.total_count, "rows")
        return listing(self.app).table

    async def focus(self, field: str) -> None:
        """Give a field of the form the keys."""
        self.app.screen.query_one(f"#field-{field}", FieldRow).editor.focus()
        await self.pilot.pause()

    async def type_into(self, field: str, text: str) -> None:
        """Replace the text of a form's field."""
        editor = self.app.screen.query_one(f"#field-{field}", FieldRow).query_one(TextEditor)
        editor.focus()
        await self.press("end", *["backspace"] * len(editor.value), *text)
        await self.pilot.pause()

    @asynccontextmanager
    async def colleague(self) -> AsyncIterator[GatewayClient]:
        """The second administrator."""
        async with (
            self.place.connect() as connection,
            GatewayClient(connection, clock=self.place.clock) as client,
        ):
            yield client

    def entries(self) -> list[LedgerEntry]:
        """What this step wrote to the ledger."""
        return [*self.ledger.entries()][::-1][self.entries_before :]

    def events(self) -> list[str]:
        return [entry.outcome for entry in self.entries()]
