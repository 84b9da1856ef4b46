"""One verb for all marked rows: one plan, one confirmation, a result per row, one undo."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from gwtui.client.errors import NotFoundError
from gwtui.client.gateway import GatewayClient
from gwtui.contract.keys import ApiKey, UpdateKeyRequest
from gwtui.embedded.faults import FaultInjector
from gwtui.ui.app import GwtuiApp
from gwtui.ui.forms.confirm import ConfirmScreen
from gwtui.ui.forms.form_screen import FormScreen
from gwtui.ui.forms.progress import ProgressScreen
from gwtui.watch.feeds.keys import KeyRow
from harness import Harness, dashboard, harness, line, listing, until
from screen_text import screen_text


async def disabled(place: Harness, identities: set[str]) -> set[str]:
    """The hashes of disabled keys, read by a second administrator."""
    async with place.connect() as connection, GatewayClient(connection) as client:
        results = [await client.keys.get(identity) for identity in identities]
        return {item.hash or "" for item in results if item.disabled}


def enabled_rows(app: GwtuiApp) -> list[int]:
    """The positions of enabled keys in the list."""
    table = listing(app).table
    rows = [table.model[identity] for identity in table.model.order]
    return [
        index
        for index, row in enumerate(rows)
        if isinstance(row, KeyRow) and row.key.disabled is False
    ]


async def test_a_marked_range_is_disabled_and_undone_together() -> None:
    async with harness() as place, dashboard(place, size=(100, 30)) as (app, pilot):
        screen = listing(app)
        table = screen.table
        await pilot.press("slash", *"state:active", "enter")
        await until(pilot, lambda: 3 < table.visible_count < table.model.total, "the filter")
        expected = set(table.model.order[:3])
        await pilot.press("home", "space", "space", "space", "up")
        assert set(table.model.marked) == expected
        await place.press("x", opens=ConfirmScreen)
        text = place.text
        assert "Disable 3 keys?" in text
        assert text.count("enabled → disabled") == 3
        # A new sort order or filter meanwhile does not change the affected rows.
        table.sort_by("used", True)
        table.filter_by("state:disabled")
        await place.press("y", says="3 keys disabled. U undoes it")
        assert await disabled(place, expected) == expected
        assert not table.model.marked, "the run clears its marks"
        entries = [entry.outcome for entry in place.ledger.entries()][::-1]
        assert entries == ["intent", "applied"] * 3, "requests are sent one after the other"
        await place.press("U", opens=ConfirmScreen)
        text = place.text
        assert "Undo: Disable 3 keys?" in text
        assert text.count("disabled → enabled") == 3
        await place.press("y", says="Undone: Disable 3 keys")
        assert not await disabled(place, expected)


async def test_marked_rows_hidden_by_the_filter_are_counted_and_deleted() -> None:
    async with harness() as place, dashboard(place, size=(100, 30)) as (app, pilot):
        table = listing(app).table
        row, next_row = enabled_rows(app)[:2]
        expected = {table.model.order[row], table.model.order[next_row]}
        await pilot.press("home", *["down"] * row, "space")
        await pilot.press(*["down"] * (next_row - row - 1), "space")
        assert set(table.model.marked) == expected
        await pilot.press("slash", *"night", "enter")
        await until(pilot, lambda: 0 < table.visible_count < table.model.total, "the filter")
        await until(pilot, lambda: "2 marked (2 hidden)" in line(listing(app), "status"), "status")
        await place.press("D", opens=ConfirmScreen)
        text = place.text
        assert "Delete 2 keys?" in text
        assert "2 of those marked are hidden by the filter." in text
        await pilot.press("y")
        assert isinstance(app.screen, ConfirmScreen), "no single key confirms"
        await place.press("tab", "enter", says="2 keys deleted")
        async with place.connect() as connection, GatewayClient(connection) as client:
            for identity in expected:
                with pytest.raises(NotFoundError):
                    await client.keys.get(identity)


async def test_refused_rows_stay_marked() -> None:
    faults = FaultInjector()
    async with (
        harness(faults=faults) as place,
        dashboard(place, size=(100, 30)) as (app, pilot),
    ):
        table = listing(app).table
        rows = enabled_rows(app)[:2]
        for row in rows:
            table.select(table.model.order[row])
            await pilot.press("space")
        await place.press("x", opens=ConfirmScreen)
        faults.arm("409:writes x1")
        await pilot.press("y")
        await until(pilot, lambda: "1 applied, 1 refused" in screen_text(app), "the results")
        assert isinstance(app.screen, ProgressScreen)
        await place.press("escape", "x", opens=ConfirmScreen)
        assert "Disable 1 key?" in place.text, "the next run asks again"
        await place.press("y", says="1 key disabled. U undoes it")


async def test_escape_stops_the_run_and_keeps_unsent_rows_marked(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async with harness() as place, dashboard(place, size=(100, 30)) as (app, pilot):
        table = listing(app).table
        expected = {table.model.order[row] for row in enabled_rows(app)[:3]}
        for identity in expected:
            table.select(identity)
            await pilot.press("space")
        update = app.gateway.keys.update
        started, let_go = asyncio.Event(), asyncio.Event()

        async def held_update(self: Any, identity: str, request: UpdateKeyRequest) -> ApiKey:
            started.set()
            await let_go.wait()
            return await update(identity, request)

        monkeypatch.setattr(type(app.gateway.keys), "update", held_update)
        await place.press("x", opens=ConfirmScreen)
        await pilot.press("y")
        await started.wait()
        await until(
            pilot, lambda: "1 of 3 · Disable key" in screen_text(app), "the first on its way"
        )
        await until(pilot, lambda: not app._typed.pending, "keys that were not typed blindly")
        await pilot.press("escape")
        let_go.set()
        await until(
            pilot, lambda: "1 applied, 2 not sent · stopped" in screen_text(app), "the stop"
        )
        (applied,) = await disabled(place, expected)
        entries = [entry.outcome for entry in place.ledger.entries()][::-1]
        assert entries == ["intent", "applied"]
        await place.press("escape", says="1 key disabled; 1 applied")
        assert set(table.model.marked) == expected - {applied}


async def test_rows_are_marked_by_range_all_and_one_by_one() -> None:
    async with harness() as place, dashboard(place, size=(100, 30)) as (app, pilot):
        table = listing(app).table
        rows = list(table.model.order)
        await pilot.press("home", "space", "down", "V")
        assert list(table.model.marked) == rows[:3]
        await pilot.press("u", "asterisk")
        assert list(table.model.marked) == rows
        await pilot.press("u", "end", "space", "up", "space")
        assert list(table.model.marked) == rows[-2:]


async def test_shared_fields_of_marked_keys_are_edited_together() -> None:
    async with harness() as place, dashboard(place, size=(100, 30)) as (app, pilot):
        table = listing(app).table
        expected = set(table.model.order[:3])
        names = {row.key.name for row in map(table.model.__getitem__, expected)}
        await place.press("home", "space", "down", "V", "e", opens=FormScreen)
        assert isinstance(app.screen, FormScreen)
        assert "name" not in app.screen.state.fields, "names are not shared"
        app.screen.state.put("limit", "77")
        await place.press("ctrl+s", opens=ConfirmScreen)
        text = place.text
        assert "Change 3 keys?" in text
        assert text.count("→ $77.00") == 3
        await place.press("y", says="3 keys changed. U undoes it")
        await until(pilot, lambda: app.screen is listing(app), "the list")
        async with place.connect() as connection, GatewayClient(connection) as client:
            results = [await client.keys.get(identity) for identity in expected]
        assert {item.limit for item in results} == {77}
        assert {item.name for item in results} == names
