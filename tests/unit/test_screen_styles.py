"""A screen that is shown again is styled again only when a style sheet changed."""

from __future__ import annotations

from typing import Any

import pytest
from textual.app import App, ComposeResult
from textual.css.stylesheet import Stylesheet
from textual.widgets import Static

from gwtui.ui.textual_compat import TerminalSized


class Page(TerminalSized[None]):
    """A screen with one widget."""

    def compose(self) -> ComposeResult:
        yield Static("text", classes="text")


class Book(App[None]):
    """Two screens, and a colour that the theme decides."""

    CSS = ".text { background: $primary; }"

    def on_mount(self) -> None:
        self.push_screen(Page())


@pytest.fixture
def styled(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """The nodes that were styled, in order."""
    nodes: list[Any] = []
    apply = Stylesheet.apply

    def noted(sheet: Stylesheet, node: Any, **options: Any) -> None:
        nodes.append(node)
        apply(sheet, node, **options)

    monkeypatch.setattr(Stylesheet, "apply", noted)
    return nodes


async def test_what_is_shown_again_keeps_its_styles(styled: list[Any]) -> None:
    app = Book()
    async with app.run_test() as pilot:
        await pilot.pause()
        text = app.screen.query_one(".text")
        assert styled.count(text) == 1, "when it was made"
        app.push_screen(Page())
        await pilot.pause()
        app.pop_screen()
        await pilot.pause()
        assert app.screen is text.screen
        assert styled.count(text) == 1, "not for being covered and shown again"


async def test_another_theme_reaches_a_screen_that_was_away() -> None:
    app = Book()
    async with app.run_test() as pilot:
        away = app.screen
        text = away.query_one(".text")
        before = text.styles.background
        app.install_screen(away, "away")
        app.switch_screen(Page())
        await pilot.pause()
        app.theme = "textual-light"
        await pilot.pause()
        app.switch_screen("away")
        await pilot.pause()
        assert app.screen is away
        expected = app.get_css_variables()["primary"]
        assert text.styles.background.hex == expected != before.hex
