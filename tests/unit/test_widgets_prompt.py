"""Prompts of one line: Tab completion."""

from __future__ import annotations

from textual.app import ComposeResult
from textual.content import Content
from textual.screen import Screen
from textual.widgets import Button

from form_kit import HostApp
from gwtui.ui.widgets.prompt import Prompt


class Prompted(Screen[None]):
    def compose(self) -> ComposeResult:
        yield Prompt("+")
        yield Button(Content("Elsewhere"))


async def test_tab_takes_ghost_text_and_never_leads_out_of_a_prompt() -> None:
    app = HostApp(Prompted())
    async with app.run_test() as pilot:
        prompt = app.screen.query_one(Prompt)
        prompt.input.complete_by(lambda text: "northwind/atlas" if text == "north" else None)
        prompt.open()
        await pilot.press(*"north", "tab")
        assert prompt.input.value == "northwind/atlas"
        await pilot.press("tab", "shift+tab")
        assert app.screen.focused is prompt.input
