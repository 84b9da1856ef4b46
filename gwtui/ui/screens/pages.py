"""Full-screen text pages, the texts of raw JSON and of help, and the command palette."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Iterator, Sequence
from typing import Any, ClassVar

from textual import events, on, work
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal
from textual.content import Content
from textual.widgets import Input, Static

from gwtui.contract.response import ResponseModel
from gwtui.crud.action import APP, COPY, LIST, Action
from gwtui.crud.fields import PickOption
from gwtui.crud.resource import ResourceSpec, Tone
from gwtui.crud.schema_drift import all_gaps, all_unknown_fields
from gwtui.domain.safe_text import safe_text
from gwtui.domain.serialize import exact_json, masked
from gwtui.resources.actions import GO_TO
from gwtui.ui.commands import key_label, tab_of, trigger_text
from gwtui.ui.input_queue import OPENING
from gwtui.ui.screens.dialogs import Dialog
from gwtui.ui.screens.picker import OptionSource, Picker
from gwtui.ui.text import toned
from gwtui.ui.widgets.lines import LinesView
from gwtui.ui.widgets.prompt import QuietInput

Lines = Callable[[int], Sequence[Content]]
"""Returns the text as lines, wrapped for a width in cells."""

_MARGINS = 3
"""Padding on both sides and the scrollbar, in cells."""
_INDENT = "  "
_TEXT, _NOTE = 4000, 420
"""Maximum number of characters of a JSON line, and of a note above the JSON."""


class ReadingScreen(Dialog[None]):
    """A full-screen page with a title and scrollable lines.

    ``copy`` lets the user choose a part of the text to copy, with the copy key of lists.
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
        yield Static(toned(f" {self._title}", "accent", bold=True), id="reading-title")
        yield LinesView(id="reading")

    def on_mount(self) -> None:
        self._lay_out()

    @property
    def hint(self) -> str:
        return f"{{list.copy}} copies · {self.KEYS}" if self._copy is not None else self.KEYS

    def on_resize(self, _event: events.Resize) -> None:
        self._lay_out()

    def _lay_out(self) -> None:
        # The view has no width before the first paint, so use the terminal's.
        self.query_one(LinesView).show(self._lines(self.app.size.width - _MARGINS))

    @work(group=OPENING, exclusive=True)
    async def action_copy(self) -> None:
        if self._copy is not None:
            await self._copy()


class SearchPage(ReadingScreen):
    """A page with search: a slash starts the search, Escape ends it.

    ``page`` returns the lines that match a search text, for a width in cells.
    """

    BINDINGS: ClassVar[list[BindingType]] = [Binding("slash", "seek", show=False)]
    KEYS = "/ searches · ↑ ↓ PgUp PgDn scroll · Esc closes"

    def __init__(self, title: str, page: Callable[[int, str], Sequence[Content]]) -> None:
        super().__init__(title, lambda width: page(width, self._search_text))
        self._search_text = ""

    def compose(self) -> ComposeResult:
        yield from super().compose()
        with Horizontal(id="page-seek") as seek:
            seek.display = False
            yield Static(toned("/ ", "accent", bold=True), classes="sign")
            yield QuietInput(placeholder="words to search for")

    @on(Input.Changed)
    def _typed(self, event: Input.Changed) -> None:
        event.stop()
        self._search_text = event.value
        self._lay_out()
        self.query_one(LinesView).scroll_home(animate=False)

    @on(Input.Submitted)
    def _entered(self, event: Input.Submitted) -> None:
        event.stop()
        self.query_one(LinesView).focus()

    def action_seek(self) -> None:
        self.query_one("#page-seek").display = True
        self.query_one(QuietInput).focus()

    def action_leave(self) -> None:
        """End the search; without one, close the page."""
        seek = self.query_one("#page-seek")
        if not seek.display:
            super().action_leave()
            return
        self.query_one(LinesView).focus()
        self.query_one(QuietInput).value = ""
        seek.display = False


# Raw JSON ----------------------------------------------------------------------------------------


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


# Help --------------------------------------------------------------------------------------------

_KEYS = 20
_MOST_USED, _FEW = "Most used here", 10
"""Heading of the first group, and the number of actions in it."""
_TABLE_KEYS = (
    ("↑ ↓, j k", "move by a row"),
    ("PgUp PgDn", "move by a page"),
    ("Home End, g G", "first and last row"),
    ("← →", "scroll the columns"),
    ("Tab", "between the list and the detail pane"),
    ("click a title", "sort by that column; again to reverse"),
)
_FILTER = (
    ("word", "anywhere in the row, ignoring case"),
    ('"two words"', "a phrase"),
    ("-word", "rows that do not match; works before any other term"),
    ("column:text", "the column contains it; numbers and yes/no compare by value"),
    ("column=text", "the column equals it; != is the opposite"),
    ("column>5", "also >= < <=; $, % and k M B T are understood"),
    ("created<7d", "a time within 7 days of now"),
    ("created>=2026-11-01", "a time, UTC"),
    ("limit:none", "unknown or not set"),
)


