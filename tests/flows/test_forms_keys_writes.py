"""Keys disabled and deleted in the dashboard, and writes that are refused, lost or cut off."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from typing import Any

import pytest

from gwtui.client.errors import NotFoundError
from gwtui.contract.keys import ApiKey, UpdateKeyRequest
from gwtui.ui.forms.confirm import ConfirmScreen
from gwtui.ui.forms.form_screen import FormScreen
from gwtui.ui.forms.secret import SecretScreen
from gwtui.ui.screens.dialogs import AskScreen, WaitScreen
from harness import Harness, dashboard, harness, listing, until
from screen_text import shown


@pytest.fixture
async def desk() -> AsyncIterator[Harness]:
    async with harness() as place, dashboard(place, size=(80, 24)):
        yield place


async def test_the_target_is_that_of_the_key_press(desk: Harness) -> None:
    key = await desk.select(disabled=False, limit_reset="monthly")
    await desk.press("D")
    await desk.wait_for(ConfirmScreen)
    table = listing(desk.app).table
    other = next(identity for identity in table.identities if identity != key.hash)
    table.select(other)
    await desk.press("right", "enter")
    await desk.said("deleted")
    await desk.read(other)
    with pytest.raises(NotFoundError):
        await desk.read(key.hash)


async def test_a_gateway_that_is_gone_loses_nothing_typed(desk: Harness) -> None:
    await desk.press("n")
    form = await desk.wait_for(FormScreen)
    await desk.press(*"zz kept", "tab", "5")
    await desk.stop()
    await desk.press("ctrl+s")
    await until(desk.pilot, lambda: form.state.refusal, "the refusal")
    assert form.state.typed("name") == "zz kept"
    assert desk.events() == ["intent", "refused"]
    await desk.start()
    await desk.press("ctrl+s")
    await desk.wait_for(SecretScreen)
    await desk.acknowledge()


async def test_a_lost_answer_is_told_and_stays_in_the_ledger(
    desk: Harness, monkeypatch: pytest.MonkeyPatch
) -> None:
    from gwtui.client.errors import NoAnswerError  # noqa: PLC0415

    delete = desk.app.gateway.keys.delete

    async def lost(self: Any, identity: str) -> None:
        await delete(identity)
        raise NoAnswerError("The connection was reset.")

    monkeypatch.setattr(type(desk.app.gateway.keys), "delete", lost)
    key = await desk.select(disabled=False, limit_reset="monthly")
    await desk.press("D")
    await desk.wait_for(ConfirmScreen)
    await desk.press("right", "enter")
    await desk.wait_for(AskScreen)
    assert "may or may not have been applied" in " ".join(shown(desk.app).split())
    await desk.press("escape")
    await desk.back_to_list()
    (left,) = desk.ledger.open_writes()
    assert (left.action, left.identity, left.outcome) == ("keys.delete", key.hash, "unknown")


async def test_quitting_waits_for_a_write_under_way(monkeypatch: pytest.MonkeyPatch) -> None:
    async with harness() as place:
        async with dashboard(place) as (app, pilot):
            desk = place
            update = app.gateway.keys.update
            begun, answered = asyncio.Event(), asyncio.Event()

            async def slow(self: Any, identity: str, request: UpdateKeyRequest) -> ApiKey:
                begun.set()
                await answered.wait()
                return await update(identity, request)

            monkeypatch.setattr(type(app.gateway.keys), "update", slow)
            key = await desk.select(disabled=False, limit_reset="monthly")
            await desk.press("x")
            await desk.wait_for(ConfirmScreen)
            await desk.press("y")
            await begun.wait()
            await desk.press("q")
            await desk.wait_for(AskScreen)
            assert "in progress" in shown(app)
            await desk.press("right", "enter")
            await desk.wait_for(WaitScreen)
            assert app.return_code is None
            answered.set()
            await until(pilot, lambda: app.return_code == 0, "the end")
        assert desk.events() == ["intent", "applied"]
        assert (await desk.read(key.hash)).disabled is True
