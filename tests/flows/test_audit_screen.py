"""The audit screen, and what a critical profile asks for, on the real embedded gateway."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from typing import Any

import pytest
from textual.pilot import Pilot
from textual.screen import Screen
from textual.widgets import Button

from gwtui.client.connection import Connection
from gwtui.local.ledger import LedgerEntry
from gwtui.ui.app import GwtuiApp
from gwtui.ui.forms.confirm import ConfirmScreen
from gwtui.ui.forms.form_screen import FormScreen
from gwtui.ui.forms.secret import SecretScreen
from gwtui.ui.widgets.frame import CRITICAL, READ_ONLY, HeaderFacts, HeaderTab, header_parts
from gwtui.watch.feeds.keys import KeyRow
from harness import Harness, dashboard, harness, has_data, listing, notices, until
from screen_text import shown


async def wait_for(pilot: Pilot[int], app: GwtuiApp, kind: type[Screen[Any]]) -> Any:
    await until(pilot, lambda: isinstance(app.screen, kind), kind.__name__)
    return app.screen


async def back(pilot: Pilot[int], app: GwtuiApp) -> None:
    screen = listing(app)
    await until(pilot, lambda: app.screen is screen, "the list")


def select_enabled(app: GwtuiApp) -> KeyRow:
    table = listing(app).table
    for identity in table.identities:
        table.select(identity)
        row = table.selected
        if isinstance(row, KeyRow) and row.key.disabled is False:
            return row
    raise AssertionError("no key is enabled")


async def test_a_change_is_on_the_audit_screen() -> None:
    async with harness() as place, dashboard(place) as (app, pilot):
        row = select_enabled(app)
        await pilot.press("x")
        await wait_for(pilot, app, ConfirmScreen)
        await pilot.press("y")
        await until(pilot, lambda: "disabled" in notices(app), "the change")
        await back(pilot, app)
        await app.open_route("audit")
        await until(pilot, lambda: has_data(app) and listing(app).table.total_count, "the log")
        entry = listing(app).table.selected
        assert isinstance(entry, LedgerEntry)
        assert (entry.outcome, entry.identity, entry.consent) == (
            "applied",
            row.key.hash,
            "dialog",
        )
        assert entry.profile == "demo"
        assert entry.key.startswith("gw-mgmt-v1-"), "the label of the key in use was read meanwhile"
        assert "…" in entry.key or "..." in entry.key, "and it is masked"
        assert place.token not in place.ledger.path.read_text()
        assert entry.request_id is not None
        await until(pilot, lambda: "Disable key" in shown(app), "the entry on the screen")
        assert "applied" in shown(app)
        assert "enabled → disabled" in shown(app)
        for query, count in (("outcome:applied", 1), ("outcome:refused", 0), ("action:keys", 1)):
            await pilot.press("slash", *query)
            await until(pilot, lambda n=count: listing(app).table.visible_count == n, query)
            await pilot.press("escape")
            await until(pilot, lambda: listing(app).table.visible_count == 1, "no filter")


# A critical profile -----------------------------------------------------------------------------


@pytest.fixture
async def critical() -> AsyncIterator[tuple[GwtuiApp, Pilot[int], Harness]]:
    async with harness() as place:

        @asynccontextmanager
        async def connect() -> AsyncIterator[Connection]:
            async with place.connect() as connection:
                yield replace(connection, label="prod-eu", critical=True)

        app = GwtuiApp(connect, clock=place.clock, ledger=place.ledger)
        async with app.run_test(size=(80, 24), notifications=True) as pilot:
            await until(pilot, lambda: has_data(app), "the first data")
            yield app, pilot, place


async def test_a_critical_profile_wants_its_name_typed(
    critical: tuple[GwtuiApp, Pilot[int], Harness],
) -> None:
    app, pilot, place = critical
    assert f" {CRITICAL} " in shown(app)
    select_enabled(app)
    await pilot.press("x")
    dialog = await wait_for(pilot, app, ConfirmScreen)
    assert "type prod-eu" in " ".join(shown(app).split())
    await pilot.press("y", "right", "enter", "tab", "tab")
    await pilot.pause()
    assert app.screen is dialog, "no single key and no press of a button confirms"
    assert dialog.query_one("#deliberate", Button).disabled
    assert not place.ledger.path.exists()
    dialog.query_one("TextEditor").focus()
    await pilot.press(*"prod-eu")
    assert not dialog.query_one("#deliberate", Button).disabled
    dialog.query_one("#deliberate", Button).focus()
    await pilot.press("enter")
    await until(pilot, lambda: "disabled" in notices(app), "the change")
    (entry,) = place.ledger.audit()
    assert (entry.consent, entry.profile) == ("typed", "prod-eu")


async def test_a_form_on_a_critical_profile_asks_besides(
    critical: tuple[GwtuiApp, Pilot[int], Harness],
) -> None:
    app, pilot, place = critical
    await pilot.press("n")
    form = await wait_for(pilot, app, FormScreen)
    await pilot.press(*"zz new", "ctrl+s")
    dialog = await wait_for(pilot, app, ConfirmScreen)
    await pilot.press("escape")
    await until(pilot, lambda: app.screen is form, "the form")
    assert form.state.value("name") == "zz new", "everything typed is still there"
    assert not place.ledger.path.exists()
    await pilot.press("ctrl+s")
    dialog = await wait_for(pilot, app, ConfirmScreen)
    dialog.query_one("TextEditor").focus()
    await pilot.press(*"prod-eu")
    dialog.query_one("#deliberate", Button).focus()
    await pilot.press("enter")
    await wait_for(pilot, app, SecretScreen)
    (entry,) = place.ledger.audit()
    assert (entry.action, entry.consent) == ("keys.create", "typed")


TABS = tuple(
    HeaderTab(f"go.{name}", str(number), name.capitalize(), name == "keys")
    for number, name in enumerate(
        ("credits", "keys", "models", "workspaces", "guardrails", "credentials", "activity"), 1
    )
)


@pytest.mark.parametrize("width", [60, 80, 120, 200])
@pytest.mark.parametrize("read_only", [False, True])
def test_a_critical_profile_is_said_in_words_at_every_width(width: int, read_only: bool) -> None:
    facts = HeaderFacts(
        TABS,
        "Research and development",
        profile="production-eu",
        host="gateway.example.org:8443",
        token_source="environment",
        read_only=read_only,
        critical=True,
    )
    parts = header_parts(facts, width)
    text = "".join(part.content.plain for part in parts)
    assert sum(part.content.cell_length for part in parts) <= width
    assert CRITICAL in text
    assert "production-" in text
    assert (READ_ONLY in text) == read_only
