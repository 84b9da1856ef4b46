"""A dashboard on the real embedded gateway, with what its tests of keys press and look at."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from textual.pilot import Pilot
from textual.screen import Screen

from gwtui.client.gateway import GatewayClient
from gwtui.contract.keys import ApiKey
from gwtui.local.journal import Journal, JournalEntry
from gwtui.ui.app import GwtuiApp
from gwtui.ui.forms.editors import ChoiceEditor
from gwtui.watch.feeds.keys import KeyRow
from shell_kit import Site, listing, notices, until


class Desk:
    """A dashboard on its gateway, and a second administrator at the same gateway."""

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
        screen = listing(self.app)
        await until(self.pilot, lambda: self.app.screen is screen, "the list")

    async def said(self, words: str) -> None:
        await until(self.pilot, lambda: words in notices(self.app), words)

    @property
    def selected(self) -> KeyRow:
        row = listing(self.app).table.selected
        assert isinstance(row, KeyRow)
        return row

    async def select(self, **wanted: Any) -> ApiKey:
        """Put the cursor on the first key with these values."""
        table = listing(self.app).table
        for identity in table.identities:
            table.select(identity)
            key = self.selected.key
            if all(getattr(key, name) == value for name, value in wanted.items()):
                await self.pilot.pause()
                return key
        raise AssertionError(f"no key with {wanted}")

    @asynccontextmanager
    async def colleague(self) -> AsyncIterator[GatewayClient]:
        async with self.place.connect() as connection, GatewayClient(connection) as client:
            yield client

    async def read(self, identity: str | None) -> ApiKey:
        async with self.colleague() as client:
            return await client.keys.get(identity or "")

    def entries(self) -> list[JournalEntry]:
        """What this step wrote to the journal."""
        return [*self.journal.entries()][self.told :]

    def events(self) -> list[str]:
        return [entry.event for entry in self.entries()]


async def acknowledge(desk: Desk) -> None:
    desk.app.screen.query_one("#stored", ChoiceEditor).focus()
    await desk.press("right", "tab", "enter")
    await desk.back_to_list()
