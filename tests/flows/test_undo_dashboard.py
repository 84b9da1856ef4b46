"""The last change taken back in the dashboard, on the real embedded gateway."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from textual.pilot import Pilot
from textual.screen import Screen

from gwtui.client.gateway import GatewayClient
from gwtui.contract.keys import ApiKey, UpdateKeyRequest
from gwtui.local.ledger import Ledger
from gwtui.ui.app import GwtuiApp
from gwtui.ui.forms.confirm import ConfirmScreen
from gwtui.ui.screens.dialogs import AskScreen
from gwtui.watch.feeds.keys import KeyRow
from screen_text import shown
from shell_kit import Site, dashboard, listing, notices, site, until


class Desk:
    """A dashboard with its cursor on an enabled key."""

    def __init__(self, place: Site, app: GwtuiApp, pilot: Pilot[int], folder: Path) -> None:
        self.place = place
        self.app = app
        self.pilot = pilot
        self.ledger = Ledger(folder / "audit.jsonl")
        table = listing(app).table
        for identity in table.identities:
            table.select(identity)
            row = table.selected
            if isinstance(row, KeyRow) and row.key.disabled is False and row.key.usage_monthly:
                self.key = row.key
                return
        raise AssertionError("no key is enabled")

    async def wait_for(self, kind: type[Screen[Any]]) -> str:
        """The whole text of a screen of this kind, once it is there."""
        await until(self.pilot, lambda: isinstance(self.app.screen, kind), kind.__name__)
        return " ".join(shown(self.app).split())

    async def back(self) -> None:
        screen = listing(self.app)
        await until(self.pilot, lambda: self.app.screen is screen, "the list")

    async def toggle(self) -> str:
        """Disable the key; what the dialog said."""
        await self.pilot.press("x")
        said = await self.wait_for(ConfirmScreen)
        await self.pilot.press("y")
        await until(self.pilot, lambda: "U undoes it for 10 minutes" in notices(self.app), "done")
        await self.back()
        return said

    async def read(self, change: UpdateKeyRequest | None = None) -> ApiKey:
        """The key as a colleague sees it, perhaps after changing it."""
        identity = self.key.hash or ""
        async with self.place.connect() as connection, GatewayClient(connection) as client:
            if change is not None:
                await client.keys.update(identity, change)
            return await client.keys.get(identity)


@pytest.fixture
async def desk(tmp_path: Path) -> AsyncIterator[Desk]:
    async with site() as place, dashboard(place, tmp_path, size=(80, 24)) as (app, pilot):
        yield Desk(place, app, pilot, tmp_path)


async def test_the_last_change_is_taken_back(desk: Desk) -> None:
    said = await desk.toggle()
    assert "Last request" in said, "what uses the key is said before it goes"
    assert (await desk.read()).disabled is True
    await desk.pilot.press("U")
    said = await desk.wait_for(ConfirmScreen)
    assert "Undo: Disable key" in said
    assert "disabled → enabled" in said
    await desk.pilot.press("y")
    await until(desk.pilot, lambda: "Undone: Disable key" in notices(desk.app), "the undo")
    await desk.back()
    assert (await desk.read()).disabled is False
    undo, change = desk.ledger.audit()
    assert undo.undoes == change.id
    assert (undo.action, undo.outcome) == ("keys.toggle", "applied")
    await desk.pilot.press("U")
    await until(desk.pilot, lambda: "Nothing was changed" in notices(desk.app), "nothing left")


async def test_nothing_is_undone_that_somebody_else_changed_or_that_is_gone(desk: Desk) -> None:
    await desk.toggle()
    await desk.read(UpdateKeyRequest(disabled=False))
    await desk.pilot.press("ctrl+z")
    said = await desk.wait_for(AskScreen)
    assert "cannot be undone any more" in said
    assert "It is as it was before already" in said
    await desk.pilot.press("enter")
    await desk.back()
    await desk.pilot.press("D")
    assert "This cannot be undone; disabling can." in await desk.wait_for(ConfirmScreen)
    await desk.pilot.press("right", "enter")
    await until(desk.pilot, lambda: "deleted" in notices(desk.app), "the deletion")
    await desk.back()
    await desk.pilot.press("U")
    await until(desk.pilot, lambda: "this cannot be undone" in notices(desk.app), "the refusal")
    assert [entry.action for entry in desk.ledger.audit()] == ["keys.delete", "keys.toggle"]


async def test_what_changes_while_it_is_asked_is_not_overwritten(desk: Desk) -> None:
    await desk.toggle()
    await desk.pilot.press("U")
    await desk.wait_for(ConfirmScreen)
    await desk.read(UpdateKeyRequest(disabled=False, name="renamed meanwhile"))
    await desk.pilot.press("y")
    said = await desk.wait_for(AskScreen)
    assert "It is as it was before already" in said
    await desk.pilot.press("enter")
    await desk.back()
    assert [entry.action for entry in desk.ledger.audit()] == ["keys.toggle"]
