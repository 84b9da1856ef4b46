"""A dashboard on the list of workspaces, and a second administrator at the same gateway."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from gwtui.contract.keys import UpdateKeyRequest, is_active
from gwtui.contract.workspaces import Workspace
from shell_kit import dashboard, listing, site, until
from two_administrators_kit import Desk


class WorkspaceDesk(Desk):
    """A person at the list of workspaces."""

    async def choose(self, slug: str) -> Workspace:
        """Put the cursor on a workspace."""
        table = listing(self.app).table
        for identity in table.identities:
            table.select(identity)
            if table.selected.workspace.slug == slug:
                await self.pilot.pause()
                return table.selected.workspace
        raise AssertionError(f"no workspace {slug}")

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


@asynccontextmanager
async def workspace_desk(
    folder: Path, *, size: tuple[int, int] = (80, 24), start: str = "workspaces"
) -> AsyncIterator[WorkspaceDesk]:
    async with site() as place, dashboard(place, folder, start=start, size=size) as (app, pilot):
        desk = WorkspaceDesk(place, app, pilot, folder)
        if start == "workspaces":
            await until(pilot, lambda: listing(app).table.total_count, "rows")
        yield desk
