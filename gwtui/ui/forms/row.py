"""One field on the screen: label, editor, counter, and a line that says what it means or lacks."""

from __future__ import annotations

from typing import cast

from textual import events, on
from textual.app import ComposeResult
from textual.containers import Horizontal, Vertical
from textual.content import Content
from textual.message import Message
from textual.widget import Widget
from textual.widgets import Static

from gwtui.crud.form import FormField
from gwtui.crud.resource import Cell
from gwtui.ui.forms.editors import Edited, Entered, Hinted, TextEditor
from gwtui.ui.forms.making import make_editor
from gwtui.ui.forms.reading import Typed
from gwtui.ui.forms.state import COUNTED, FormState
from gwtui.ui.tones import cell_content, toned
from gwtui.ui.widgets.one_line import OneLine


class FieldRow(Vertical):
    """A field of a form."""

    class Changed(Message):
        """Another text or choice stands in the field; others may mean something else now."""

    class Done(Message):
        """Enter: on to the next field."""

        def __init__(self, row: FieldRow) -> None:
            super().__init__()
            self.row = row

    def __init__(self, field: FormField, state: FormState) -> None:
        super().__init__(id=field.row_id)
        self.field = field
        self._state = state
        self._note: Content | None = None
        self._note_line = Static(Content(""), classes="note")
        self._counter = OneLine(id="counter")
        self._made: Widget | None = None

    def compose(self) -> ComposeResult:
        """Label, editor and counter on a line, the note below."""
        with Horizontal(classes="line"):
            yield Static(toned(self.field.label, "muted"), classes="label")
            yield self.editor
            if self._counted:
                yield self._counter
        yield self._note_line

    @property
    def _counted(self) -> bool:
        return self.field.fixed is None and self.field.kind in COUNTED

    def _editor(self) -> Widget:
        field = self.field
        if field.fixed is not None:
            return Static(toned(field.fixed[0]), classes="editor")
        editor = make_editor(field, self._state)
        editor.add_class("editor", update=False)
        return editor

    @property
    def editor(self) -> Widget:
        """What takes the keys."""
        if self._made is None:
            self._made = self._editor()
        return self._made

    def show_state(self) -> None:
        """Bring counter and note up to date; what did not change is not repainted."""
        self._follow_suggestion()
        note = self._content()
        if self._note is None or not note.is_same(self._note):
            self._note = note
            self._note_line.update(note)
            if self.has_class("-current"):
                # It may have more lines now.
                self.call_after_refresh(self.scroll_visible, animate=False)
        if self._counted:
            counter = self._state.counter(self.field.name) or Cell("")
            self._counter.show(cell_content(counter))

    def _follow_suggestion(self) -> None:
        """Show what the form filled in from other fields."""
        editor, field = self.editor, self.field
        if field.suggest is not None and isinstance(editor, TextEditor):
            editor.follow(str(self._state.typed(field.name)))

    def _content(self) -> Content:
        """A problem first, then what the value means, then what the field is for."""
        field = self.field
        if field.fixed is not None:
            return toned(field.fixed[1], "muted")
        problem = self._state.problem(field.name)
        if problem is not None:
            sign = "✗ " if problem.tone == "bad" else "… "
            return toned(sign + problem.text, problem.tone)
        note, hint = self._state.note(field.name), self._hint()
        if hint is not None and (note is None or hint.tone != "warn"):
            note, hint = note or hint, None
        if note is None:
            return toned(field.help or self._state.rules(field.name).description, "muted")
        said = [cell_content(cell) for cell in (note, hint) if cell is not None]
        return Content("\n").join(said)

    def _hint(self) -> Cell | None:
        """What the editor itself knows of its value."""
        hint = getattr(self.editor, "hint", None)
        return None if hint is None else cast("Cell | None", hint())

    @on(Edited)
    def _edited(self, event: Edited) -> None:
        event.stop()
        self._put(event.typed)

    @on(Hinted)
    def _hinted(self, event: Hinted) -> None:
        event.stop()
        self.show_state()

    def _put(self, typed: Typed) -> None:
        self._state.put(self.field.name, typed)
        self.post_message(self.Changed())

    @on(Entered)
    def _entered(self, event: Entered) -> None:
        event.stop()
        self.post_message(self.Done(self))

    def on_descendant_focus(self, _event: events.DescendantFocus) -> None:
        """The row with the keys stands out and is in sight with its note."""
        self.add_class("-current")
        above = self._heading()
        if above is not None:
            above.scroll_visible(animate=False, immediate=True)
        self.scroll_visible(animate=False)

    def _heading(self) -> Widget | None:
        """The title of the part that this row begins."""
        siblings = [] if self.parent is None else list(self.parent.children)
        place = siblings.index(self) - 1 if self in siblings else -1
        above = siblings[place] if place >= 0 else None
        return above if isinstance(above, Static) else None

    def on_descendant_blur(self, _event: events.DescendantBlur) -> None:
        """Left: what is wrong may be said plainly. A list opened on top is not leaving."""
        self.remove_class("-current")
        if self.screen.is_current and self.field.fixed is None:
            self._state.leave(self.field.name)
            self.show_state()
