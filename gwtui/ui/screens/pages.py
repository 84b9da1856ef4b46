"""Pages to read: a text over the whole screen, raw JSON as such a text, one object's figures."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from datetime import datetime
from decimal import Decimal
from typing import Any, ClassVar

from textual import work
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.content import Content
from textual.widgets import Static

from gwtui.contract.response import ResponseModel
from gwtui.crud.action import COPY
from gwtui.crud.resource import Section
from gwtui.crud.schema_drift import all_gaps, all_unknown_fields
from gwtui.domain.safe_text import safe_text
from gwtui.domain.serialize import MASK, looks_secret
from gwtui.resources.frame_actions import FIGURES
from gwtui.ui.input_queue import OPENING
from gwtui.ui.screens.base import GatewayScreen
from gwtui.ui.screens.modal import Dialog
from gwtui.ui.text import toned
from gwtui.ui.widgets.detail import section_lines
from gwtui.ui.widgets.lines import LinesView

Lines = Callable[[int], Sequence[Content]]
"""The text, laid out for a width in cells."""

_MARGINS = 3
"""Padding on both sides and the scrollbar, whose place is always kept free."""
_WIDEST = 100
_INDENT = "  "
_TEXT = 4000


class ReadingScreen(Dialog[None]):
    """A title, lines that scroll, and the way out.

    ``copy`` lets the person choose what to copy of what is read, by the keys that copy in lists.
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,q,backspace,v,question_mark", "leave", show=False),
        Binding("y", "copy", show=False, id="list.copy"),
    ]
    KEYS: ClassVar[str] = "↑ ↓ ← → PgUp PgDn scroll · Esc closes"
    """Which keys do what besides copying."""
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
        """Which keys there are."""
        return f"{{list.copy}} copies · {self.KEYS}" if self._copy is not None else self.KEYS

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


class ObjectScreen(GatewayScreen):
    """Shows every figure of one object. A subclass calls ``show_object`` when it has one."""

    def __init__(self, resource: str, *, title: str) -> None:
        super().__init__(resource, title=title, extra_scopes=(FIGURES, COPY))
        self._object: tuple[str, Sequence[Section[Any]], Any] | None = None

    def compose_body(self) -> ComposeResult:
        """The figures."""
        yield LinesView(id="object")

    def show_object(self, name: str, sections: Sequence[Section[Any]], item: Any) -> None:
        """Show this one; ``name`` must be fit to be shown."""
        self._object = (name, sections, item)
        self.tick(self.now)

    def tick(self, now: datetime) -> None:
        """Relative times move on; lines that stay the same are not repainted."""
        if self._object is not None:
            name, sections, item = self._object
            width = min(_WIDEST, self.app.size.width - _MARGINS)
            lines = section_lines(name, sections, item, now, width)
            self.query_one("#object", LinesView).show(lines)

    def target(self) -> Any | None:
        """The object."""
        return None if self._object is None else self._object[2]

    def focus_body(self) -> None:
        """The figures scroll."""
        self.query_one("#object").focus()

    def on_resize(self) -> None:
        """Lay the figures out for the new width."""
        self.tick(self.now)


def raw_lines(raw: Any, item: Any) -> list[Content]:
    """Pretty JSON of ``raw``; ``item`` tells which fields are unknown and which are missing."""
    unknown: set[str] = set()
    notes: list[Content] = []
    if isinstance(item, ResponseModel):
        unknown = {path for path, _value in all_unknown_fields(item)}
        gaps = list(all_gaps(item))
        if gaps:
            notes = [toned("Gaps against the contract", "warn", bold=True)]
            notes += [
                toned(f"{_INDENT}{safe_text(path, 120)}: {safe_text(why, 300)}", "warn")
                for path, why in gaps
            ]
            notes.append(Content(""))
        if unknown:
            notes += [
                toned("◂ marks fields that the contract does not know", "accent"),
                Content(""),
            ]
    return [*notes, *_json_lines(raw, unknown)]


def _json_lines(
    value: Any,
    unknown: set[str],
    path: str = "",
    depth: int = 0,
    name: str = "",
    tail: str = "",
) -> Iterator[Content]:
    """JSON line by line, so that a single field can be marked."""
    parts: list[tuple[str, str, Any]] = []
    brackets = "[]"
    if isinstance(value, Mapping):
        brackets = "{}"
        parts = [
            (f"{path}.{key}" if path else str(key), f"{_scalar(str(key))}: ", _masked(key, part))
            for key, part in value.items()
        ]
    elif isinstance(value, list | tuple):
        parts = [(f"{path}[{number}]", "", part) for number, part in enumerate(value)]
    mark = toned("  ◂" if path in unknown else "", "accent", bold=True)
    text = brackets[0] if parts else f"{_scalar(value)}{tail}"
    yield Content.assemble(_INDENT * depth, toned(f"{name}{text}"), mark)
    for number, (at, key, part) in enumerate(parts, 1):
        comma = "," if number < len(parts) else ""
        yield from _json_lines(part, unknown, at, depth + 1, key, comma)
    if parts:
        yield Content.assemble(_INDENT * depth, toned(f"{brackets[1]}{tail}"))


def _masked(name: Any, value: Any) -> Any:
    return MASK if looks_secret(name, value) else value


def _scalar(value: Any) -> str:
    """A value as JSON; numbers exactly as they came, text with its control characters visible."""
    if isinstance(value, Decimal):
        return str(value)
    if isinstance(value, datetime):
        return json.dumps(value.isoformat())
    if isinstance(value, str):
        return safe_text(json.dumps(value, ensure_ascii=False), _TEXT)
    return safe_text(json.dumps(value, default=str), _TEXT)
