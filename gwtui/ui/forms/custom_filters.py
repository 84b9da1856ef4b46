"""The custom filters of a guardrail: a list, an editor of the current one, and a tester."""

from __future__ import annotations

from collections.abc import Callable
from typing import ClassVar, cast

from pydantic import ValidationError
from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, Vertical
from textual.content import Content
from textual.widgets import Button, Static

from gwtui.contract.content_filters import FILTER_ACTIONS, CustomFilterRequest
from gwtui.contract.request import field_rules, problems
from gwtui.crud.form import CustomFilterField, CustomRow
from gwtui.domain.safe_text import safe_line, safe_text
from gwtui.ui.commands import with_keys
from gwtui.ui.forms.builtin_filters import Problems
from gwtui.ui.forms.editors import ChoiceEditor, Edited, Entered, TextEditor
from gwtui.ui.forms.pattern_tester import PatternTester
from gwtui.ui.forms.reading import UNSAID, Typed
from gwtui.ui.forms.row_list import RowList
from gwtui.ui.forms.value_screen import OpeningEditor, ValueScreen
from gwtui.ui.text import fit
from gwtui.ui.tones import toned
from gwtui.ui.widgets.one_line import OneLine

_PATTERN_WIDTH = 44
_MOST_ROWS = 5
"""Filters in sight at once; the list scrolls."""
_RULES = field_rules(CustomFilterRequest)
_NEW = CustomRow("", "block")
_PARTS = ("pattern", "action", "label")


class FiltersScreen(ValueScreen):
    """Adds, changes and removes filters; what they would do stands below while one types."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("ctrl+n", "add", show=False, priority=True, id="form.add"),
        Binding("n,plus", "add_from_list", show=False),
        Binding("d,delete", "remove", show=False),
        Binding("enter", "edit", show=False),
        Binding("down", "app.focus_next", show=False, id="form.next_field"),
        Binding("up", "app.focus_previous", show=False, id="form.previous_field"),
    ]
    AUTO_FOCUS = "#filter-rows"

    def __init__(
        self, field: CustomFilterField, started: Typed, problems: Problems, sample: str
    ) -> None:
        super().__init__(started)
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
            yield RowList(id="filter-rows")
            with Vertical(id="filter-editor"):
                yield from self._compose_editor()
            yield PatternTester(self.sample)
            with Horizontal(classes="buttons"):
                yield Button(Content("Done"), id="done", compact=True)
                yield Button(Content("Leave as it was"), id="leave", compact=True)
                yield Static(
                    toned(with_keys("{form.add} adds · d removes · {form.send} done"), "muted"),
                    classes="keys",
                )

    def _compose_editor(self) -> ComposeResult:
        row = self._rows[0] if self._rows else _NEW
        odd = dict.fromkeys(row.action for row in self._rows if row.action not in FILTER_ACTIONS)
        actions: list[tuple[Typed, str]] = [(action, action) for action in FILTER_ACTIONS]
        actions += [(action, safe_line(action, 20) or "unknown") for action in odd]
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

    def result(self) -> Typed:
        """The filters; ones that were added and left empty do not count."""
        self._take()
        rows = tuple(row for row in self._rows if row.pattern or row.label)
        return UNSAID if self._started == UNSAID and not rows else rows

    # The list -------------------------------------------------------------------------------

    @on(RowList.Moved)
    def _moved(self, event: RowList.Moved) -> None:
        event.stop()
        self._take()
        self._turn_to(event.rows.current)

    @on(RowList.Clicked)
    def _clicked(self, event: RowList.Clicked) -> None:
        event.stop()

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
        return isinstance(self.focused, RowList)

    def action_edit(self) -> None:
        """From the list to the pattern."""
        if not self._in_list:
            return
        if self._rows:
            self.query_one("#filter-pattern").focus()
        else:
            self.action_add()

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

    @on(Entered)
    def _entered(self, event: Entered) -> None:
        event.stop()
        self.focus_next()

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
        rows = self.query_one("#filter-rows", RowList)
        lines = [self._line(place, row) for place, row in enumerate(self._rows)]
        empty = toned(with_keys("no filter yet: {form.add} or Enter adds one"), "muted")
        rows.styles.height = min(max(len(lines), 1), _MOST_ROWS)
        rows.show_rows(lines or [empty], self._editing)
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
        self._open: FiltersScreen | None = None

    def summary(self) -> str:
        """How many do what."""
        if self.typed == UNSAID:
            return "unknown"
        actions = [row.action for row in custom_rows_of(self.typed)]
        counts = [
            f"{actions.count(action)} {safe_line(action, 20)}" for action in dict.fromkeys(actions)
        ]
        return ", ".join(counts) or "none"

    def screen_to_open(self) -> FiltersScreen:
        """The list and the tester."""
        sample = self._open.sample if self._open is not None else ""
        self._open = FiltersScreen(self.field, self.typed, self._find_problems(), sample)
        return self._open


def custom_rows_of(typed: Typed) -> tuple[CustomRow, ...]:
    """The rows of what an editor of custom filters holds."""
    return cast("tuple[CustomRow, ...]", typed) if isinstance(typed, tuple) else ()
