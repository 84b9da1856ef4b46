"""A dashboard on the list of workspaces, and a second administrator at the same gateway."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from textual.pilot import Pilot
from textual.screen import Screen

from gwtui.client.gateway import GatewayClient
from gwtui.contract.keys import UpdateKeyRequest, is_active
from gwtui.contract.workspaces import Workspace
from gwtui.local.journal import Journal, JournalEntry
from gwtui.ui.app import GwtuiApp
from gwtui.ui.forms.editors import TextEditor
from gwtui.ui.forms.row import FieldRow
from screen_text import shown
from shell_kit import Site, dashboard, listing, notices, site, until


class WorkspaceDesk:
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

    async def rows(self, resource: str) -> None:
        """Wait until a list is there with its rows."""
        await until(self.pilot, lambda: listing(self.app).resource == resource, resource)
        await until(self.pilot, lambda: listing(self.app).table.total_count, "rows")

    async def reads(self, words: str) -> None:
        """Wait until the screen shows these words, however its lines are broken."""
        await until(self.pilot, lambda: words in self.text, f"“{words}” in {self.text}")

    @property
    def text(self) -> str:
        """Everything on the screen, blanks and frames made one blank."""
        return " ".join(shown(self.app).replace("│", " ").replace("▌", " ").split())

    async def choose(self, slug: str) -> Workspace:
        """Put the cursor on a workspace."""
        table = listing(self.app).table
        for identity in table.identities:
            table.select(identity)
            if table.selected.workspace.slug == slug:
                await self.pilot.pause()
                return table.selected.workspace
        raise AssertionError(f"no workspace {slug}")

    async def type_into(self, field: str, text: str) -> None:
        """Replace the text of a form's field."""
        editor = self.app.screen.query_one(f"#field-{field}", FieldRow).query_one(TextEditor)
        editor.focus()
        await self.press("end", *["backspace"] * len(editor.value), *text)
        await self.pilot.pause()

    async def pick_in(self, field: str) -> None:
        """Give a field the keys."""
        self.app.screen.query_one(f"#field-{field}", FieldRow).editor.focus()
        await self.pilot.pause()

    @asynccontextmanager
    async def colleague(self) -> AsyncIterator[GatewayClient]:
        async with self.place.connect() as connection, GatewayClient(connection) as client:
            yield client

    async def read(self, identity: str | None) -> Workspace:
        async with self.colleague() as client:
            return await client.workspaces.get(identity or "")

    async def silence_keys(self, identity: str | None) -> int:
        """Disable every active key of a workspace; how many there were."""
        async with self.colleague() as client:
            keys = (await client.keys.list(workspace_id=identity)).items
            active = [key for key in keys if is_active(key, self.place.clock.now())]
            for key in active:
                await client.keys.update(key.hash or "", UpdateKeyRequest(disabled=True))
        return len(active)

    def entries(self) -> list[JournalEntry]:
        """What this step wrote to the journal."""
        return [*self.journal.entries()][self.told :]

    def events(self) -> list[str]:
        return [entry.event for entry in self.entries()]


@asynccontextmanager
async def workspace_desk(
    folder: Path, *, size: tuple[int, int] = (80, 24), start: str = "workspaces"
) -> AsyncIterator[WorkspaceDesk]:
    async with site() as place, dashboard(place, folder, start=start, size=size) as (app, pilot):
        desk = WorkspaceDesk(place, app, pilot, folder)
        if start == "workspaces":
            await until(pilot, lambda: listing(app).table.total_count, "rows")
        yield desk
