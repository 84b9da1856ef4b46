"""What a generation read and wrote, as plain lines of a given width: never markup, never links."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from textual.content import Content

from gwtui.contract.activity import GenerationContent
from gwtui.crud.schema_gaps import every_gap
from gwtui.domain.cells import UNKNOWN
from gwtui.domain.safe_text import safe_line, safe_text
from gwtui.ui.tones import toned

MOST = 200_000
"""Characters that are shown of everything together."""
_TITLE = 60
_REST = 2_000
"""Characters of what has no words of its own, such as an image's data."""
_INDENT = "  "
_TEXTS = ("text", "input_text", "output_text")


def content_lines(content: GenerationContent, width: int) -> list[Content]:
    """Input message by message, then reasoning, answer and error."""
    page = _Page(width)
    page.title("Input")
    _write_input(page, content.input)
    output = content.output
    if output is not None and output.reasoning is not None:
        page.title("Reasoning")
        page.text(output.reasoning)
    page.title("Output")
    if output is None:
        page.note(UNKNOWN)
    elif output.completion is None:
        page.note(UNKNOWN if "completion" in output.gaps else "none")
    else:
        page.text(output.completion)
    if content.error:
        page.title("Error", "bad")
        message = content.error.get("message")
        page.text(message) if isinstance(message, str) else None
        page.rest({name: value for name, value in content.error.items() if name != "message"})
    gaps = list(every_gap(content))
    if gaps:
        page.title("Gaps", "warn")
        for path, why in gaps:
            page.text(f"{path}: {why}")
    return page.lines


def _write_input(page: _Page, given: Mapping[str, Any] | None) -> None:
    if given is None:
        page.note(UNKNOWN)
        return
    rest = dict(given)
    prompt, messages = rest.get("prompt"), rest.get("messages")
    if isinstance(prompt, str):
        page.text(prompt)
        del rest["prompt"]
    if isinstance(messages, list):
        for number, message in enumerate(messages):
            _write_message(page, message, first=number == 0)
        del rest["messages"]
    page.rest(rest)


def _write_message(page: _Page, message: Any, *, first: bool) -> None:
    if not isinstance(message, Mapping):
        page.rest(message)
        return
    if not first:
        page.blank()
    page.role(message.get("role"))
    body = message.get("content")
    parts = body if isinstance(body, list) else [body]
    for part in parts:
        _write_part(page, part)
    page.rest({name: value for name, value in message.items() if name not in {"role", "content"}})


def _write_part(page: _Page, part: Any) -> None:
    if isinstance(part, str):
        page.text(part)
    elif isinstance(part, Mapping) and part.get("type") in _TEXTS and "text" in part:
        page.text(part["text"])
        page.rest({name: value for name, value in part.items() if name not in {"type", "text"}})
    elif part is not None:
        page.rest(part)


class _Page:
    """Lines, folded to the width; stops taking text at ``MOST`` characters and says so."""

    def __init__(self, width: int) -> None:
        self._width = max(20, width)
        self._left = MOST
        self.lines: list[Content] = []

    def title(self, text: str, tone: Any = "accent") -> None:
        if self.lines:
            self.blank()
        self.lines.append(toned(text, tone, bold=True))

    def role(self, name: Any) -> None:
        self.lines.append(toned(safe_line(name or UNKNOWN, _TITLE), "muted", bold=True))

    def note(self, text: str) -> None:
        self.lines.append(toned(_INDENT + text, "muted"))

    def blank(self) -> None:
        self.lines.append(Content(""))

    def text(self, value: Any) -> None:
        """A text as it was written, line breaks kept."""
        text = value if isinstance(value, str) else str(value)
        shown = safe_text(text, self._left, newlines=True) if self._left > 0 else ""
        room = self._width - len(_INDENT)
        if shown:
            folded = toned(shown).wrap(room) or [toned(shown)]
            self.lines += [Content.assemble(_INDENT, line) for line in folded]
        if len(text) > self._left:
            self.note(f"({len(text) - max(0, self._left):,} more characters are not shown)")
        self._left -= min(len(text), max(0, self._left))

    def rest(self, value: Any) -> None:
        """Whatever else there is, as JSON."""
        if value in ({}, [], None):
            return
        text = safe_text(json.dumps(value, ensure_ascii=False, default=str), _REST)
        room = self._width - len(_INDENT)
        folded = toned(text, "muted").wrap(room) or [toned(text, "muted")]
        self.lines += [Content.assemble(_INDENT, line) for line in folded]
