"""One verb for all marked rows: one plan, one confirmation, a result per row, one undo."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from textual.pilot import Pilot

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
from screen_text import shown


async def disabled(place: Harness, identities: set[str]) -> set[str]:
    """The hashes of disabled keys, read by a second administrator."""
    async with place.connect() as connection, GatewayClient(connection) as client:
        results = [await client.keys.get(identity) for identity in identities]
        return {item.hash or "" for item in results if item.disabled}


async def asked(pilot: Pilot[int], app: GwtuiApp) -> str:
    """Return the text of the confirmation once it is open."""
    await until(pilot, lambda: isinstance(app.screen, ConfirmScreen), "the question")
    return " ".join(shown(app).split())


def enabled_rows(app: GwtuiApp) -> list[int]:
    """The positions of enabled keys in the list."""
    table = listing(app).table
    rows = [table.model[identity] for identity in table.model.order]
    return [
        index
        for index, row in enumerate(rows)
        if isinstance(row, KeyRow) and row.key.disabled is False
    ]


async def test_a_range_is_disabled_together_and_one_undo_takes_it_back() -> None:
    async with harness() as place, dashboard(place, size=(100, 30)) as (app, pilot):
        screen = listing(app)
        table = screen.table
        await pilot.press("slash", *"state:active", "enter")
        await until(pilot, lambda: 3 < table.visible_count < table.model.total, "the filter")
        expected = set(table.model.order[:3])
        await pilot.press("home", "space", "space", "space", "up")
        assert set(table.model.marked) == expected
        await pilot.press("x")
        said = await asked(pilot, app)
        assert "Disable 3 keys?" in said
        assert said.count("enabled → disabled") == 3
        # A new sort order or filter meanwhile does not change the affected rows.
        table.sort_by("used", True)
        table.filter_by("state:disabled")
        await place.press("y", says="3 keys disabled. U undoes it")
        assert await disabled(place, expected) == expected
        assert not table.model.marked, "what is done needs no mark any more"
        entries = [entry.outcome for entry in place.ledger.entries()][::-1]
        assert entries == ["intent", "applied"] * 3, "one after the other"
        await pilot.press("U")
        said = await asked(pilot, app)
        assert "Undo: Disable 3 keys?" in said
        assert said.count("disabled → enabled") == 3
        await place.press("y", says="Undone: Disable 3 keys")
        assert not await disabled(place, expected)


async def test_marks_hidden_by_the_filter_are_counted_and_acted_on() -> None:
    async with harness() as place, dashboard(place, size=(100, 30)) as (app, pilot):
        table = listing(app).table
        first, second = enabled_rows(app)[:2]
        expected = {table.model.order[first], table.model.order[second]}
        await pilot.press("home", *["down"] * first, "space")
        await pilot.press(*["down"] * (second - first - 1), "space")
        assert set(table.model.marked) == expected
        await pilot.press("slash", *"night", "enter")
        await until(pilot, lambda: 0 < table.visible_count < table.model.total, "the filter")
        await until(pilot, lambda: "2 marked (2 hidden)" in line(listing(app), "status"), "status")
        await pilot.press("D")
        said = await asked(pilot, app)
        assert "Delete 2 keys?" in said
        assert "2 of those marked are hidden by the filter." in said
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
        await pilot.press("x")
        await asked(pilot, app)
        faults.arm("409:writes x1")
        await pilot.press("y")
        await until(pilot, lambda: "1 applied, 1 refused" in shown(app), "the results")
        assert isinstance(app.screen, ProgressScreen)
        await pilot.press("escape", "x")
        assert "Disable 1 key?" in await asked(pilot, app), "it is a new decision"
        await place.press("y", says="1 key disabled. U undoes it")


async def test_escape_stops_and_the_rest_stays_marked(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async with harness() as place, dashboard(place, size=(100, 30)) as (app, pilot):
        table = listing(app).table
        expected = {table.model.order[row] for row in enabled_rows(app)[:3]}
        for identity in expected:
            table.select(identity)
            await pilot.press("space")
        update = app.gateway.keys.update
        begun, let_go = asyncio.Event(), asyncio.Event()

        async def held(self: Any, identity: str, request: UpdateKeyRequest) -> ApiKey:
            begun.set()
            await let_go.wait()
            return await update(identity, request)

        monkeypatch.setattr(type(app.gateway.keys), "update", held)
        await pilot.press("x")
        await asked(pilot, app)
        await pilot.press("y")
        await begun.wait()
        await until(pilot, lambda: "1 of 3 · Disable key" in shown(app), "the first on its way")
        await until(pilot, lambda: not app._typed.pending, "keys that were not typed blindly")
        await pilot.press("escape")
        let_go.set()
        await until(pilot, lambda: "1 applied, 2 not sent · stopped" in shown(app), "the stop")
        (applied,) = await disabled(place, expected)
        entries = [entry.outcome for entry in place.ledger.entries()][::-1]
        assert entries == ["intent", "applied"]
        await place.press("escape", says="1 key disabled; 1 applied")
        assert set(table.model.marked) == expected - {applied}


async def test_every_way_to_mark() -> None:
    async with harness() as place, dashboard(place, size=(100, 30)) as (app, pilot):
        table = listing(app).table
        rows = list(table.model.order)
        await pilot.press("home", "space", "down", "V")
        assert list(table.model.marked) == rows[:3]
        await pilot.press("u", "asterisk")
        assert list(table.model.marked) == rows
        await pilot.press("u", "end", "space", "up", "space")
        assert list(table.model.marked) == rows[-2:]


async def test_shared_fields_of_marked_keys_change_together() -> None:
    async with harness() as place, dashboard(place, size=(100, 30)) as (app, pilot):
        table = listing(app).table
        expected = set(table.model.order[:3])
        names = {row.key.name for row in map(table.model.__getitem__, expected)}
        await place.press("home", "space", "down", "V", "e", opens=FormScreen)
        assert isinstance(app.screen, FormScreen)
        assert "name" not in app.screen.state.fields, "a name is each one's own"
        app.screen.state.put("limit", "77")
        await pilot.press("ctrl+s")
        said = await asked(pilot, app)
        assert "Change 3 keys?" in said
        assert said.count("→ $77.00") == 3
        await place.press("y", says="3 keys changed. U undoes it")
        await until(pilot, lambda: app.screen is listing(app), "the list")
        async with place.connect() as connection, GatewayClient(connection) as client:
            results = [await client.keys.get(identity) for identity in expected]
        assert {item.limit for item in results} == {77}
        assert {item.name for item in results} == names
