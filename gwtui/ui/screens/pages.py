"""Full-screen text pages, and the page with the raw JSON of a row."""

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
"""Returns the text as lines, wrapped for a width in cells."""

_MARGINS = 3
"""Padding on both sides and the scrollbar, in cells."""
_INDENT = "  "
_TEXT, _NOTE = 4000, 420
"""Maximum number of characters of a JSON line, and of a note above the JSON."""


class ReadingScreen(Dialog[None]):
    """A full-screen page with a title and scrollable lines.

    ``copy`` lets the person choose a part of the text to copy, with the copy key of lists.
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,q,backspace,v,question_mark", "leave", show=False),
        Binding("y", "copy", show=False, id="list.copy"),
    ]
    KEYS: ClassVar[str] = "↑ ↓ ← → PgUp PgDn scroll · Esc closes"
    """The key hints without the one for copying."""
    AUTO_FOCUS = "LinesView"

    def __init__(
        self, title: str, lines: Lines, *, copy: Callable[[], Awaitable[None]] | None = None
    ) -> None:
        super().__init__()
        self._title = title
        self._lines = lines
        self._copy = copy

    def compose(self) -> ComposeResult:
        """Yield the title and the text."""
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
        """Lay out the text for the new width."""
        self._lay_out()

    def _lay_out(self) -> None:
        # The view has no width before the first paint, so use the terminal's.
        self.query_one(LinesView).show(self._lines(self.app.size.width - _MARGINS))

    @work(group=OPENING, exclusive=True)
    async def action_copy(self) -> None:
        """Let the person choose a part of the text and copy it."""
        if self._copy is not None:
            await self._copy()

    def action_leave(self) -> None:
        """Close."""
        self.dismiss()


def raw_lines(raw: Any, item: Any) -> list[Content]:
    """Return ``raw`` as formatted JSON, below notes on how ``item`` deviates from the contract."""
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
