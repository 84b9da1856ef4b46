"""Editors of a guardrail's content filters: the builtin ones, and a list of custom ones.

A builtin filter is off, or does what the dialect allows. A custom one is edited beside the list
and tested on a sample.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import ClassVar, cast

from pydantic import ValidationError
from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, Vertical
from textual.content import Content
from textual.widgets import OptionList, Static
from textual.widgets.option_list import Option

from gwtui.contract.content_filters import (
    BUILTIN_LABELS,
    BUILTIN_SLUGS,
    FILTER_ACTIONS,
    PROMPT_INJECTION,
    CustomFilterRequest,
)
from gwtui.contract.guardrails import legal_actions
from gwtui.contract.request import field_rules, problems
from gwtui.crud.form import BuiltinRow, CustomFilterField, CustomRow, FilterListField
from gwtui.domain.safe_text import safe_line, safe_text
from gwtui.ui.commands import with_keys
from gwtui.ui.forms.field_editors import (
    ChoiceEditor,
    Edited,
    OpeningEditor,
    TextEditor,
    ValueScreen,
)
from gwtui.ui.forms.form_state import UNSAID, Typed
from gwtui.ui.forms.pattern_tester import PatternTester
from gwtui.ui.screens.modal import buttons
from gwtui.ui.text import fit, toned
from gwtui.ui.widgets.containers import FoldingScroll
from gwtui.ui.widgets.lines import OneLine

Problems = Mapping[int, Mapping[str, str]]
"""What is wrong with entries: place -> part -> why."""

_OFF = ""
_SCOPES: tuple[tuple[str, str], ...] = (
    ("all_messages", "every message"),
    ("user_only", "the user's only"),
)
_NAMED = 24
_PATTERN_WIDTH = 44
_MOST_ROWS = 5
"""Filters in sight at once; the list scrolls."""
_RULES = field_rules(CustomFilterRequest)
_NEW = CustomRow("", "block")
_PARTS = ("pattern", "action", "label")


@dataclass(frozen=True, slots=True)
class _Line:
    """One filter on the screen; ``place`` is that of its entry in the value, if it has one."""

    slug: str
    place: int | None = None


class BuiltinsScreen(ValueScreen):
    """Every builtin filter in sight, with a choice each."""

    AUTO_FOCUS = "ChoiceEditor"
    hint = "{form.send} done · {form.leave} leaves · ↑ ↓ filter · ← → or letters choose"

    def __init__(self, field: FilterListField, started: Typed, problems: Problems) -> None:
        super().__init__()
        self.started = started
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
            yield buttons(done="Done", leave="Leave as it was")

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
            options.append((row.action, _not_legal(row.action, known=known)))
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
        return UNSAID if self.started == UNSAID and not found else found

    def _chosen_scope(self, at: int, row: BuiltinRow) -> str:
        if row.slug != PROMPT_INJECTION:
            return row.scan_scope
        scope = str(self.query_one(f"#scope-{at}", ChoiceEditor).value)
        # What was left unsaid stays so while it means the same.
        return row.scan_scope if scope == _scope(row) else scope


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

    async def ask(self) -> Typed:
        """The list."""
        return await self.changed_on(BuiltinsScreen(self.field, self.typed, self._find_problems()))


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


def _not_legal(action: str, *, known: bool) -> str:
    """The label of an action that a filter has although the dialect does not allow it."""
    word = safe_line(action, _NAMED) or "unknown"
    return f"{word} (not allowed here)" if known else word


def _scope(row: BuiltinRow | None) -> str:
    """What is read; every message where nothing was said."""
    return (row.scan_scope if row else "") or _SCOPES[0][0]


def _scopes(row: BuiltinRow | None) -> list[tuple[Typed, str]]:
    options: list[tuple[Typed, str]] = list(_SCOPES)
    if _scope(row) not in dict(_SCOPES):
        options.append((_scope(row), safe_line(_scope(row), _NAMED)))
    return options


class FiltersScreen(ValueScreen):
    """Adds, changes and removes filters; what they would do stands below while one types."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("ctrl+n", "add", show=False, priority=True, id="form.add"),
        Binding("n,plus", "add_from_list", show=False),
        Binding("d,delete", "remove", show=False),
    ]
    AUTO_FOCUS = "#filter-rows"

    def __init__(
        self, field: CustomFilterField, started: Typed, problems: Problems, sample: str
    ) -> None:
        super().__init__()
        self.started = started
        self.field = field
        self.sample = sample
        self._rows = list(custom_rows_of(started))
        self._editing = 0
        self._refused = {
            row: problems[place] for place, row in enumerate(self._rows) if place in problems
        }
        """What was refused, by the row that it was about; a changed row is another one."""

    def compose(self) -> ComposeResult:
        """List, editor, tester, buttons."""
        with Vertical(id="filters"):
            with Horizontal(classes="head"):
                yield Static(toned(self.field.label, "accent", bold=True), classes="title")
                yield OneLine(id="filter-count")
            yield OptionList(id="filter-rows", markup=False, compact=True)
            with Vertical(id="filter-editor"):
                yield from self._compose_editor()
            yield PatternTester(self.sample)
            yield buttons(done="Done", leave="Leave as it was")

    def _compose_editor(self) -> ComposeResult:
        row = self._rows[0] if self._rows else _NEW
        legal = legal_actions(None, self.field.dialect)
        odd = dict.fromkeys(row.action for row in self._rows if row.action not in legal)
        actions: list[tuple[Typed, str]] = [(action, action) for action in legal]
        actions += [(action, _not_legal(action, known=action in FILTER_ACTIONS)) for action in odd]
        pattern = TextEditor(row.pattern, "such as [A-Z]{2}[0-9]{6}")
        action = ChoiceEditor(actions, row.action)
        label = TextEditor(row.label, "what stands for redacted text, such as [ID]")
        editors = (("Pattern", pattern), ("Action", action), ("Label", label))
        for part, (word, editor) in zip(_PARTS, editors, strict=True):
            editor.id = f"filter-{part}"
            with Horizontal(classes="line"):
                yield Static(toned(word, "muted"), classes="label")
                yield editor
                yield OneLine(id=f"{part}-count")
            if part == "pattern":
                yield OneLine(id="filter-problem")

    def on_mount(self) -> None:
        """Show the list."""
        self._show()

    @property
    def hint(self) -> str:
        """Which keys there are; some belong to the list."""
        keys = "{form.send} done · {form.leave} leaves · {form.add} adds"
        return f"{keys} · d removes · Enter edits" if self._in_list else f"{keys} · Tab next"

    def result(self) -> Typed:
        """The filters; ones that were added and left empty do not count."""
        self._take()
        rows = tuple(row for row in self._rows if row.pattern or row.label)
        return UNSAID if self.started == UNSAID and not rows else rows

    # The list -------------------------------------------------------------------------------

    @on(OptionList.OptionHighlighted)
    def _moved(self, event: OptionList.OptionHighlighted) -> None:
        event.stop()
        if self._rows and event.option_index != self._editing:
            self._take()
            self._turn_to(event.option_index)

    @on(OptionList.OptionSelected)
    def _entered_row(self, event: OptionList.OptionSelected) -> None:
        """Enter, or a click: from the list to the pattern."""
        event.stop()
        if self._rows:
            self.query_one("#filter-pattern").focus()
        else:
            self.action_add()

    def action_add(self) -> None:
        """A new filter at the end; the keys go to its pattern."""
        self._take()
        if not self._rows or self._rows[-1] != _NEW:
            self._rows.append(_NEW)
        self._turn_to(len(self._rows) - 1)
        self.query_one("#filter-pattern").focus()

    def action_remove(self) -> None:
        """Take the current filter away; only where the keys belong to the list."""
        if self._rows and self._in_list:
            self._take()
            del self._rows[self._editing]
            self._turn_to(min(self._editing, max(len(self._rows) - 1, 0)))

    def action_add_from_list(self) -> None:
        """A new filter, where letters are not typed."""
        if self._in_list:
            self.action_add()

    @property
    def _in_list(self) -> bool:
        return isinstance(self.focused, OptionList)

    def _turn_to(self, place: int) -> None:
        """Another filter is the current one."""
        self._editing = place
        row = self._rows[place] if self._rows else _NEW
        self.query_one("#filter-pattern", TextEditor).follow(row.pattern)
        self.query_one("#filter-action", ChoiceEditor).follow(row.action)
        self.query_one("#filter-label", TextEditor).follow(row.label)
        self._show()

    # The current one ------------------------------------------------------------------------

    @on(Edited)
    def _edited(self, event: Edited) -> None:
        event.stop()
        self._take()
        self._show()

    @on(PatternTester.SampleChanged)
    def _sampled(self, event: PatternTester.SampleChanged) -> None:
        event.stop()
        self.sample = event.sample

    def _take(self) -> None:
        """What the editors hold is the current filter."""
        row = CustomRow(
            self.query_one("#filter-pattern", TextEditor).value,
            str(self.query_one("#filter-action", ChoiceEditor).value),
            self.query_one("#filter-label", TextEditor).value.strip(),
        )
        if self._rows:
            self._rows[self._editing] = row
        elif row.pattern or row.label:
            # Typing into the empty editor is how the first one begins.
            self._rows.append(row)

    # Showing --------------------------------------------------------------------------------

    def _show(self) -> None:
        rows = self.query_one(OptionList)
        lines = [self._line(place, row) for place, row in enumerate(self._rows)]
        empty = toned(with_keys("no filter yet: {form.add} or Enter adds one"), "muted")
        rows.styles.height = min(max(len(lines), 1), _MOST_ROWS)
        with rows.prevent(OptionList.OptionHighlighted):
            rows.set_options(map(Option, lines or [empty]))
            rows.highlighted = self._editing
        count = f"{len(self._rows)} filter{'' if len(self._rows) == 1 else 's'}"
        self.query_one("#filter-count", OneLine).show(toned(count, "muted"))
        row = self._rows[self._editing] if self._rows else None
        wrong = self._wrong(row) if row is not None else {}
        reasons = "; ".join(
            f"{part}: {why}" if part != "pattern" else why for part, why in wrong.items()
        )
        problem = toned(f"✗ {safe_text(reasons, 200)}", "bad") if reasons else Content("")
        if row is not None and row == _NEW:
            problem = toned("a regular expression, tried on every message", "muted")
        self.query_one("#filter-problem", OneLine).show(problem)
        for part in ("pattern", "label"):
            self._count(part, getattr(row, part) if row is not None else "")
        self.query_one(PatternTester).try_rows(self._rows)

    def _line(self, place: int, row: CustomRow) -> Content:
        wrong = bool(self._wrong(row)) and row != _NEW
        return Content.assemble(
            toned("✗" if wrong else " ", "bad", bold=True),
            toned(f"{place + 1:>2} {safe_line(row.action, 10):<8}", "muted"),
            toned(fit(safe_text(row.pattern, 200) or "(no pattern yet)", _PATTERN_WIDTH)),
            toned(f" → {safe_line(row.label, 20)}" if row.label else "", "muted"),
        )

    def _wrong(self, row: CustomRow) -> dict[str, str]:
        """What the model or the gateway refuses in a filter, by part."""
        found = dict(self._refused.get(row, {}))
        try:
            CustomFilterRequest.model_validate(row.value())
        except ValidationError as error:
            for problem in problems(error):
                found.setdefault(problem.field, problem.message)
        return found

    def _count(self, part: str, text: str) -> None:
        most = _RULES[part].max_length
        over = most is not None and len(text) > most
        shown = f"{len(text)}/{most}" if text and most is not None else ""
        line = self.query_one(f"#{part}-count", OneLine)
        line.show(toned(shown, "bad" if over else "muted"))


class FiltersEditor(OpeningEditor):
    """The custom filters in a line. Keeps the sample for as long as the form is open."""

    def __init__(
        self, field: CustomFilterField, typed: Typed, problems: Callable[[], Problems]
    ) -> None:
        super().__init__(typed)
        self.field = field
        self._find_problems = problems
        self._sample = ""

    def summary(self) -> str:
        """How many do what."""
        if self.typed == UNSAID:
            return "unknown"
        actions = [row.action for row in custom_rows_of(self.typed)]
        counts = [
            f"{actions.count(action)} {safe_line(action, 20)}" for action in dict.fromkeys(actions)
        ]
        return ", ".join(counts) or "none"

    async def ask(self) -> Typed:
        """The list and the tester."""
        screen = FiltersScreen(self.field, self.typed, self._find_problems(), self._sample)
        typed = await self.changed_on(screen)
        self._sample = screen.sample
        return typed


def custom_rows_of(typed: Typed) -> tuple[CustomRow, ...]:
    """The rows of what an editor of custom filters holds."""
    return cast("tuple[CustomRow, ...]", typed) if isinstance(typed, tuple) else ()
