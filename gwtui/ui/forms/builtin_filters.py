"""The builtin content filters of a guardrail: each off, or doing what the dialect allows."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import ClassVar, cast

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, Vertical
from textual.content import Content
from textual.widgets import Button, Static

from gwtui.contract.content_filters import BUILTIN_LABELS, BUILTIN_SLUGS, PROMPT_INJECTION
from gwtui.contract.guardrails import legal_actions
from gwtui.crud.form import BuiltinRow, FilterListField
from gwtui.domain.safe_text import safe_line
from gwtui.ui.commands import with_keys
from gwtui.ui.forms.editors import ChoiceEditor, Edited, Entered
from gwtui.ui.forms.reading import UNSAID, Typed
from gwtui.ui.forms.value_screen import Kept, OpeningEditor, ValueScreen
from gwtui.ui.screens.modal import FittedDialog
from gwtui.ui.tones import toned
from gwtui.ui.widgets.folding import FoldingScroll

Problems = Mapping[int, Mapping[str, str]]
"""What is wrong with entries: place -> part -> why."""

_OFF = ""
_SCOPES: tuple[tuple[str, str], ...] = (
    ("all_messages", "every message"),
    ("user_only", "the user's only"),
)
_NAMED = 24


@dataclass(frozen=True, slots=True)
class _Line:
    """One filter on the screen; ``place`` is that of its entry in the value, if it has one."""

    slug: str
    place: int | None = None


_HINT = "↑ ↓ filter · ← → or letters choose · {form.send} done · {form.leave} leaves"


class BuiltinsScreen(ValueScreen, FittedDialog[Kept | None]):
    """Every builtin filter in sight, with a choice each."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("down", "app.focus_next", show=False, id="form.next_field"),
        Binding("up", "app.focus_previous", show=False, id="form.previous_field"),
    ]
    AUTO_FOCUS = "ChoiceEditor"

    def __init__(self, field: FilterListField, started: Typed, problems: Problems) -> None:
        super().__init__(started)
        self.field = field
        self._problems = problems
        self._rows = rows_of(started)
        self._lines = tuple(_lines(self._rows))

    def compose(self) -> ComposeResult:
        """A line for each filter; the one for prompt injection also says what it reads."""
        with Vertical(classes="dialog filters"):
            yield Static(toned(self.field.label, "accent", bold=True), classes="title")
            with FoldingScroll(id="builtin-lines", classes="long", can_focus=False):
                for at, line in enumerate(self._lines):
                    yield from self._compose_line(at, line)
            with Horizontal(classes="buttons"):
                yield Button(Content("Done"), id="done", compact=True)
                yield Button(Content("Leave as it was"), id="leave", compact=True)
            yield Static(
                toned(with_keys(_HINT), "muted"),
                classes="keys",
            )

    def _compose_line(self, at: int, line: _Line) -> ComposeResult:
        row = None if line.place is None else self._rows[line.place]
        with Horizontal(classes="builtin"):
            yield Static(toned(safe_line(line.slug, _NAMED)), classes="label")
            editor = ChoiceEditor(
                self._actions(line, row), row.action if row else _OFF, id=f"action-{at}"
            )
            editor.add_class("editor")
            yield editor
            yield Static(toned(self._mark(line.slug), "muted"), classes="mark")
        if line.slug == PROMPT_INJECTION:
            with Horizontal(classes="builtin"):
                yield Static(toned("  looks in", "muted"), classes="label")
                scope = ChoiceEditor(_scopes(row), _scope(row), id=f"scope-{at}")
                scope.add_class("editor")
                yield scope
        wrong = {} if line.place is None else self._problems.get(line.place, {})
        for message in wrong.values():
            yield Static(toned(f"✗ {message}", "bad"), classes="wrong")

    def _actions(self, line: _Line, row: BuiltinRow | None) -> list[tuple[Typed, str]]:
        """Off, what the dialect allows, and what stands there although it does not."""
        options: list[tuple[Typed, str]] = [(_OFF, "off")]
        known = line.slug in BUILTIN_SLUGS
        legal = legal_actions(line.slug, self.field.dialect) if known else ()
        options += [(action, action) for action in legal]
        if row is not None and row.action not in legal:
            word = safe_line(row.action, _NAMED) or "unknown"
            options.append((row.action, f"{word} (not allowed here)" if known else word))
        return options

    def _mark(self, slug: str) -> str:
        if slug not in BUILTIN_SLUGS:
            return "unknown; kept"
        return BUILTIN_LABELS.get(slug, "")

    def result(self) -> Typed:
        """The filters that are on: those that were there in their order, then the new ones."""
        kept: dict[int, BuiltinRow] = {}
        added: list[BuiltinRow] = []
        for at, line in enumerate(self._lines):
            action = str(self.query_one(f"#action-{at}", ChoiceEditor).value)
            row = BuiltinRow(line.slug, "") if line.place is None else self._rows[line.place]
            if action == _OFF:
                continue
            row = replace(row, action=action, scan_scope=self._chosen_scope(at, row))
            if line.place is None:
                added.append(row)
            else:
                kept[line.place] = row
        found = (*(kept[place] for place in sorted(kept)), *added)
        return UNSAID if self._started == UNSAID and not found else found

    def _chosen_scope(self, at: int, row: BuiltinRow) -> str:
        if row.slug != PROMPT_INJECTION:
            return row.scan_scope
        scope = str(self.query_one(f"#scope-{at}", ChoiceEditor).value)
        # What was left unsaid stays so while it means the same.
        return row.scan_scope if scope == _scope(row) else scope

    @on(Edited)
    def _edited(self, event: Edited) -> None:
        event.stop()

    @on(Entered)
    def _entered(self, event: Entered) -> None:
        event.stop()
        self.focus_next()


class BuiltinsEditor(OpeningEditor):
    """The builtin filters that are on, in a line."""

    def __init__(
        self, field: FilterListField, typed: Typed, problems: Callable[[], Problems]
    ) -> None:
        super().__init__(typed)
        self.field = field
        self._find_problems = problems

    def summary(self) -> str:
        """Each with what it does."""
        if self.typed == UNSAID:
            return "unknown"
        rows = rows_of(self.typed)
        return ", ".join(safe_line(f"{row.slug} {row.action}", 50) for row in rows) or "all off"

    def screen_to_open(self) -> BuiltinsScreen:
        """The list."""
        return BuiltinsScreen(self.field, self.typed, self._find_problems())


def rows_of(typed: Typed) -> tuple[BuiltinRow, ...]:
    """The rows of what an editor of builtin filters holds."""
    return cast("tuple[BuiltinRow, ...]", typed) if isinstance(typed, tuple) else ()


def _lines(rows: tuple[BuiltinRow, ...]) -> Iterator[_Line]:
    for slug in BUILTIN_SLUGS:
        places = [place for place, row in enumerate(rows) if row.slug == slug]
        yield from [_Line(slug, place) for place in places] or [_Line(slug)]
    for place, row in enumerate(rows):
        if row.slug not in BUILTIN_SLUGS:
            yield _Line(row.slug, place)


def _scope(row: BuiltinRow | None) -> str:
    """What is read; every message where nothing was said."""
    return (row.scan_scope if row else "") or _SCOPES[0][0]


def _scopes(row: BuiltinRow | None) -> list[tuple[Typed, str]]:
    options: list[tuple[Typed, str]] = list(_SCOPES)
    if _scope(row) not in dict(_SCOPES):
        options.append((_scope(row), safe_line(_scope(row), _NAMED)))
    return options
