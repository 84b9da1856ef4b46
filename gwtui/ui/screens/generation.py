"""One generation, looked up by its id; what it read and wrote, as plain lines."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal

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

_Piece = tuple[Literal["title", "role", "note", "text", "rest"], Any]
"""What is shown, and as what: a text is folded, of a rest its JSON."""


def content_lines(content: GenerationContent, width: int) -> list[Content]:
    """Input message by message, then reasoning, answer and error: never markup, never links.

    Of all texts together ``MOST`` characters are shown.
    """
    room = max(20, width) - len(_INDENT)
    lines: list[Content] = []
    left = MOST
    for kind, value in _pieces(content):
        if kind == "title":
            lines += [Content("")] if lines else []
            lines.append(toned(value, "accent", bold=True))
        elif kind == "role":
            lines += [] if lines[-1].plain == "Input" else [Content("")]
            lines.append(toned(safe_line(value or UNKNOWN, _TITLE), "muted", bold=True))
        elif kind == "note":
            lines.append(toned(_INDENT + value, "muted"))
        elif kind == "rest":
            text = json.dumps(value, ensure_ascii=False, default=str)
            lines += _folded(safe_text(text, _REST), room, "muted")
        else:
            for paragraph in safe_text(str(value), left, newlines=True).split("\n"):
                lines += _folded(paragraph, room, "plain")
            left -= len(str(value))
            if left <= 0:
                return [*lines, toned(f"{_INDENT}({MOST:,} characters are shown)", "muted")]
    return lines


def _folded(paragraph: str, room: int, tone: Tone) -> list[Content]:
    text = toned(paragraph, tone)
    folded = text.wrap(room) or [text]
    return [Content.assemble(_INDENT, line) for line in folded]


def _pieces(content: GenerationContent) -> Iterator[_Piece]:
    yield "title", "Input"
    if content.input is None:
        yield "note", UNKNOWN
    else:
        yield from _input(dict(content.input))
    output = content.output
    if output is not None and output.reasoning is not None:
        yield "title", "Reasoning"
        yield "text", output.reasoning
    yield "title", "Output"
    if output is None or "completion" in output.gaps:
        yield "note", UNKNOWN
    elif output.completion is None:
        yield "note", "none"
    else:
        yield "text", output.completion
    if content.error:
        yield "title", "Error"
        yield from _named(content.error, "message")
    gaps = list(all_gaps(content))
    if gaps:
        yield "title", "Gaps"
        yield from (("text", f"{path}: {why}") for path, why in gaps)


def _input(rest: dict[str, Any]) -> Iterator[_Piece]:
    messages = rest.pop("messages") if isinstance(rest.get("messages"), list) else ()
    prompt = {"prompt": rest.pop("prompt")} if isinstance(rest.get("prompt"), str) else {}
    yield from _named(prompt, "prompt")
    for message in messages:
        if not isinstance(message, Mapping):
            yield "rest", message
            continue
        yield "role", message.get("role")
        body = message.get("content")
        for part in body if isinstance(body, list) else [body]:
            if isinstance(part, Mapping) and part.get("type") in _TEXTS:
                yield from _named({k: v for k, v in part.items() if k != "type"}, "text")
            elif part is not None:
                yield "text" if isinstance(part, str) else "rest", part
        yield from _rest({k: v for k, v in message.items() if k not in {"role", "content"}})
    yield from _rest(rest)


def _named(values: Mapping[str, Any], name: str) -> Iterator[_Piece]:
    """What stands under the name as text, then the others."""
    if isinstance(values.get(name), str):
        yield "text", values[name]
        values = {key: value for key, value in values.items() if key != name}
    yield from _rest(values)


def _rest(values: Mapping[str, Any]) -> Iterator[_Piece]:
    if values:
        yield "rest", values
