"""Test requests from the dashboard, on the real embedded gateway."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from gwtui.ui.actions.tries import TryScreen
from gwtui.ui.screens.objects import GenerationScreen
from harness import has_data, listing, notices, until
from scripted_models import ScriptedModels
from tries_screen_kit import MODEL, TryDesk, try_desk


def pieces(*texts: str) -> list[bytes]:
    """The first half of a stream."""
    chunk: dict[str, Any] = {
        "id": "gen-scripted",
        "object": "chat.completion.chunk",
        "created": 1,
        "model": MODEL,
    }
    return [
        b"data: "
        + json.dumps(
            {**chunk, "choices": [{"index": 0, "delta": {"content": text}, "finish_reason": None}]}
        ).encode()
        + b"\n\n"
        for text in texts
    ]


async def a_response_shows_its_metrics(desk: TryDesk) -> None:
    screen = await desk.send()
    await desk.over(screen)
    assert "simulated answer" in desk.answer_text()
    assert desk.state() == "✓ Answered"
    tried = screen.tried
    figures = desk.figures()
    for words in ("first token", "tokens/s", "prompt +", "cost", "of $5.00"):
        assert words in figures
    assert "✓ Northwind" in figures
    assert "not needed" in figures
    assert "tier not requested" in figures, "the service tier"
    assert (await desk.read(desk.key.hash)).usage == tried.cost
    await desk.pilot.press("escape")
    form = await desk.wait_for(TryScreen)
    assert form.state.typed("prompt") == "What is a key?", "the form keeps the prompt"
    await desk.pilot.press("escape")
    await until(desk.pilot, lambda: desk.app.screen is listing(desk.app), "the list")
    assert listing(desk.app).table.selected_identity == desk.key.hash


async def enter_opens_the_generation(desk: TryDesk) -> None:
    screen = await desk.send()
    await desk.over(screen)
    identity = screen.tried.answer.generation_id
    await desk.pilot.press("enter")
    await desk.wait_for(GenerationScreen)
    await until(desk.pilot, lambda: "began" in desk.screen_text(), "the generation")
    assert identity is not None
    assert identity in desk.screen_text()
    assert desk.app.tries.draft["prompt"] == "What is a key?", "the prompt is kept for the form"


async def a_model_is_tried_from_the_list_of_models(desk: TryDesk) -> None:
    await desk.app.open_route("models")
    await until(desk.pilot, lambda: has_data(desk.app), "the models")
    await desk.pilot.press("T")
    form = await desk.wait_for(TryScreen)
    assert form.state.typed("model") == listing(desk.app).table.selected_identity
    await desk.pilot.press("escape")
    await desk.app.open_route("keys")


async def test_a_tried_key_is_never_stored(tmp_path: Path) -> None:
    async with try_desk(tmp_path) as desk:
        await desk.walk(
            a_response_shows_its_metrics,
            enter_opens_the_generation,
            a_model_is_tried_from_the_list_of_models,
        )
        tries = desk.app.tries
    assert not list(desk.ledger.entries())
    assert tries.typed is None
    assert tries.draft == {}
    for path, content in _files(tmp_path).items():
        assert desk.value.get_secret_value().encode() not in content, path
        assert b"What is a key?" not in content, path


def _files(folder: Path) -> dict[Path, bytes]:
    return {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}


async def test_redactions_are_reported(tmp_path: Path) -> None:
    async with try_desk(tmp_path) as desk:
        await desk.bind()
        screen = await desk.send("Mail ana@example.com about the lighthouse")
        await desk.over(screen)
        assert "redacted 1: email" in desk.figures()
        assert "redacted 1: custom" in desk.figures()


async def invalid_fields_are_reported_and_nothing_is_sent(desk: TryDesk) -> None:
    desk.script(None)
    form = await desk.open()
    await desk.fill(model="northwind/atlas-larg", prompt="Hello", key=desk.value)
    await desk.fill(temperature="3")
    await desk.pilot.press("ctrl+s")
    await until(desk.pilot, lambda: "must be from 0 to 2" in desk.screen_text(), "the bound")
    await desk.fill(temperature="1", max_cost="0.000001")
    await desk.pilot.press("ctrl+s")
    await until(desk.pilot, lambda: form.state.problem("model"), "the model")
    problem = form.state.problem("model")
    assert "did you mean 'northwind/atlas-large'" in problem.text
    await desk.fill(model=MODEL)
    await desk.pilot.press("ctrl+s")
    await until(desk.pilot, lambda: form.state.problem("max_cost"), "the maximum")
    problem = form.state.problem("max_cost")
    assert "raise the cost limit" in problem.text
    assert form.state.typed("prompt") == "Hello"
    assert desk.app.screen is form
    assert desk.models.requests == []


async def cancelling_closes_the_connection_and_warns_of_billing(desk: TryDesk) -> None:
    desk.script(pieces("half of ", "an answer"))
    screen = await desk.send()
    await until(desk.pilot, lambda: "an answer" in desk.answer_text(), "the first half")
    assert "quitting" not in screen.loss
    assert screen.unsaved
    await desk.pilot.press("escape")
    await until(desk.pilot, lambda: desk.models.disconnects, "the end of the connection")
    assert desk.models.disconnects == [True]
    assert desk.state().startswith("Cancelled: the connection is closed.")
    assert "may be billed, up to $" in desk.state()
    assert "half of an answer" in desk.answer_text(), "the received text stays"
    assert len(desk.models.requests) == 1
    await desk.pilot.press("escape")
    await desk.wait_for(TryScreen)
    assert len(desk.models.requests) == 1


async def test_a_stream_is_shown_until_cancelled(tmp_path: Path) -> None:
    models = ScriptedModels()
    async with try_desk(tmp_path, models=models) as desk:
        await desk.walk(
            cancelling_closes_the_connection_and_warns_of_billing,
            invalid_fields_are_reported_and_nothing_is_sent,
        )
        # Closing the program closes the connection as well.
        desk.script(pieces("half"))
        await desk.open()
        await desk.send(stream=True, temperature="", max_cost="")
        await until(desk.pilot, lambda: "half" in desk.answer_text(), "the first half")
        desk.app.exit()
        await until(desk.pilot, lambda: models.disconnects, "the end of the connection")
    assert models.disconnects == [True]


async def test_read_only_refuses_test_requests_unless_allowed(tmp_path: Path) -> None:
    async with try_desk(tmp_path, read_only=True) as desk:
        await desk.pilot.press("T")
        await until(desk.pilot, lambda: notices(desk.app), "the sentence")
        assert "this session is read-only, and a try costs money" in notices(desk.app)
        assert "--allow-tries" in notices(desk.app)
        assert desk.app.screen is listing(desk.app)
        desk.app.tries.allowed = True
        screen = await desk.send()
        await desk.over(screen)
        assert desk.state() == "✓ Answered"
