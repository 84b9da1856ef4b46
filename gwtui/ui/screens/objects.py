"""Screens that show all fields of one object: the key in use, and a generation."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any

from textual import on
from textual.app import ComposeResult
from textual.content import Content

from gwtui.contract.keys import CurrentKey
from gwtui.contract.usage import Generation, GenerationContent
from gwtui.crud.action import COPY
from gwtui.crud.resource import Section
from gwtui.crud.schema_drift import all_gaps
from gwtui.domain.cell_values import UNKNOWN
from gwtui.domain.safe_text import safe_line, safe_text
from gwtui.resources import generations
from gwtui.resources.actions import FIGURES
from gwtui.resources.copying import CopySource, declared, row_path
from gwtui.resources.keys.current import SECTIONS, THIS_KEY, key_rights_section, shown_name
from gwtui.ui.commands import with_keys
from gwtui.ui.screens.base import GatewayScreen
from gwtui.ui.subscriptions import FeedUse
from gwtui.ui.text import toned
from gwtui.ui.widgets.detail import section_lines
from gwtui.ui.widgets.lines import LinesView
from gwtui.ui.widgets.prompt import Prompt
from gwtui.watch.feed import FeedState
from gwtui.watch.feeds.activity import generation_feed
from gwtui.watch.feeds.keys import KeyRights, current_key_feed, key_rights_feed
from gwtui.watch.hub import FeedHub, Scope

_ASK = (
    "Every model response contains a generation id (gen-…). Press {generation.lookup} to enter one."
)
_HINT = "generation id, such as gen-1763700000-abc123"

_MARGINS = 3
"""Padding on both sides and the scrollbar, in cells."""
_WIDEST = 100


class ObjectScreen(GatewayScreen):
    """Base of screens that show all fields of one object; subclasses call ``show_object``."""

    def __init__(self, resource: str, *, title: str) -> None:
        super().__init__(resource, title=title, extra_scopes=(FIGURES, COPY))
        self._object: tuple[str, Sequence[Section[Any]], Any] | None = None

    def compose_body(self) -> ComposeResult:
        yield LinesView(id="object")

    def show_object(self, name: str, sections: Sequence[Section[Any]], item: Any) -> None:
        """Show ``item`` in these sections; ``name``, the title, must be safe to display."""
        self._object = (name, sections, item)
        self.tick(self.now)

    def tick(self, now: datetime) -> None:
        if self._object is not None:
            name, sections, item = self._object
            width = min(_WIDEST, self.app.size.width - _MARGINS)
            lines = section_lines(name, sections, item, now, width)
            self.query_one("#object", LinesView).show(lines)

    def target(self) -> Any | None:
        return None if self._object is None else self._object[2]

    def focus_body(self) -> None:
        self.query_one("#object").focus()


class CurrentKeyScreen(ObjectScreen):
    """Permissions, models, limits, budgets and usage of the key that gwtui uses."""

    def __init__(self) -> None:
        super().__init__("key", title="Key in use")
        self._current: CurrentKey | None = None
        self._reach: KeyRights | None = None

    def copy_source(self) -> CopySource[CurrentKey]:
        """Return the key in use as the source for copying; its path has no id."""
        return declared(THIS_KEY, lambda _label: self.resource)

    def feeds(self, hub: FeedHub) -> Sequence[FeedUse]:
        scope = self.gwtui.scope
        return [
            (current_key_feed(hub, scope), self._show),
            (key_rights_feed(hub, scope), self._show_reach),
        ]

    def _show(self, state: FeedState[CurrentKey]) -> None:
        if state.value is not None:
            self._current = state.value
            self._lay_out()

    def _show_reach(self, state: FeedState[KeyRights]) -> None:
        if state.value is not None:
            self._reach = state.value
            self._lay_out()

    def _lay_out(self) -> None:
        if self._current is not None:
            rights, *others = SECTIONS
            sections = (rights, key_rights_section(self._reach), *others)
            self.show_object(shown_name(self._current), sections, self._current)


class GenerationScreen(ObjectScreen):
    """All fields of a generation, whose id is typed or named in a path."""

    def __init__(self) -> None:
        super().__init__("generation", title="Generation")
        self._identity = ""

    def compose_bars(self) -> ComposeResult:
        yield Prompt("#", _HINT, id="generation-id")

    def copy_source(self) -> CopySource[Generation]:
        return declared(generations.ONE_GENERATION, row_path(self.resource))

    def on_mount(self) -> None:
        self.query_one("#object", LinesView).show([toned(with_keys(_ASK), "muted")])

    def feeds(self, hub: FeedHub) -> Sequence[FeedUse]:
        """Return the feed of the generation; none without an id."""
        if not self._identity:
            return ()
        return [(generation_feed(hub, Scope(parent=self._identity)), self._show)]

    def focus_body(self) -> None:
        """Focus the fields; without an id, focus the prompt."""
        if self._identity:
            super().focus_body()
        else:
            self.ask()

    def ask(self) -> None:
        self.query_one("#generation-id", Prompt).open()

    def resolve_path(self, path: str, child: str | None = None) -> None:  # noqa: ARG002 - the hook's
        """Look up the generation whose id is ``path``."""
        self._identity, self._object = path, None
        self.query_one("#generation-id", Prompt).close()
        self.query_one("#object", LinesView).scroll_home(animate=False)
        self.refeed()
        super().focus_body()

    @on(Prompt.Entered, "#generation-id")
    def _entered(self, event: Prompt.Entered) -> None:
        if event.text:
            self.resolve_path(event.text)
        else:
            super().focus_body()

    def _show(self, state: FeedState[Sequence[Generation]]) -> None:
        for generation in state.value or ():
            name = generations.shown_name(generation)
            self.show_object(name, generations.SECTIONS, generation)


MOST = 200_000
"""Maximum number of characters of a generation's content."""
_ROLE = 60
_JSON = 2_000
"""Maximum number of characters of a part that is shown as JSON, such as an image."""
_INDENT = "  "


