"""Provider keys of one's own, stored, changed, rotated and deleted on the real embedded gateway."""

from __future__ import annotations

import asyncio
import gc
import logging
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from pydantic import SecretStr

from gwtui.client.gateway import GatewayClient
from gwtui.contract.byok import ByokCredential, CreateByokRequest, UpdateByokRequest
from gwtui.ui.forms.confirm import ConfirmScreen
from gwtui.ui.forms.form_screen import FormScreen
from harness import Harness, dashboard, harness, listing, notices, until
from screen_text import shown

SENTINEL = "sk-SENTINEL-7f3a9c51d0e24b68"


async def store(place: Harness, name: str, **fields: Any) -> ByokCredential:
    async with place.connect() as connection, GatewayClient(connection) as client:
        request = {"provider": "northwind", "key": "sk-first-key-000001", "name": name, **fields}
        return await client.byok.create(CreateByokRequest.model_validate(request))


@pytest.fixture
async def desk() -> AsyncIterator[Harness]:
    async with harness(content="empty") as place:
        await store(place, "Main account")
        await store(place, "Spare", is_fallback=True)
        async with dashboard(place, start="byok", size=(80, 24)):
            await place.rows("byok")
            yield place


async def a_key_is_stored_and_its_row_selected(desk: Harness) -> None:
    await desk.press("n")
    await desk.wait_for(FormScreen)
    await desk.press(*"kestrel", "tab", *SENTINEL)
    assert SENTINEL[:8] not in shown(desk.app)
    await desk.press("tab", *"Research")
    await until(
        desk.pilot,
        lambda: "Add a provider key for kestrel · Key a new key, as typed" in shown(desk.app),
        "what would be sent",
    )
    await desk.press("ctrl+s")
    await desk.said("stored; its key is never shown again")
    await until(desk.pilot, lambda: desk.selected.credential.name == "Research", "the selection")
    made = await desk.read(desk.selected.credential.id)
    assert (made.provider, made.disabled, made.is_fallback) == ("kestrel", False, False)
    assert made.allowed_models is None
    assert desk.events() == ["intent", "applied"]


async def a_provider_that_is_not_listed_is_asked_about_before_it_is_sent(desk: Harness) -> None:
    await desk.press("n")
    await desk.wait_for(FormScreen)
    await desk.press(*"nortwhind", "tab", *SENTINEL)
    await until(
        desk.pilot,
        lambda: "not in the list; did you mean 'northwind'?" in shown(desk.app),
        "the hint",
    )
    await desk.press("ctrl+s")
    await desk.wait_for(ConfirmScreen)
    assert "The gateway lists no provider 'nortwhind'; did you mean 'northwind'?" in " ".join(
        shown(desk.app).replace("│", " ").split()
    )
    await desk.press("escape")
    await desk.wait_for(FormScreen)
    assert desk.events() == []
    await desk.press("ctrl+s")
    await desk.wait_for(ConfirmScreen)
    await desk.press("y")
    await until(desk.pilot, lambda: len(desk.events()) == 2, "what became of it")
    assert desk.events()[0] == "intent", "whoever goes on deliberately gets the gateway's own word"


async def the_list_is_in_the_order_of_trial(desk: Harness) -> None:
    table = listing(desk.app).table
    names = []
    for identity in table.identities:
        table.select(identity)
        names.append(desk.selected.credential.name)
    assert names == ["Main account", "Spare"]
    await desk.press("d")
    await until(
        desk.pilot, lambda: "tried 2 of 2 for northwind after" in shown(desk.app), "the order"
    )


async def a_rotation_says_first_that_the_old_key_is_gone(desk: Harness) -> None:
    await desk.select(name="Main account")
    before = await desk.read(desk.selected.credential.id)
    await desk.press("N")
    await desk.wait_for(FormScreen)
    assert "overwrites the old key immediately" in " ".join(shown(desk.app).split())
    await desk.press(*SENTINEL, "ctrl+s")
    await desk.wait_for(ConfirmScreen)
    assert "overwritten immediately" in shown(desk.app)
    await desk.press("y")
    await desk.pilot.pause()
    assert isinstance(desk.app.screen, ConfirmScreen), "no single key confirms it"
    await desk.press("right", "enter")
    await desk.said("rotated; its key is now")
    after = await desk.read(before.id)
    assert after.label != before.label
    assert (after.name, after.is_fallback) == (before.name, before.is_fallback)
    assert desk.events() == ["intent", "applied"]


