"""The last change taken back in the dashboard, on the real embedded gateway."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any

import pytest
from textual.screen import Screen

from gwtui.contract.keys import ApiKey, UpdateKeyRequest
from gwtui.ui.forms.confirm import ConfirmScreen
from gwtui.ui.screens.dialogs import AskScreen
from harness import Harness, dashboard, harness


class Desk(Harness):
    """A dashboard with its cursor on a key that is in use."""

    key: ApiKey

    async def toggle(self) -> str:
        """Disable the key; what the dialog said."""
        await self.press("x")
        said = await self.reading(ConfirmScreen)
        await self.press("y")
        await self.said("U undoes it for 10 minutes")
        await self.back_to_list()
        return said

    async def reading(self, kind: type[Screen[Any]]) -> str:
        """The whole text of a screen of this kind, once it is there."""
        await self.wait_for(kind)
        return self.text

    async def seen(self, change: UpdateKeyRequest | None = None) -> ApiKey:
        """The key as a colleague sees it, perhaps after changing it."""
        identity = self.key.hash or ""
        async with self.colleague() as client:
            if change is not None:
                await client.keys.update(identity, change)
            return await client.keys.get(identity)


@pytest.fixture
async def desk() -> AsyncIterator[Desk]:
    async with harness(Desk) as place, dashboard(place, size=(80, 24)):
        table = await place.rows("keys")
        in_use = (
            key for key in table.model.items if not key.key.disabled and key.key.usage_monthly
        )
        place.key = next(in_use).key
        table.select(place.key.hash)
        yield place


async def test_the_last_change_is_taken_back(desk: Desk) -> None:
    said = await desk.toggle()
    assert "Last request" in said, "what uses the key is said before it goes"
    assert (await desk.seen()).disabled is True
    await desk.press("U")
    said = await desk.reading(ConfirmScreen)
    assert "Undo: Disable key" in said
    assert "disabled → enabled" in said
    await desk.press("y")
    await desk.said("Undone: Disable key")
    await desk.back_to_list()
    assert (await desk.seen()).disabled is False
    undo, change = desk.ledger.audit()
    assert undo.undoes == change.id
    assert (undo.action, undo.outcome) == ("keys.toggle", "applied")
    await desk.press("U")
    await desk.said("Nothing was changed")


async def test_nothing_is_undone_that_somebody_else_changed_or_that_is_gone(desk: Desk) -> None:
    await desk.toggle()
    await desk.seen(UpdateKeyRequest(disabled=False))
    await desk.press("ctrl+z")
    said = await desk.reading(AskScreen)
    assert "can no longer be undone" in said
    assert "It already has its previous value" in said
    await desk.press("enter")
    await desk.back_to_list()
    await desk.press("D")
    assert "This cannot be undone; disabling can." in await desk.reading(ConfirmScreen)
    await desk.press("right", "enter")
    await desk.said("deleted")
    await desk.back_to_list()
    await desk.press("U")
    await desk.said("this cannot be undone")
    assert [entry.action for entry in desk.ledger.audit()] == ["keys.delete", "keys.toggle"]


async def test_what_changes_while_it_is_asked_is_not_overwritten(desk: Desk) -> None:
    await desk.toggle()
    await desk.press("U")
    await desk.reading(ConfirmScreen)
    await desk.seen(UpdateKeyRequest(disabled=False, name="renamed meanwhile"))
    await desk.press("y")
    said = await desk.reading(AskScreen)
    assert "It already has its previous value" in said
    await desk.press("enter")
    await desk.back_to_list()
    assert [entry.action for entry in desk.ledger.audit()] == ["keys.toggle"]