def content_lines(content: GenerationContent, width: int) -> list[Content]:
    """Return the content of a generation, wrapped to ``width`` cells, without markup or links.

    Input messages come first, then reasoning, output, error, and deviations from the contract.
    """
    output, error, gaps = content.output, content.error, list(all_gaps(content))
    parts = [("Input", UNKNOWN)] if content.input is None else [*_input(dict(content.input))]
    if output is not None and output.reasoning is not None:
        parts.append(("Reasoning", output.reasoning))
    known = output is not None and "completion" not in output.gaps
    parts.append(("Output", (output.completion or "none") if output and known else UNKNOWN))
    if error:
        parts.append(("Error", _text(dict(error))))
    if gaps:
        parts.append(("Gaps", "\n".join(f"{path}: {why}" for path, why in gaps)))
    lines, left = list[Content](), MOST
    room = max(20, width) - len(_INDENT)
    for title, text in parts:
        lines += [Content("")] if lines else []
        lines.append(toned(title, "accent", bold=True))
        for paragraph in safe_text(text, left, newlines=True).split("\n"):
            shown = toned(paragraph)
            lines += [Content.assemble(_INDENT, line) for line in shown.wrap(room) or [shown]]
        left -= len(text)
        if left <= 0:
            return [*lines, toned(f"{_INDENT}({MOST:,} characters are shown)", "muted")]
    return lines


def _input(given: dict[str, Any]) -> Iterator[tuple[str, str]]:
    messages = given.pop("messages") if isinstance(given.get("messages"), list) else ()
    if given:
        yield "Input", _text(given)
    for message in messages:
        if isinstance(message, Mapping):
            role = safe_line(message.get("role") or UNKNOWN, _ROLE)
            yield f"Input · {role}", _text({k: v for k, v in message.items() if k != "role"})
        else:
            yield "Input", _text(message)


def _text(value: Any) -> str:
    """Return the text parts of a value, then its other parts as JSON."""
    if isinstance(value, str):
        return value
    if isinstance(value, list):
        return "\n".join(map(_text, value))
    if not isinstance(value, Mapping):
        return safe_text(json.dumps(value, ensure_ascii=False, default=str), _JSON)
    texts = [_text(value[key]) for key in _NAMED if isinstance(value.get(key), str | list)]
    rest = {
        key: part
        for key, part in value.items()
        if key not in _NAMED or not isinstance(part, str | list)
    }
    if texts and rest.get("type") in _TEXTS:
        del rest["type"]
    if rest:
        texts.append(safe_text(json.dumps(rest, ensure_ascii=False, default=str), _JSON))
    return "\n".join(texts)


_NAMED = ("text", "prompt", "message", "content")
_TEXTS = ("text", "input_text", "output_text")
