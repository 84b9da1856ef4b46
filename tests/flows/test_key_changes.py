"""Creating, changing, deleting and undoing keys in the dashboard, on the real gateway.

``service/test_every_resource`` proves what each verb sends for each field.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from decimal import Decimal
from typing import Any

import pytest

from gwtui.client.errors import NotFoundError
from gwtui.client.gateway import GatewayClient
from gwtui.contract.keys import ApiKey, CreateKeyRequest, UpdateKeyRequest
from gwtui.local.ledger import LedgerEntry
from gwtui.ui.forms.confirm import ConfirmScreen
from gwtui.ui.forms.form_screen import FormScreen
from gwtui.ui.forms.secret import SecretScreen
from gwtui.ui.screens.dialogs import AskScreen, WaitScreen
from gwtui.ui.widgets.frame import CRITICAL
from harness import Harness, dashboard, harness, has_data, listing, notices, until
from screen_text import screen_text

NO_LONGER_LISTED = "no longer in the list"


@pytest.fixture
async def desk() -> AsyncIterator[Harness]:
    async with harness() as place, dashboard(place, size=(80, 24)):
        yield place


async def confirm(desk: Harness, *keys: str) -> str:
    """Press keys, wait for the plan and confirm it; return its text."""
    await desk.press(*keys, opens=ConfirmScreen)
    text = desk.text
    desk.app.screen.query_one("#deliberate").focus()
    await desk.press("enter")
    return text


async def a_form_in_an_enlarged_terminal_needs_no_scrolling(desk: Harness) -> None:
    await desk.press("n", opens=FormScreen)
    fields = desk.app.screen.query_one("#form-fields")
    assert fields.max_scroll_y > 0
    await desk.pilot.resize_terminal(120, 40)
    await desk.until(lambda: fields.max_scroll_y == 0, "a list without a scroll bar")
    await desk.pilot.resize_terminal(80, 24)


async def a_new_key_is_shown_once_and_then_selected(desk: Harness) -> None:
    row_count = listing(desk.app).table.model.total
    await desk.press("n", opens=FormScreen)
    screen = await desk.press(
        *"zz new", "tab", *"$1,000.50", "tab", "m", "ctrl+s", opens=SecretScreen
    )
    assert "gw-v1-" not in screen_text(desk.app)
    await desk.press("v")
    await desk.pilot.pause()
    secret = screen._value.get_secret_value()
    assert secret.startswith("gw-v1-")
    assert secret[:30] in screen_text(desk.app)
    await desk.press("v", "ctrl+q", opens=AskScreen)
    assert "have not stored the new key" in desk.text
    await desk.press("escape")
    await desk.until(lambda: desk.app.screen is screen, "the value")
    await desk.acknowledge()
    await desk.until_notice("Key “zz new” created")
    await desk.until(lambda: listing(desk.app).table.model.total == row_count + 1, "the row")
    await desk.until(lambda: desk.selected.key.name == "zz new", "the selection")
    assert desk.events() == ["intent", "applied", "acknowledged"]
    assert secret not in desk.ledger.path.read_text()
    assert secret not in desk.app.export_screenshot()
    assert screen._value is None
    async with desk.connect(token=secret) as connection, GatewayClient(connection) as client:
        current = await client.keys.current()
    assert (current.limit, current.limit_reset) == (Decimal("1000.5"), "monthly")


async def a_suspicious_key_is_confirmed_first(desk: Harness) -> None:
    form = await desk.press("n", opens=FormScreen)
    form.state.put("expires_at", "2020-01-01")
    await desk.press(*"zz old", "ctrl+s", opens=ConfirmScreen)
    assert "the key will never work." in desk.text
    assert desk.events() == []
    await desk.press("right", "enter", opens=SecretScreen)
    await desk.acknowledge()


async def a_full_disk_after_the_write_is_reported(desk: Harness) -> None:
    record = type(desk.ledger).record

    def full(self: Any, entry: LedgerEntry) -> None:
        if entry.outcome != "intent":
            raise OSError(28, "No space left on device")
        record(self, entry)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(type(desk.ledger), "record", full)
        await desk.select(disabled=False, limit_reset="monthly")
        await confirm(desk, "x")
        await desk.until_notice("No space left on device")
        await desk.until_notice("disabled")


async def the_target_is_the_row_selected_at_the_key_press(desk: Harness) -> None:
    key = await desk.select(disabled=False, limit_reset="monthly")
    table = listing(desk.app).table
    other_identity = next(identity for identity in table.model.order if identity != key.hash)
    await desk.press("D", opens=ConfirmScreen)
    table.select(other_identity)
    await desk.press("right", "enter", says="deleted")
    await desk.read(other_identity)
    with pytest.raises(NotFoundError):
        await desk.read(key.hash)


async def a_deletion_by_somebody_else_is_reported(desk: Harness) -> None:
    async with desk.colleague() as client:
        identities = [
            (await client.keys.create(CreateKeyRequest(name=f"zz {n}"))).data.hash or ""
            for n in range(2)
        ]
    table = listing(desk.app).table
    await desk.app.hub.refresh("keys")
    await desk.until(lambda: set(identities) <= set(table.model.order), "the new keys")
    table.select(identities[0])
    await confirm(desk, "D")
    await desk.until(lambda: identities[0] not in table.model.order, "the deletion")
    await desk.pilot.pause(0.1)
    assert NO_LONGER_LISTED not in notices(desk.app)
    table.select(identities[1])
    async with desk.colleague() as client:
        await client.keys.delete(identities[1])
    await desk.app.hub.refresh("keys")
    await desk.until_notice(f"The selected key is {NO_LONGER_LISTED}")


async def test_keys_are_created_disabled_and_deleted(desk: Harness) -> None:
    await desk.walk(
        a_form_in_an_enlarged_terminal_needs_no_scrolling,
        a_new_key_is_shown_once_and_then_selected,
        a_suspicious_key_is_confirmed_first,
        a_full_disk_after_the_write_is_reported,
        the_target_is_the_row_selected_at_the_key_press,
        a_deletion_by_somebody_else_is_reported,
    )


async def test_quitting_waits_for_a_write_under_way(monkeypatch: pytest.MonkeyPatch) -> None:
    async with harness() as desk:
        async with dashboard(desk) as (app, pilot):
            update = app.gateway.keys.update
            started, answered = asyncio.Event(), asyncio.Event()

            async def slow(self: Any, identity: str, request: UpdateKeyRequest) -> ApiKey:
                started.set()
                await answered.wait()
                return await update(identity, request)

            monkeypatch.setattr(type(app.gateway.keys), "update", slow)
            key = await desk.select(disabled=False, limit_reset="monthly")
            await confirm(desk, "x")
            await started.wait()
            await desk.press("q", opens=AskScreen)
            assert "in progress" in screen_text(app)
            await desk.press("right", "enter", opens=WaitScreen)
            assert app.return_code is None
            answered.set()
            await until(pilot, lambda: app.return_code == 0, "the end")
        assert desk.events() == ["intent", "applied"]
        assert (await desk.read(key.hash)).disabled is True


# Undo ---------------------------------------------------------------------------------------------


async def in_use(desk: Harness) -> ApiKey:
    """Select an enabled key that was used this month."""
    items = [row.key for row in listing(desk.app).table.model.items]
    key = next(key for key in items if not key.disabled and key.usage_monthly)
    selected: ApiKey = await desk.select(hash=key.hash)
    return selected


async def the_last_change_is_undone(desk: Harness) -> None:
    key = await in_use(desk)
    assert "Last request" in await confirm(desk, "x"), "the plan shows the last request"
    await desk.until_notice("U undoes it for 10 minutes")
    await desk.back_to_list()
    assert (await desk.read(key.hash)).disabled is True
    text = await confirm(desk, "U")
    assert "Undo: Disable key" in text
    assert "disabled → enabled" in text
    await desk.until_notice("Undone: Disable key")
    await desk.back_to_list()
    assert (await desk.read(key.hash)).disabled is False
    undo, change, *_ = desk.ledger.audit()
    assert (undo.undoes, undo.action, undo.outcome) == (change.id, "keys.toggle", "applied")
    await desk.press("U", says="Nothing was changed")


async def undo_refuses_rows_changed_elsewhere_or_deleted(desk: Harness) -> None:
    key = await in_use(desk)
    await confirm(desk, "x")
    await desk.until_notice("U undoes it")
    await desk.back_to_list()
    async with desk.colleague() as client:
        await client.keys.update(key.hash or "", UpdateKeyRequest(disabled=False))
    await desk.press("ctrl+z", opens=AskScreen)
    assert "It already has its previous value" in desk.text
    await desk.press("enter")
    await desk.back_to_list()
    assert "This cannot be undone." in await confirm(desk, "D")
    await desk.until_notice("deleted")
    await desk.back_to_list()
    await desk.press("U", says="this cannot be undone")
    assert [entry.action for entry in desk.entries()][::2] == ["keys.toggle", "keys.delete"]


async def test_changes_are_undone(desk: Harness) -> None:
    await desk.walk(
        the_last_change_is_undone,
        undo_refuses_rows_changed_elsewhere_or_deleted,
    )


# Audit log ----------------------------------------------------------------------------------------


async def test_a_change_is_listed_on_the_audit_screen() -> None:
    async with harness() as desk, dashboard(desk) as (app, pilot):
        key = await desk.select(disabled=False)
        await confirm(desk, "x")
        await desk.until_notice("disabled")
        await desk.back_to_list()
        await app.open_route("audit")
        await until(pilot, lambda: has_data(app) and listing(app).table.model.total, "the log")
        entry = listing(app).table.selected
        assert isinstance(entry, LedgerEntry)
        assert (entry.outcome, entry.identity, entry.consent) == ("applied", key.hash, "dialog")
        assert entry.profile == "demo"
        assert entry.key.startswith("gw-mgmt-v1-"), "the label of the current key"
        assert "..." in entry.key.replace("…", "..."), "and it is masked"
        assert desk.token not in desk.ledger.path.read_text()
        assert entry.request_id is not None
        for words in ("Disable key", "applied", "enabled → disabled"):
            await desk.reads(words)
        for query, count in (("outcome:applied", 1), ("outcome:refused", 0), ("action:keys", 1)):
            await pilot.press("slash", *query)
            await until(pilot, lambda n=count: listing(app).table.visible_count == n, query)
            await pilot.press("escape")
            await until(pilot, lambda: listing(app).table.visible_count == 1, "no filter")


async def test_a_form_on_a_critical_profile_asks_for_confirmation() -> None:
    async with (
        harness() as desk,
        dashboard(desk, size=(80, 24), critical=True) as (app, _),
    ):
        assert f" {CRITICAL} " in screen_text(app)
        await desk.press("n", opens=FormScreen)
        await desk.press(*"zz new", "ctrl+s", opens=ConfirmScreen)
        assert "type demo" in desk.text
        assert not desk.ledger.path.exists()
        dialog = app.screen
        assert dialog.query_one("#deliberate").disabled
        dialog.query_one("TextEditor").focus()
        await desk.press(*"demo")
        dialog.query_one("#deliberate").focus()
        await desk.press("enter", opens=SecretScreen)
        (entry,) = desk.ledger.audit()
        assert (entry.action, entry.consent, entry.profile) == ("keys.create", "typed", "demo")
