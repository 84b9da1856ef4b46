"""Four answers beside each other; one of them was refused by a guardrail."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

from pydantic import SecretStr
from textual.pilot import Pilot

from dashboard_kit import Demo, pressing, settled
from gwtui.client.gateway import GatewayClient
from gwtui.contract.guardrails import AssignKeysRequest, CreateGuardrailRequest
from gwtui.contract.keys import CreateKeyRequest
from gwtui.ui.app import GwtuiApp
from gwtui.ui.screens.compare import CompareScreen
from shell_kit import listing, until
from tries_screen_kit import MODEL, fill

SnapCompare = Callable[..., bool]

ENDPOINTS = ("northwind||", "northwind/priority|priority|", "quasar||", "tidepool/eu||")
GUARDRAIL = {"name": "Not there", "ignored_providers": ["quasar"]}


async def _key(demo: Demo) -> SecretStr:
    """The value of a key under a guardrail that forbids one provider."""
    async with demo.connect() as connection, GatewayClient(connection) as client:
        request = {"name": "tried", "limit": 5}
        made = await client.keys.create(CreateKeyRequest.model_validate(request))
        guardrail = await client.guardrails.create(CreateGuardrailRequest.model_validate(GUARDRAIL))
        assert made.data is not None
        assert made.key is not None
        hashes = AssignKeysRequest.model_validate({"key_hashes": [made.data.hash]})
        await client.guardrails.assign_keys(guardrail.id or "", hashes)
    return made.key


def _still(screen: CompareScreen) -> None:
    """The same figures in every run."""
    for place, one in enumerate(screen._compared):
        if one.answer.first_token_ms is not None:
            one.answer.first_token_ms, one.answer.elapsed_ms = 300.0 + 70 * place, 2740.0
    screen._show()


def test_compare(
    size: tuple[int, int], demo: Demo, snap_compare: SnapCompare, monkeypatch: Any
) -> None:
    monkeypatch.setattr("gwtui.embedded.app.new_request_id", lambda: "req-1")
    value = asyncio.run(_key(demo))

    async def steps(pilot: Pilot[Any]) -> None:
        app = pilot.app
        assert isinstance(app, GwtuiApp)
        await settled(pilot)
        await app.open_route(f"models/{MODEL}")
        await until(pilot, lambda: listing(app).table.selected is not None, "the rows")
        for identity in ENDPOINTS:
            listing(app).show_row(identity, detail=False)
            await settled(pilot)
            await pressing("space")(pilot)
        await pressing("C")(pilot)
        await fill(pilot, prompt="What is a lighthouse?", key=value, max_tokens="40")
        await settled(pilot)
        await pilot.press("ctrl+s")
        await until(pilot, lambda: isinstance(app.screen, CompareScreen), "the answers")
        screen = app.screen
        assert isinstance(screen, CompareScreen)
        await until(pilot, lambda: not screen.under_way, "their end")
        await settled(pilot)
        _still(screen)

    assert snap_compare(demo.app(theme="gwtui-dark"), terminal_size=size, run_before=steps)