async def undo_after_a_rotation_does_not_offer_the_creation(desk: Harness) -> None:
    await desk.select(name="Research")
    await desk.press("N")
    await desk.wait_for(FormScreen)
    await desk.press(*SENTINEL, "ctrl+s")
    await desk.wait_for(ConfirmScreen)
    await desk.press("right", "enter")
    await desk.said("rotated; its key is now")
    await desk.press("U")
    await desk.said("Rotate credential “Research”: this cannot be undone")
    assert desk.app.screen is listing(desk.app)


async def a_rotation_by_somebody_else_is_told(desk: Harness) -> None:
    await desk.select(name="Main account")
    await desk.press("N")
    await desk.wait_for(FormScreen)
    async with desk.colleague() as client:
        theirs = UpdateByokRequest(key=SecretStr("sk-theirs-99999999"))
        await client.byok.update(desk.selected.credential.id or "", theirs)
    await desk.press(*SENTINEL, "ctrl+s")
    await desk.wait_for(ConfirmScreen)
    assert "Somebody else rotated it" in shown(desk.app)


async def test_a_credential_is_checked_rotated_and_edited(desk: Harness) -> None:
    await desk.walk(
        a_provider_that_is_not_listed_is_asked_about_before_it_is_sent,
        a_rotation_by_somebody_else_is_told,
        a_rotation_says_first_that_the_old_key_is_gone,
    )


async def test_a_credential_is_listed_switched_deleted_and_stored(desk: Harness) -> None:
    await desk.walk(
        the_list_is_in_the_order_of_trial,
        a_key_is_stored_and_its_row_selected,
        undo_after_a_rotation_does_not_offer_the_creation,
    )


@pytest.mark.usefixtures("own_objects_only")
async def test_the_key_that_was_typed_is_nowhere_once_it_was_sent(
    desk: Harness, caplog: pytest.LogCaptureFixture, capsys: Any
) -> None:
    caplog.set_level(logging.DEBUG)
    await desk.press("n")
    await desk.wait_for(FormScreen)
    await desk.press(*"northwind", "tab", *SENTINEL)
    screens = [desk.app.export_screenshot()]
    await desk.press("ctrl+s")
    await desk.said("stored")
    await desk.select(name="Main account")
    await desk.press("N")
    await desk.wait_for(FormScreen)
    await desk.press(*SENTINEL, "ctrl+s")
    await desk.wait_for(ConfirmScreen)
    screens.append(desk.app.export_screenshot())
    await desk.press("right", "enter")
    await desk.said("rotated")
    await desk.press("v")
    await desk.pilot.pause()
    screens.append(desk.app.export_screenshot())
    said = capsys.readouterr()
    written = await asyncio.to_thread(_everything_in, desk.folder)
    kept = [*screens, caplog.text, notices(desk.app), said.out, said.err]
    for text in kept:
        assert SENTINEL not in text
        assert SENTINEL[3:16] not in text
    assert all(SENTINEL.encode() not in content for content in written)
    assert _holders(SENTINEL) == []


def _everything_in(folder: Path) -> list[bytes]:
    return [path.read_bytes() for path in folder.rglob("*") if path.is_file()]


def _holders(secret: str) -> list[str]:
    """What is alive and holds a secret directly, but for this module's own name for it."""
    gc.collect()
    found = []
    for one in gc.get_objects():
        values: list[Any] = []
        if isinstance(one, SecretStr):
            values = [one.get_secret_value()]
        elif type(one) is dict and "SENTINEL" not in one:
            values = list(one.values())
        elif type(one) in {list, tuple, set}:
            values = list(one)
        if any(type(value) is str and value == secret for value in values):
            found.append(type(one).__name__)
    return found
