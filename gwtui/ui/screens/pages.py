"""Full-screen text, raw JSON, and the figures of one object."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterator, Sequence
from typing import Any, ClassVar

from textual import events, work
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.content import Content
from textual.widgets import Static

from gwtui.contract.response import ResponseModel
from gwtui.crud.resource import Tone
from gwtui.crud.schema_drift import all_gaps, all_unknown_fields
from gwtui.domain.safe_text import safe_text
from gwtui.domain.serialize import exact_json, masked
from gwtui.ui.input_queue import OPENING
from gwtui.ui.screens.dialogs import Dialog
from gwtui.ui.text import toned
from gwtui.ui.widgets.lines import LinesView

Lines = Callable[[int], Sequence[Content]]
"""The text, laid out for a width in cells."""

_MARGINS = 3
"""Padding on both sides and the scrollbar, in cells."""
_INDENT = "  "
_TEXT, _NOTE = 4000, 420
"""Maximum number of characters of a line, and of the note above."""


class ReadingScreen(Dialog[None]):
    """A screen with a title and scrollable lines.

    ``copy`` offers parts of the text for copying, on the copy keys of lists.
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,q,backspace,v,question_mark", "leave", show=False),
        Binding("y", "copy", show=False, id="list.copy"),
    ]
    KEYS: ClassVar[str] = "↑ ↓ ← → PgUp PgDn scroll · Esc closes"
    """The key hints except for copying."""
    AUTO_FOCUS = "LinesView"

    def __init__(
        self, title: str, lines: Lines, *, copy: Callable[[], Awaitable[None]] | None = None
    ) -> None:
        super().__init__()
        self._title = title
        self._lines = lines
        self._copy = copy

    def compose(self) -> ComposeResult:
        """Title, text."""
        yield Static(toned(f" {self._title}", "accent", bold=True), id="reading-title")
        yield LinesView(id="reading")

    def on_mount(self) -> None:
        """Show the text."""
        self._lay_out()

    @property
    def hint(self) -> str:
        """The key hints."""
        return f"{{list.copy}} copies · {self.KEYS}" if self._copy is not None else self.KEYS

    def on_resize(self, _event: events.Resize) -> None:
        """Lay the text out for the new width."""
        self._lay_out()

    def _lay_out(self) -> None:
        # From the terminal's width, so that the text is there at the first paint.
        self.query_one(LinesView).show(self._lines(self.app.size.width - _MARGINS))

    @work(group=OPENING, exclusive=True)
    async def action_copy(self) -> None:
        """Choose a part of the text and copy it."""
        if self._copy is not None:
            await self._copy()

    def action_leave(self) -> None:
        """Close."""
        self.dismiss()


def raw_lines(raw: Any, item: Any) -> list[Content]:
    """Formatted JSON of ``raw``, below the deviations of ``item`` from the contract."""
    notes: list[Content] = []
    if isinstance(item, ResponseModel):
        gaps = [f"{path}: {why}" for path, why in all_gaps(item)]
        unknown = [path for path, _value in all_unknown_fields(item)]
        notes += _note("Gaps against the contract", gaps, "warn")
        notes += _note("Fields outside the contract", unknown, "accent")
    text = exact_json(masked(raw), indent=len(_INDENT), ascii_only=False)
    return [*notes, *(toned(safe_text(line, _TEXT)) for line in text.split("\n"))]


def _note(title: str, entries: Sequence[str], tone: Tone) -> Iterator[Content]:
    if entries:
        yield toned(title, tone, bold=True)
        yield from (toned(_INDENT + safe_text(entry, _NOTE), tone) for entry in entries)
        yield Content("")
