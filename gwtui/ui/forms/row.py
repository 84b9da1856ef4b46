"""A field of a form: label, editor, and a note or problem below."""

from __future__ import annotations

from dataclasses import replace
from typing import cast

from pydantic import SecretStr
from textual import events, on
from textual.app import ComposeResult
from textual.containers import Vertical
from textual.content import Content
from textual.geometry import Size
from textual.widget import Widget
from textual.widgets import Static

from gwtui.crud.fields import Field
from gwtui.crud.resource import Cell
from gwtui.domain.safe_text import safe_line
from gwtui.ui.commands import with_keys
from gwtui.ui.forms.content_filters import BuiltinsEditor, FiltersEditor
from gwtui.ui.forms.field_editors import (
    ChoiceEditor,
    Edited,
    Hinted,
    LinesEditor,
    OpeningEditor,
    TextEditor,
)
from gwtui.ui.forms.form_state import KEEP, FormState, Typed
from gwtui.ui.forms.option_pickers import ModelEditor, PickEditor, PicksEditor
from gwtui.ui.forms.secret import SecretEditor
from gwtui.ui.text import cell_content, toned
from gwtui.ui.widgets.lifetime import RunsWhileOpen

_LABEL = 22
"""Width of the label in cells with one blank, and indent of the note; as in ``forms.tcss``."""
_PRESENT = 36
"""Maximum number of characters of a value without a name: the length of a UUID."""


def make_editor(field: Field, state: FormState) -> Widget:
    """Return the widget that edits a field, with its current value."""
    typed = state.typed(field.name)
    missing = state.spec.missing if state.is_unknown(field.name) else ""
    field = replace(field, placeholder=missing or field.placeholder)
    editor: Widget
    match field.kind:
        case "switch" | "three_way" | "choice":
            editor = ChoiceEditor(_choices(field, state, typed), typed)
        case "workspace":
            editor = PickEditor(field.label, _workspaces(field, state, str(typed)), str(typed))
        case "lines":
            editor = LinesEditor(str(typed), field.placeholder)
        case "secret":
            editor = SecretEditor(field.placeholder)
        case "model":
            editor = ModelEditor(field, str(typed))
        case "pick":
            editor = PicksEditor(field, state.rules(field.name), typed)
        case "builtins":
            editor = BuiltinsEditor(field, typed)
        case "filters":
            editor = FiltersEditor(field, typed)
        case _:
            assert not isinstance(typed, SecretStr)  # noqa: S101 - it never becomes a text here
            editor = TextEditor(str(typed), field.placeholder)
    if isinstance(editor, OpeningEditor):
        editor.missing = missing
    return editor


def _choices(field: Field, state: FormState, typed: Typed) -> list[tuple[Typed, str]]:
    if typed == KEEP:
        return [(KEEP, state.spec.missing), *_choices(field, state, "")]
    no, yes = field.words
    match field.kind:
        case "switch":
            return [(False, no), (True, yes)]
        case "three_way":
            return [(None, field.empty), (True, yes), (False, no)]
    if field.options:
        return list(field.options)
    known = state.rules(field.name)
    options: list[tuple[Typed, str]] = [("", field.empty)] if known.nullable else []
    options += [(choice, choice) for choice in known.choices]
    if typed and typed not in known.choices:
        options.append((typed, safe_line(typed, _PRESENT)))
    return options


def _workspaces(field: Field, state: FormState, present: str) -> list[tuple[str, str]]:
    known = dict(state.preview_context.workspaces)
    if present:
        known.setdefault(present, safe_line(present, _PRESENT))
    named = sorted(known.items(), key=lambda item: item[1].lower())
    # An update cannot mean "the default one": it must name a workspace.
    empty = [] if state.spec.partial else [("", field.empty)]
    return [*empty, *named]


