"""One model read by itself, and how much of the catalog the key in use may call."""

from __future__ import annotations

from gwtui.client.gateway import GatewayClient
from gwtui.contract.guardrails import AssignKeysRequest, CreateGuardrailRequest
from gwtui.contract.keys import CreateKeyRequest
from gwtui.watch.feeds.keys import key_rights_feed
from gwtui.watch.hub import FeedHub
from harness import Harness, dashboard, harness, listing, notices, until
from screen_text import shown

MODEL = "northwind/atlas-large"


async def _restricted_token(place: Harness) -> str:
    """A key that a guardrail leaves one model."""
    async with place.connect() as connection, GatewayClient(connection) as client:
        created = await client.keys.create(CreateKeyRequest(name="narrow"))
        assert created.data is not None
        assert created.key is not None
        made = await client.guardrails.create(
            CreateGuardrailRequest(name="one model", allowed_models=[MODEL])
        )
        request = AssignKeysRequest(key_hashes=[created.data.hash or ""])
        await client.guardrails.assign_keys(made.id or "", request)
        return created.key.get_secret_value()


async def test_a_model_is_read_by_itself() -> None:
    async with (
        harness() as place,
        dashboard(place, start=f"models/{MODEL}", size=(80, 24)) as (app, pilot),
    ):
        await until(pilot, lambda: listing(app).table.total_count, "its endpoints")
        await pilot.press("o")
        await until(pilot, lambda: "canonical slug" in shown(app), "the model")
        assert "northwind/atlas-large-" in shown(app)
        await pilot.press("escape")
        await app.open_route("models/northwind/never-was")
        await until(pilot, lambda: "could not be read" in shown(app), "the reason")
        await pilot.press("o")
        await until(pilot, lambda: "never-was no longer exists" in notices(app), "it too")


async def test_a_narrow_key_sees_how_narrow_it_is() -> None:
    async with harness() as place:
        token = await _restricted_token(place)
        async with (
            place.connect(token=token) as connection,
            GatewayClient(connection) as client,
        ):
            rights = (await key_rights_feed(FeedHub(client)).refresh()).value
        assert rights is not None
        assert rights.models == 1
        assert rights.of is not None
        assert rights.of > 20
        async with dashboard(place, start="key", token=token) as (app, pilot):
            await until(pilot, lambda: f"1 of {rights.of}" in shown(app), "the reach")
            await pilot.press("E")
            await until(pilot, lambda: listing(app).resource == "user-models", "the list")
            await until(pilot, lambda: listing(app).table.identities == [MODEL], "the model")
            await pilot.press("enter")
            await until(pilot, lambda: listing(app).resource == "endpoints", "its endpoints")
