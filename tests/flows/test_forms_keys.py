"""Keys created and edited in the dashboard, on the real embedded gateway."""

from __future__ import annotations

from collections.abc import AsyncIterator
from decimal import Decimal
from typing import Any

import pytest

from gwtui.client.gateway import GatewayClient
from gwtui.contract.keys import UpdateKeyRequest
from gwtui.local.ledger import Ledger
from gwtui.ui.forms.confirm import ConfirmScreen
from gwtui.ui.forms.form_screen import FormScreen
from gwtui.ui.forms.secret import SecretScreen
from gwtui.ui.screens.dialogs import AskScreen
from harness import Harness, dashboard, harness, listing, start_over, until
from screen_text import shown


@pytest.fixture
async def desk() -> AsyncIterator[Harness]:
    async with harness() as place, dashboard(place, size=(80, 24)):
        yield place


async def a_new_key_is_shown_once_and_then_selected(desk: Harness) -> None:
    before = listing(desk.app).table.total_count
    await desk.press("n")
    await desk.wait_for(FormScreen)
    await desk.press(*"zz new", "tab", *"$1,000.50", "tab", "m", "ctrl+s")
    screen = await desk.wait_for(SecretScreen)
    assert "gw-v1-" not in shown(desk.app)
    await desk.press("v")
    await desk.pilot.pause()
    secret = screen._value.get_secret_value()
    assert secret.startswith("gw-v1-")
    assert secret[:30] in shown(desk.app)
    await desk.acknowledge()
    await desk.said("Key “zz new” created")
    await until(desk.pilot, lambda: listing(desk.app).table.total_count == before + 1, "the row")
    await until(desk.pilot, lambda: desk.selected.key.name == "zz new", "the selection")
    made = await desk.read(desk.selected.key.hash)
    assert (made.limit, made.limit_reset) == (Decimal("1000.5"), "monthly")
    assert made.expires_at is None
    assert desk.events() == ["intent", "applied", "acknowledged"]
    assert secret not in desk.ledger.path.read_text()
    assert secret not in desk.app.export_screenshot()
    assert screen._value is None
    assert not listing(desk.app).detail.shown
    async with desk.connect(token=secret) as connection, GatewayClient(connection) as client:
        current = await client.keys.current()
    assert current.limit == made.limit


async def a_key_that_may_be_a_mistake_is_confirmed_first(desk: Harness) -> None:
    await desk.press("n")
    form = await desk.wait_for(FormScreen)
    form.state.put("expires_at", "2020-01-01")
    await desk.press(*"zz old", "tab", *"99999999999", "ctrl+s")
    await desk.wait_for(ConfirmScreen)
    text = " ".join(shown(desk.app).replace("│", " ").split())
    assert "the key will never work." in text
    assert "Spending limit is very high: $99,999,999,999.00." in text
    assert "works immediately" not in text
    await desk.press("escape")
    await until(desk.pilot, lambda: desk.app.screen is form, "the form")
    assert desk.events() == []
    await desk.press("ctrl+s")
    await desk.wait_for(ConfirmScreen)
    await desk.press("y")
    await desk.wait_for(SecretScreen)
    assert desk.events() == ["intent", "applied"]
    await desk.acknowledge()


async def a_key_pressed_twice_opens_one_form(desk: Harness) -> None:
    for key, kind in (("n", FormScreen), ("e", FormScreen), ("D", ConfirmScreen)):
        for _ in range(3):
            desk.app.simulate_key(key)
        await desk.wait_for(kind)
        await desk.pilot.pause(0.3)
        assert len(desk.app.screen_stack) == 2, f"the list and one form for {key}"
        await start_over(desk.app, desk.pilot)


async def the_form_does_not_wait_for_the_names_of_workspaces(desk: Harness) -> None:
    await desk.stop()
    await desk.press("n")
    await desk.wait_for(FormScreen)