def help_lines(
    actions: Sequence[Action],
    spec: ResourceSpec[Any] | None,
    width: int,
    hold_reason: Callable[[Action], object],
    search_text: str = "",
) -> list[Content]:
    """Return the help text: most used actions, all actions, list keys, filter syntax, columns.

    ``hold_reason`` returns why read-only mode blocks an action, else None. With
    ``search_text``, only entries that contain all its words are returned, each once.
    """
    words, lines, titled = search_text.casefold().split(), list[Content](), ""
    for title, name, meaning, also in _entries(actions, spec, hold_reason):
        text = f"{title} {name.plain} {meaning.plain} {also}".casefold()
        if not all(word in text for word in words) or (words and title == _MOST_USED):
            continue
        if title != titled:
            lines += [Content("")] if lines else []
            lines.append(toned(title, "accent", bold=True))
            titled = title
        start = Content.assemble("  ", name.pad_right(max(1, _KEYS - name.cell_length)))
        room = max(20, width - start.cell_length)
        for line in meaning.wrap(room) or [meaning]:
            lines.append(Content.assemble(start, line))
            start = Content(" " * start.cell_length)
    return lines or [toned(f"No match for “{safe_text(search_text, 60)}”.", "muted")]


def _entries(
    actions: Sequence[Action],
    spec: ResourceSpec[Any] | None,
    hold_reason: Callable[[Action], object],
) -> Iterator[tuple[str, Content, Content, str]]:
    """Yield the group, name, explanation and search keywords of each action on the help page."""
    places = [action for action in actions if tab_of(action) is not None]
    possible = [
        action for action in actions if action not in places and hold_reason(action) is None
    ]
    for action in sorted(possible, key=lambda action: not action.footer)[:_FEW]:
        yield _MOST_USED, toned(trigger_text(action), bold=True), toned(action.title), ""
    for title, scope in _groups(actions, spec):
        for action in actions:
            if action.scope == scope and action not in places:
                held = hold_reason(action) is not None
                name = toned(trigger_text(action), "muted" if held else "plain", bold=True)
                why = toned(" (not while read-only)" if held else "", "warn")
                help_text = toned(action.help, "muted")
                meaning = Content.assemble(toned(f"{action.title}: "), help_text, why)
                yield title, name, meaning, action.keywords
    if keyed := [action for action in places if action.keys]:
        keys = toned(" ".join(map(trigger_text, keyed)), bold=True)
        yield "Go to", keys, toned(_named(keyed, keys=True), "muted"), ""
    if others := [action for action in places if not action.keys]:
        yield "Go to", toned(": or palette", bold=True), toned(_named(others), "muted"), ""
    tables: list[tuple[str, Iterable[tuple[str, str]]]] = []
    if spec is not None:
        tables = [
            ("In the list", _TABLE_KEYS),
            ("Filter", _FILTER),
            ("Columns", [(column.id, column.help or column.title) for column in spec.columns]),
            ("More filter fields", [(name, "") for name in spec.facets]),
        ]
    for title, pairs in tables:
        for term, explanation in pairs:
            yield title, toned(term), toned(explanation, "muted"), ""


def _groups(actions: Sequence[Action], spec: ResourceSpec[Any] | None) -> list[tuple[str, str]]:
    scopes = [action.scope for action in actions if action.scope not in {APP, COPY, LIST}]
    groups = [(spec.title if spec is not None else scope.capitalize(), scope) for scope in scopes]
    frame = [("Lists", LIST), ("Copy and export", COPY), ("Everywhere", APP)]
    return [*dict.fromkeys(groups), *frame]


def _named(places: Sequence[Action], *, keys: bool = False) -> str:
    return ", ".join(
        f"{trigger_text(place)} {place.title.removeprefix(GO_TO)}"
        if keys
        else place.title.removeprefix(GO_TO)
        for place in places
    )


# The palette --------------------------------------------------------------------------------------

_KEY_WIDTH = 7
"""Width of the key column in cells."""


def palette(
    actions: Sequence[Action], refusal: Callable[[Action], str | None], about: str
) -> Picker:
    """Return the command palette: a list of actions that returns the id of the chosen one.

    The palette does not run the action: its target was captured before the palette opened.
    ``refusal`` returns why an action is not possible now, else None.
    """

    def option(action: Action) -> PickOption:
        held = "" if refusal(action) is None else "not now · "
        return PickOption(action.id, action.title, f"{held}{action.help}", action.names)

    marks = {action.id: _key(action) for action in actions}
    return Picker(about, OptionSource(map(option, actions), noun="commands"), marks=marks)


def _key(action: Action) -> Content:
    word = f":{action.command_words[0]}" if action.command_words else ""
    key = key_label(action.keys[0]) if action.keys else word
    return toned(f"{key.rjust(_KEY_WIDTH)}  ", "accent")
