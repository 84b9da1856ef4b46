"""Answers of several endpoints side by side, from the dashboard on the real embedded gateway."""

from __future__ import annotations

import json
from decimal import Decimal
from pathlib import Path
from typing import Any

from gwtui.ui.screens.compare import CompareRequestScreen, CompareScreen
from gwtui.ui.widgets.growing_text import GrowingText
from gwtui.ui.widgets.lines import OneLine
from scripted_models import ScriptedModels
from shell_kit import listing, until
from tries_screen_kit import MODEL, TryDesk, try_desk


def half(text: str) -> list[bytes]:
    """A stream up to its middle."""
    choice = {"index": 0, "delta": {"content": text}, "finish_reason": None}
    chunk = {"id": "gen-scripted", "object": "chat.completion.chunk", "created": 1, "model": MODEL}
    return [f"data: {json.dumps({**chunk, 'choices': [choice]})}\n\n".encode()]


async def marked(desk: TryDesk, route: str, identities: list[str]) -> None:
    """Go to a list and mark these rows."""
    await desk.app.open_route(route)
    await until(desk.pilot, lambda: listing(desk.app).table.selected is not None, "the rows")
    table = listing(desk.app).table
    for identity in identities:
        listing(desk.app).show_row(identity, detail=False)
        await until(desk.pilot, lambda wanted=identity: table.selected_identity == wanted, identity)
        await desk.pilot.press("space")
    await until(desk.pilot, lambda: len(listing(desk.app).marked_rows) == len(identities), "marks")


async def sent(desk: TryDesk, **typed: Any) -> CompareScreen:
    await desk.pilot.press("C")
    await desk.wait_for(CompareRequestScreen)
    await desk.fill(prompt="What is a lighthouse?", key=desk.value, **typed)
    await desk.pilot.press("ctrl+s")
    screen = await desk.wait_for(CompareScreen)
    assert isinstance(screen, CompareScreen)
    return screen


def line(screen: CompareScreen, name: str) -> str:
    return screen.query_one(f"#compare-{name}", OneLine).text


async def test_two_endpoints_answer_side_by_side(tmp_path: Path) -> None:
    async with try_desk(tmp_path) as desk:
        await marked(desk, f"models/{MODEL}", ["kestrel||", "quasar||"])
        screen = await sent(desk)
        await until(desk.pilot, lambda: not screen.under_way, "the end of both")
        await until(desk.pilot, lambda: "answered ·" in line(screen, "state"), "the sum")
        names = {line(screen, f"name-{place}").split("  ")[0] for place in range(2)}
        assert names == {"Kestrel Inference", "Quasar Compute"}
        for place in range(2):
            assert (
                "simulated answer" in screen.query_one(f"#compare-answer-{place}", GrowingText).text
            )
            figures = line(screen, f"figures-{place}")
            assert " ms · " in figures
            assert "$" in figures
        costs = [one.answer.cost for one in screen._compared]
        assert (await desk.read_key()).usage == sum((cost or Decimal(0)) for cost in costs)
        await desk.pilot.press("escape")
        form = await desk.wait_for(CompareRequestScreen)
        assert form.state.typed("prompt") == "What is a lighthouse?", "nothing typed is lost"


async def test_the_maximum_is_that_of_all_and_esc_hangs_up_on_all(tmp_path: Path) -> None:
    models = ScriptedModels(body=half("half of "), stay=True)
    async with try_desk(tmp_path, models=models) as desk:
        await marked(desk, "models", [MODEL, "northwind/atlas-mini"])
        await desk.pilot.press("C")
        form = await desk.wait_for(CompareRequestScreen)
        await desk.fill(prompt="x", key=desk.value, max_cost="0.000001")
        await desk.pilot.press("ctrl+s")
        await until(desk.pilot, lambda: "may cost up to" in desk.shown(), "the refusal")
        assert models.asked == []
        assert desk.app.screen is form
        await desk.fill(max_cost="1")
        await desk.pilot.press("ctrl+s")
        screen = await desk.wait_for(CompareScreen)
        await until(desk.pilot, lambda: len(models.asked) == 2, "both requests")
        assert {each["model"] for each in models.asked} == {MODEL, "northwind/atlas-mini"}
        await until(desk.pilot, lambda: desk.shown().count("half of") == 2, "both begun")
        await desk.pilot.press("escape")
        await until(desk.pilot, lambda: models.left == [True, True], "both left")
        await until(desk.pilot, lambda: not screen.under_way, "the end")
        assert "0 of 2 answered" in line(screen, "state")
        assert "cancelled" in line(screen, "name-0")


async def test_it_takes_two_rows(tmp_path: Path) -> None:
    async with try_desk(tmp_path) as desk:
        await desk.app.open_route(f"models/{MODEL}")
        await until(desk.pilot, lambda: listing(desk.app).table.selected is not None, "the rows")
        await desk.pilot.press("C")
        await until(desk.pilot, lambda: "Mark 2 to 4 rows" in desk.notices(), "what to do")
