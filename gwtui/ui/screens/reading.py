"""A full-screen text to read: help, raw JSON."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from typing import ClassVar

from textual import work
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.content import Content

from gwtui.resources.actions import by_id
from gwtui.ui.commands import shown
from gwtui.ui.screens.modal import Modal
from gwtui.ui.textual_compat import bindings_of
from gwtui.ui.tones import toned
from gwtui.ui.typed_ahead import OPENING
from gwtui.ui.widgets.lines import LinesView
from gwtui.ui.widgets.one_line import OneLine

Lines = Callable[[int], Sequence[Content]]
"""The text, laid out for a width in cells."""

_MARGINS = 3
"""Padding on both sides and the scrollbar, whose place is always kept free."""


class ReadingScreen(Modal[None]):
    """A title, lines that scroll, and the way out.

    ``copy`` lets the person choose what to copy of what is read, by the keys that copy in lists.
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,q,backspace,v,question_mark", "leave", show=False),
    ]
    KEYS: ClassVar[str] = "↑ ↓ ← → PgUp PgDn scroll · Esc closes"
    """Which keys do what."""

    def __init__(
        self, title: str, lines: Lines, *, copy: Callable[[], Awaitable[None]] | None = None
    ) -> None:
        super().__init__()
        self._title = title
        self._lines = lines
        self._copy = copy
        self._copying = by_id("list.copy").keys if copy is not None else ()
        for key in self._copying:
            binding = Binding(key, "copy", show=False)
            bindings_of(self).setdefault(key, []).append(binding)

    def compose(self) -> ComposeResult:
        """Title, text, keys."""
        yield OneLine(id="reading-title")
        yield LinesView(id="reading")
        yield OneLine(id="reading-keys")

    def on_mount(self) -> None:
        """Show the text."""
        self.query_one("#reading-title", OneLine).show(
            toned(f" {self._title}", "accent", bold=True)
        )
        copies = f"{shown(self._copying[0])} copies · " if self._copying else ""
        self.query_one("#reading-keys", OneLine).show(toned(f" {copies}{self.KEYS}", "muted"))
        self.query_one(LinesView).focus()
        self._lay_out()

    def on_resize(self) -> None:
        """Lay the text out for the new width."""
        self._lay_out()

    def _lay_out(self) -> None:
        # From the terminal's width, so that the text is there at the first paint.
        self.query_one(LinesView).show(self._lines(self.app.size.width - _MARGINS))

    @work(group=OPENING, exclusive=True)
    async def action_copy(self) -> None:
        """Copy something of what is read."""
        if self._copy is not None:
            await self._copy()

    def action_leave(self) -> None:
        """Close."""
        self.dismiss()
