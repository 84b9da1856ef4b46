"""One generation, looked up by its id; what it read and wrote, as plain lines."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from textual import on, work
from textual.app import ComposeResult
from textual.containers import Horizontal
from textual.content import Content
from textual.widgets import Input, Static

from gwtui.client.errors import GatewayError, NotFoundError
from gwtui.contract.usage import Generation, GenerationContent
from gwtui.crud.resource import Tone
from gwtui.crud.schema_drift import all_gaps
from gwtui.domain.cell_values import UNKNOWN
from gwtui.domain.safe_text import safe_line, safe_text
from gwtui.resources.copying import declared, row_path
from gwtui.resources.generations import ONE_GENERATION, SECTIONS, shown_name
from gwtui.ui.input_queue import FINISHING
from gwtui.ui.screens.pages import ObjectScreen
from gwtui.ui.subscriptions import FeedUse
from gwtui.ui.text import toned
from gwtui.ui.widgets.lines import LinesView, OneLine
from gwtui.ui.widgets.prompt import QuietInput

if TYPE_CHECKING:
    from gwtui.resources.copying import CopySource
    from gwtui.watch.hub import FeedHub


_ASK = "Enter looks it up. Every answer of the gateway names its generation: gen-…"


class GenerationScreen(ObjectScreen):
    """Asks for an id, then shows every field; a generation never changes, so it is read once."""

    def __init__(self) -> None:
        super().__init__("generation", title="Generation")
        self._identity = ""
        self._pending = False

    def compose_body(self) -> ComposeResult:
        """The id, what became of it, the figures."""
        with Horizontal(id="generation-ask"):
            yield Static(toned("Generation id ", "accent", bold=True), classes="label")
            yield QuietInput(id="generation-id", placeholder="gen-1763700000-abc123")
        yield OneLine(id="generation-state")
        yield from super().compose_body()

    def copy_source(self) -> CopySource[Generation]:
        """What was looked up."""
        return declared(ONE_GENERATION, row_path(self.resource))

    def on_mount(self) -> None:
        """Nothing was asked yet."""
        self._say(_ASK)

    def feeds(self, hub: FeedHub) -> Sequence[FeedUse]:  # noqa: ARG002 - the hook's signature
        """Nothing is read again and again here."""
        return ()

    async def reread(self) -> None:
        """Look the same one up again."""
        if self._identity:
            self._look_up(self._identity)

    def focus_body(self) -> None:
        """The figures once there are any, else the id."""
        if self.target() is None:
            self.ask()
        else:
            super().focus_body()

    def go_back(self) -> bool:
        """Leave the id for the figures, when there are any."""
        if isinstance(self.focused, QuietInput) and self.target() is not None:
            super().focus_body()
            return True
        return False

    def ask(self) -> None:
        """Let the person type an id."""
        self.query_one("#generation-id", QuietInput).focus()

    def resolve_path(self, path: str, child: str | None = None) -> None:  # noqa: ARG002 - the hook's
        """Look this one up, once there is a connection."""
        self.query_one("#generation-id", QuietInput).value = path
        self._look_up(path)

    def refeed(self) -> None:
        """A connection came: look up what was asked for before."""
        super().refeed()
        if self._pending and self.gwtui.session is not None:
            self._look_up(self._identity)

    @on(Input.Submitted, "#generation-id")
    def _submitted(self, event: Input.Submitted) -> None:
        event.stop()
        identity = event.value.strip()
        if identity:
            self._look_up(identity)

    @work(group=FINISHING, exclusive=True)
    async def _look_up(self, identity: str) -> None:
        self._identity = identity
        self._pending = self.gwtui.session is None
        named = f"“{safe_line(identity, 36)}”"
        if self._pending:
            self._say(f"{named} is looked up once there is a connection")
            return
        self._say(f"Looking up {named}…")
        try:
            found = await self.gwtui.gateway.generations.get(identity)
        except NotFoundError:
            self._say(f"No generation {named}: unknown, or no longer kept", "bad")
        except GatewayError as error:
            self._say(f"{named} could not be read: {safe_text(error.message, 200)}", "bad")
        else:
            self._say("/ or i asks for another one")
            self.show_object(shown_name(found), SECTIONS, found)
            self.query_one("#object", LinesView).scroll_home(animate=False)
            super().focus_body()

    def _say(self, words: str, tone: Tone = "muted") -> None:
        self.query_one("#generation-state", OneLine).show(Content.assemble(" ", toned(words, tone)))


MOST = 200_000
"""Characters that are shown of everything together."""
_TITLE = 60
_REST = 2_000
"""Characters of what has no words of its own, such as an image's data."""
_INDENT = "  "
_TEXTS = ("text", "input_text", "output_text")


def content_lines(content: GenerationContent, width: int) -> list[Content]:
    """Input message by message, then reasoning, answer and error: never markup, never links."""
    page = _ContentPage(width)
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
    gaps = list(all_gaps(content))
    if gaps:
        page.title("Gaps", "warn")
        for path, why in gaps:
            page.text(f"{path}: {why}")
    return page.lines


def _write_input(page: _ContentPage, given: Mapping[str, Any] | None) -> None:
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


def _write_message(page: _ContentPage, message: Any, *, first: bool) -> None:
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


def _write_part(page: _ContentPage, part: Any) -> None:
    if isinstance(part, str):
        page.text(part)
    elif isinstance(part, Mapping) and part.get("type") in _TEXTS and "text" in part:
        page.text(part["text"])
        page.rest({name: value for name, value in part.items() if name not in {"type", "text"}})
    elif part is not None:
        page.rest(part)


class _ContentPage:
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
        if shown:
            for paragraph in shown.split("\n"):
                self._fold(paragraph)
        if len(text) > self._left:
            self.note(f"({len(text) - max(0, self._left):,} more characters are not shown)")
        self._left -= min(len(text), max(0, self._left))

    def rest(self, value: Any) -> None:
        """Whatever else there is, as JSON."""
        if value in ({}, [], None):
            return
        self._fold(safe_text(json.dumps(value, ensure_ascii=False, default=str), _REST), "muted")

    def _fold(self, paragraph: str, tone: Tone = "plain") -> None:
        room = self._width - len(_INDENT)
        if len(paragraph) <= room and paragraph.isascii():  # to wrap takes ten times as long
            self.lines.append(Content.assemble(_INDENT, toned(paragraph, tone)))
            return
        folded = toned(paragraph, tone).wrap(room) or [toned(paragraph, tone)]
        self.lines += [Content.assemble(_INDENT, line) for line in folded]