async def a_full_disk_after_the_write_is_told(desk: Harness) -> None:
    record = Ledger.record

    def full(self: Ledger, entry: Any) -> None:
        if entry.outcome != "intent":
            raise OSError(28, "No space left on device")
        record(self, entry)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Ledger, "record", full)
        await desk.select(disabled=False, limit_reset="monthly")
        await desk.press("x")
        await desk.wait_for(ConfirmScreen)
        await desk.press("y")
        await desk.said("No space left on device")
        await desk.said("disabled")


async def quitting_asks_while_the_value_is_not_stored(desk: Harness) -> None:
    await desk.press("n")
    await desk.wait_for(FormScreen)
    await desk.press(*"zz", "tab", "5", "ctrl+s")
    screen = await desk.wait_for(SecretScreen)
    await desk.press("ctrl+q")
    await desk.wait_for(AskScreen)
    assert "have not stored the new key" in " ".join(shown(desk.app).split())
    await desk.press("escape")
    await until(desk.pilot, lambda: desk.app.screen is screen, "the value")
    await desk.acknowledge()


async def a_change_made_while_the_question_stood_is_asked_about(desk: Harness) -> None:
    key = await desk.select(limit_reset="monthly", disabled=False)
    await desk.press("e")
    await desk.wait_for(FormScreen)
    await desk.press("end", *" mine", "ctrl+s")
    first = await desk.wait_for(ConfirmScreen)
    async with desk.colleague() as client:
        await client.keys.update(key.hash or "", UpdateKeyRequest(limit_reset="daily"))
    await desk.press("y")
    note = "Limit resets was changed by somebody else and stays"
    await until(desk.pilot, lambda: note in " ".join(shown(desk.app).split()), "the new question")
    assert desk.app.screen is not first
    assert desk.events() == []
    async with desk.colleague() as client:
        await client.keys.update(key.hash or "", UpdateKeyRequest(name="theirs"))
    await desk.press("y")
    await desk.wait_for_conflict()
    await desk.press("right", "ctrl+s")
    await desk.wait_for(ConfirmScreen)
    await desk.press("y")
    await desk.back_to_list()
    after = await desk.read(key.hash)
    assert (after.name, after.limit_reset) == (f"{key.name} mine", "daily")


async def keeping_theirs_sends_nothing(desk: Harness) -> None:
    key = await desk.select(limit_reset="monthly", disabled=False)
    await desk.press("e")
    await desk.wait_for(FormScreen)
    async with desk.colleague() as client:
        await client.keys.update(key.hash or "", UpdateKeyRequest(name="theirs"))
    await desk.press("end", *" mine", "ctrl+s")
    await desk.wait_for_conflict()
    await desk.press("ctrl+s")
    await until(desk.pilot, lambda: "already has these values" in shown(desk.app), "the reason")
    assert (await desk.read(key.hash)).name == "theirs"
    assert desk.events() == []
    await desk.app.hub.refresh("keys")


async def a_key_deleted_meanwhile_is_said_in_the_form(desk: Harness) -> None:
    key = await desk.select(limit_reset="monthly", disabled=False)
    await desk.press("e")
    await desk.wait_for(FormScreen)
    async with desk.colleague() as client:
        await client.keys.delete(key.hash or "")
    await desk.press("end", *" mine", "ctrl+s")
    await until(desk.pilot, lambda: "no longer exists" in shown(desk.app), "the reason")
    assert f"{key.name} mine" in shown(desk.app)


async def test_keys_are_made_and_kept_until_stored(desk: Harness) -> None:
    await desk.walk(
        a_new_key_is_shown_once_and_then_selected,
        a_key_that_may_be_a_mistake_is_confirmed_first,
        quitting_asks_while_the_value_is_not_stored,
        a_key_pressed_twice_opens_one_form,
        a_full_disk_after_the_write_is_told,
        the_form_does_not_wait_for_the_names_of_workspaces,
    )


async def test_keys_are_changed_beside_somebody_else(desk: Harness) -> None:
    await desk.walk(
        a_change_made_while_the_question_stood_is_asked_about,
        keeping_theirs_sends_nothing,
        a_key_deleted_meanwhile_is_said_in_the_form,
    )