class FieldRow(RunsWhileOpen, Vertical):
    """Draws one field of a form: label, editor and note.

    Only the editor is a widget: widgets for label and note would slow down opening a form.
    """

    def __init__(self, field: Field, state: FormState) -> None:
        super().__init__(id=field.row_id)
        self.field = field
        self._state = state
        self.label_lines = toned(field.label, "muted").wrap(_LABEL - 1)
        """A long label wraps; it never touches the editor."""
        self.note = Content("")
        """The text below the editor."""
        self.heading: Widget | None = None
        """The title above this row if it begins a part of the form; None for other rows."""
        self.editor = self._make_editor()

    def compose(self) -> ComposeResult:
        """Add the editor; style sheets reserve the place beside it for the label."""
        yield self.editor

    def get_content_height(self, container: Size, viewport: Size, width: int) -> int:
        height = super().get_content_height(container, viewport, width)
        return max(height, len(self.label_lines)) + len(self.note_lines(width))

    def note_lines(self, width: int) -> list[Content]:
        """Return the note, wrapped to the width of the row; empty without a note."""
        if not self.note.plain:
            return []
        return self.note.wrap(max(1, width - _LABEL))

    def render(self) -> Content:
        height = max(len(self.label_lines), self.editor.outer_size.height)
        lines = [*self.label_lines, *[Content("")] * (height - len(self.label_lines))]
        indent = " " * _LABEL
        lines += [Content.assemble(indent, line) for line in self.note_lines(self.size.width)]
        return Content("\n").join(lines)

    def _make_editor(self) -> Widget:
        field = self.field
        if field.fixed is not None:
            return Static(toned(field.fixed[0]), classes="editor")
        editor = make_editor(field, self._state)
        editor.add_class("editor", update=False)
        return editor

    def show_state(self) -> None:
        """Update the note, and repaint the row if it changed."""
        self._follow_suggestion()
        note = self._content()
        if not note.is_same(self.note):
            width = self.size.width
            lines = len(self.note_lines(width)) if width else 0
            self.note = note
            # Only another number of lines needs a new layout of the form.
            self.refresh(layout=lines > 0 and len(self.note_lines(width)) != lines)
            if self.has_class("-current"):
                self.call_after_refresh(self.scroll_visible, animate=False)

    def _follow_suggestion(self) -> None:
        editor, field = self.editor, self.field
        if field.suggest is not None and isinstance(editor, TextEditor):
            editor.show_suggestion(str(self._state.typed(field.name)))

    def _content(self) -> Content:
        field = self.field
        if field.fixed is not None:
            return toned(with_keys(field.fixed[1]), "muted")
        problem = self._state.problem(field.name)
        if problem is not None:
            sign = "✗ " if problem.tone == "bad" else "… "
            return toned(sign + problem.text, problem.tone)
        note, hint = self._state.note(field.name), self._hint()
        if hint is not None and (note is None or hint.tone != "warn"):
            note, hint = note or hint, None
        if note is None:
            return toned(field.help or self._state.rules(field.name).description, "muted")
        lines = [cell_content(cell) for cell in (note, hint) if cell is not None]
        return Content("\n").join(lines)

    def _hint(self) -> Cell | None:
        hint = getattr(self.editor, "hint", None)
        return None if hint is None else cast("Cell | None", hint())

    @on(Edited)
    def _edited(self, event: Edited) -> None:
        self._state.put(self.field.name, event.typed)

    @on(Hinted)
    def _hinted(self, event: Hinted) -> None:
        event.stop()
        self.show_state()

    def on_descendant_focus(self, _event: events.DescendantFocus) -> None:
        self.add_class("-current")
        if self.heading is not None:
            self.heading.scroll_visible(animate=False, immediate=True)
        self.scroll_visible(animate=False)

    def on_descendant_blur(self, _event: events.DescendantBlur) -> None:
        """Show the problems of the field as errors once the user has left it.

        The focus also leaves when a dialog opens, such as the list of choices; that does not count.
        """
        self.remove_class("-current")
        if self.screen.is_current and self.field.fixed is None:
            self._state.leave(self.field.name)
            self.show_state()
