"""The help page of a screen: every action and what has none of its own; it can be searched."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, ClassVar

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal
from textual.content import Content
from textual.widgets import Input, Static

from gwtui.crud.action import APP, COPY, LIST, Action
from gwtui.crud.resource import ResourceSpec
from gwtui.domain.safe_text import safe_text
from gwtui.resources.actions import GO_TO
from gwtui.ui.commands import asked_by, tab_of
from gwtui.ui.screens.pages import ReadingScreen
from gwtui.ui.text import toned
from gwtui.ui.widgets.lines import LinesView
from gwtui.ui.widgets.prompt import QuietInput

Page = Callable[[int, str], Sequence[Content]]
"""The page for a width in cells, narrowed to what has these words."""
_KEYS = 20
_TABLE_KEYS = (
    ("↑ ↓, j k", "move by a row"),
    ("PgUp PgDn", "move by a page"),
    ("Home End, g G", "first and last row"),
    ("← →", "scroll the columns"),
    ("Tab", "between the list and the detail pane"),
    ("click on a title", "sort by that column, again to reverse"),
)
_FILTER = (
    ("word", "somewhere in the row, capitals or not"),
    ('"two words"', "the same, with the blank"),
    ("-word", "rows that do not match it; goes before any other part too"),
    ("column:text", "the column holds it; a figure or yes/no is compared by its value"),
    ("column=text", "the column is exactly that; != is the opposite"),
    ("column>5", "also >= < <=; $ and % may be written, k M B T multiply"),
    ("created<7d", "a moment less than 7 days away, before or after now"),
    ("created>=2026-11-01", "a moment, UTC"),
    ("limit:none", "unknown or not set"),
)


class HelpScreen(ReadingScreen):
    """A page to read. Behind a slash words narrow it; Escape first ends the search."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("slash", "seek", show=False)]
    KEYS = "/ searches · ↑ ↓ PgUp PgDn scroll · Esc closes"

    def __init__(self, title: str, page: Page) -> None:
        super().__init__(title, lambda width: page(width, self._search_text))
        self._search_text = ""

    def compose(self) -> ComposeResult:
        """The page, and the search below it."""
        yield from super().compose()
        with Horizontal(id="help-seek") as seek:
            seek.display = False
            yield Static(toned("/ ", "accent", bold=True), classes="sign")
            yield QuietInput(placeholder="words that an entry has")

    @on(Input.Changed)
    def _typed(self, event: Input.Changed) -> None:
        event.stop()
        self._search_text = event.value
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


def help_lines(
    actions: Sequence[Action],
    spec: ResourceSpec[Any] | None,
    width: int,
    hold_reason: Callable[[Action], object],
    search_text: str = "",
) -> list[Content]:
    """Every action by scope, then the keys of lists, the filter's language and the columns.

    ``hold_reason`` gives why an action is not possible while read-only, else None. Only entries
    with each word of ``search_text`` are given.
    """
    page = _HelpPage(width, search_text)
    places = [action for action in actions if tab_of(action) is not None]
    for title, scope in _groups(actions, spec):
        page.title(title)
        for action in actions:
            if action.scope == scope and action not in places:
                page.action(action, held=hold_reason(action) is not None)
    page.places(places)
    if spec is not None:
        page.section("In the list", _TABLE_KEYS)
        page.section("Filter", _FILTER)
        page.section("Columns", [(c.id, c.help or c.title) for c in spec.columns])
        page.section("Further names for the filter", [(name, "") for name in spec.facets])
    return page.lines or [toned(f"Nothing here is about {safe_text(search_text, 60)}.", "muted")]


def _groups(actions: Sequence[Action], spec: ResourceSpec[Any] | None) -> list[tuple[str, str]]:
    own = [action.scope for action in actions if action.scope not in {APP, COPY, LIST}]
    groups = [(spec.title if spec is not None else scope.capitalize(), scope) for scope in own]
    frame = [("Lists", LIST), ("Copy and export", COPY), ("Everywhere", APP)]
    return [*dict.fromkeys(groups), *frame]


class _HelpPage:
    """Lines of a name and what it means, the meaning folded beside it."""

    def __init__(self, width: int, search_text: str) -> None:
        self._width = width
        self._search_text = search_text.casefold().split()
        self._title, self._titled = "", False
        self.lines: list[Content] = []

    def title(self, text: str) -> None:
        """What the next entries are about; it is shown when there is one."""
        self._title, self._titled = text, False

    def section(self, title: str, pairs: Sequence[tuple[str, str]]) -> None:
        self.title(title)
        for name, meaning in pairs:
            self._line(toned(name), toned(meaning, "muted"))

    def action(self, action: Action, *, held: bool) -> None:
        name = toned(asked_by(action), "muted" if held else "plain", bold=True)
        why = toned(" (not while read-only)" if held else "", "warn")
        meaning = Content.assemble(toned(f"{action.title}: "), toned(action.help, "muted"), why)
        self._line(name, meaning, action.keywords)

    def places(self, actions: Sequence[Action]) -> None:
        """Where can be gone to: those with a key of their own, then the others."""
        self.title("Go to")
        keyed = [action for action in actions if action.keys]
        if keyed:
            keys = " ".join(asked_by(action) for action in keyed)
            self._line(toned(keys, bold=True), toned(_named(keyed, keys=True), "muted"))
        if others := [action for action in actions if not action.keys]:
            self._line(toned(": or palette", bold=True), toned(_named(others), "muted"))

    def _line(self, name: Content, meaning: Content, also: str = "") -> None:
        told = f"{self._title} {name.plain} {meaning.plain} {also}".casefold()
        if not all(word in told for word in self._search_text):
            return
        if not self._titled:
            self.lines += [Content("")] if self.lines else []
            self.lines.append(toned(self._title, "accent", bold=True))
            self._titled = True
        start = Content.assemble("  ", name.pad_right(max(1, _KEYS - name.cell_length)))
        room = max(20, self._width - start.cell_length)
        for number, line in enumerate(meaning.wrap(room) or [meaning]):
            indent = start if number == 0 else Content(" " * start.cell_length)
            self.lines.append(Content.assemble(indent, line))


def _named(places: Sequence[Action], *, keys: bool = False) -> str:
    return ", ".join(
        f"{asked_by(one)} {one.title.removeprefix(GO_TO)}"
        if keys
        else one.title.removeprefix(GO_TO)
        for one in places
    )
