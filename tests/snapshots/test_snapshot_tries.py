"""Pictures of test requests: the form, an answer, one blocked by a guardrail, one refused."""

from __future__ import annotations

import pytest
from pictures import DARK, SIZES, Pictures
from pydantic import SecretStr

from gwtui.client.gateway import GatewayClient
from gwtui.contract.keys import CreateKeyRequest
from gwtui.ui.actions.tries import AnswerScreen
from harness import Harness, listing, pressing, settled, until
from tries_screen_kit import MODEL, fill, put_filters

PROMPTS = {
    "form": "Mail ana@example.com about the lighthouse",
    "answer": "Mail ana@example.com about the lighthouse",
    "blocked": "Tell me about ACME-12",
    "refused": "What is a key?",
}


async def _restricted_key(demo: Harness, limit: int) -> tuple[str, SecretStr]:
    """A key under a guardrail with filters: hash and value, identical in every run."""
    async with demo.connect() as connection, GatewayClient(connection) as client:
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr("gwtui.embedded.auth.secrets.token_hex", lambda size: "5e" * size)
            created = await client.keys.create(
                CreateKeyRequest.model_validate({"name": "tried", "limit": limit})
            )
        await put_filters(client, created.data.hash)
    return created.data.hash, created.key


def _fix_metrics(screen: AnswerScreen) -> None:
    """Identical metrics in every run."""
    answer = screen.tried.answer
    if answer.generation_id is not None:
        answer.generation_id = "gen-1795244406-3efbc81684fe8dea9c16"
    if answer.first_token_ms is not None:
        answer.first_token_ms, answer.elapsed_ms = 412.0, 2740.0
    screen._show()


@pytest.mark.parametrize("name", PROMPTS)
async def test_try(
    name: str, demo: Harness, pictures: Pictures, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("gwtui.embedded.gateway.new_request_id", lambda: "req-1")
    hash, value = await _restricted_key(demo, 0 if name == "refused" else 5)
    app = demo.make_app()
    async with app.run_test(size=SIZES[0], notifications=True) as pilot:
        await settled(pilot)
        listing(app).show_row(hash, detail=False)
        await pressing("T")(pilot)
        await fill(pilot, model=MODEL, prompt=PROMPTS[name], key=value)
        await settled(pilot)
        if name != "form":
            await pilot.press("ctrl+s")
            await until(pilot, lambda: isinstance(app.screen, AnswerScreen), "the answer")
            screen = app.screen
            assert isinstance(screen, AnswerScreen)
            await until(pilot, lambda: screen.tried and screen.tried.key, "its end")
            await settled(pilot)
            _fix_metrics(screen)
        await pictures.take(pilot, DARK, "{size}")
