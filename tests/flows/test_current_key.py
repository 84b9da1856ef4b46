"""The key in use: its permissions, requests that it must not send, and its models."""

from __future__ import annotations

from typing import Any

import pytest

from gwtui.client.errors import NoAnswerError, ReadOnlyError
from gwtui.client.gateway import GatewayClient
from gwtui.client.services import KeysService
from gwtui.contract.guardrails import AssignKeysRequest, CreateGuardrailRequest
from gwtui.contract.keys import CreateKeyRequest
from gwtui.resources.actions import for_scope
from gwtui.watch.feeds.keys import key_rights_feed
from gwtui.watch.hub import FeedHub
from harness import Harness, dashboard, harness, has_data, listing, notices, until
from screen_text import screen_text

REASON = "this key is not a management key"


async def test_a_management_key_can_write() -> None:
    async with harness() as place, dashboard(place, start="key") as (app, pilot):
        text = screen_text(app)
        assert "management key    yes" in text
        assert "none applies to this key" in text
        assert app.hold_reason is None
        assert "READ-ONLY" not in text.splitlines()[0]
        await pilot.press("v")
        await until(
            pilot, lambda: '"is_management_key": true' in screen_text(app), "the raw answer"
        )


@pytest.mark.parametrize("size", [(80, 24), (160, 40)])
async def test_an_inference_key_makes_the_dashboard_read_only(size: tuple[int, int]) -> None:
    async with harness() as place:
        token = place.gateway.issue_key(management=False, name="plain")
        async with dashboard(place, start="models", token=token, size=size) as (
            app,
            pilot,
        ):
            await until(pilot, lambda: app.hold_reason is not None, "the rights")
            await until(pilot, lambda: "READ-ONLY" in screen_text(app).splitlines()[0], "the badge")
            assert (REASON in screen_text(app).splitlines()[0]) is (size[0] > 120)
            assert f"Nothing can be changed: {REASON}" in notices(app)
            context = app.navigation.screen.capture()  # type: ignore[union-attr]
            for action in for_scope("keys"):
                if action.mutates:
                    refusal = app.refusal(action, context)
                    assert refusal == f"{action.title}: {REASON}"
            with pytest.raises(ReadOnlyError):
                await app.gateway.keys.create(CreateKeyRequest(name="never"))
            await pilot.press("colon", *"key", "enter")
            await until(
                pilot, lambda: "all else needs" in " ".join(screen_text(app).split()), "the page"
            )
            assert "management key    no" in screen_text(app)


async def test_unreadable_permissions_block_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    async def fail(_self: Any) -> Any:
        raise NoAnswerError("the gateway did not respond in time")

    monkeypatch.setattr(KeysService, "current", fail)
    async with harness() as place, dashboard(place) as (app, pilot):
        await pilot.pause(0.2)
        assert has_data(app)
        assert app.hold_reason is None
        assert "READ-ONLY" not in screen_text(app).splitlines()[0]


MODEL = "northwind/atlas-large"


async def _restricted_token(place: Harness) -> str:
    """A key whose guardrail allows one model."""
    async with place.connect() as connection, GatewayClient(connection) as client:
        created = await client.keys.create(CreateKeyRequest(name="narrow"))
        guardrail = await client.guardrails.create(
            CreateGuardrailRequest(name="one model", allowed_models=[MODEL])
        )
        request = AssignKeysRequest(key_hashes=[created.data.hash or ""])
        await client.guardrails.assign_keys(guardrail.id or "", request)
        return created.key.get_secret_value()


async def test_a_restricted_key_shows_its_allowed_models() -> None:
    async with harness() as place:
        token = await _restricted_token(place)
        async with (
            place.connect(token=token) as connection,
            GatewayClient(connection) as client,
        ):
            rights = (await key_rights_feed(FeedHub(client)).refresh()).value
        assert rights.models == 1
        assert rights.of > 20
        async with dashboard(place, start="key", token=token) as (app, pilot):
            await until(pilot, lambda: f"1 of {rights.of}" in screen_text(app), "the reach")
            await pilot.press("E")
            await until(pilot, lambda: listing(app).resource == "user-models", "the list")
            await until(pilot, lambda: listing(app).table.model.order == [MODEL], "the model")
            await pilot.press("enter")
            await until(pilot, lambda: listing(app).resource == "endpoints", "its endpoints")
