"""The help page of a screen, which can be searched."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import ClassVar

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal
from textual.content import Content
from textual.widgets import Input, Static

from gwtui.ui.screens.reading import ReadingScreen
from gwtui.ui.tones import toned
from gwtui.ui.widgets.lines import LinesView
from gwtui.ui.widgets.prompt import QuietInput

Page = Callable[[int, str], Sequence[Content]]
"""The page for a width in cells, narrowed to what has these words."""


class HelpScreen(ReadingScreen):
    """A page to read. Behind a slash words narrow it; Escape first ends the search."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("slash", "seek", show=False)]
    KEYS = "/ searches · ↑ ↓ PgUp PgDn scroll · Esc closes"

    def __init__(self, title: str, page: Page) -> None:
        super().__init__(title, lambda width: page(width, self._sought))
        self._sought = ""

    def compose(self) -> ComposeResult:
        """The page, and the search above the keys."""
        title, lines, keys = super().compose()
        yield title
        yield lines
        with Horizontal(id="help-seek") as seek:
            seek.display = False
            yield Static(toned("/ ", "accent", bold=True), classes="sign")
            yield QuietInput(placeholder="words that an entry has")
        yield keys

    @on(Input.Changed)
    def _typed(self, event: Input.Changed) -> None:
        event.stop()
        self._sought = event.value
        self._lay_out()
        self.query_one(LinesView).scroll_home(animate=False)

    @on(Input.Submitted)
    def _entered(self, event: Input.Submitted) -> None:
        """Read what was found; another slash goes on with the search."""
        event.stop()
        self.query_one(LinesView).focus()

    def action_seek(self) -> None:
        """Type what is looked for."""
        self.query_one("#help-seek").display = True
        self.query_one(QuietInput).focus()

    def action_leave(self) -> None:
        """First out of the search, then out of the page."""
        seek = self.query_one("#help-seek")
        if not seek.display:
            super().action_leave()
            return
        self.query_one(LinesView).focus()
        self.query_one(QuietInput).value = ""
        seek.display = False
