"""A dashboard on the real embedded gateway, with what its tests of keys press and look at."""

from __future__ import annotations

from typing import Any

from gwtui.contract.keys import ApiKey
from gwtui.watch.feeds.keys import KeyRow
from shell_kit import listing
from two_administrators_kit import Desk


class KeyDesk(Desk):
    """A person at the list of keys."""

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

    async def read(self, identity: str | None) -> ApiKey:
        async with self.colleague() as client:
            return await client.keys.get(identity or "")


async def acknowledge(desk: KeyDesk) -> None:
    desk.app.screen.query_one("#stored").focus()
    await desk.press("space", "tab", "enter")
    await desk.back_to_list()
