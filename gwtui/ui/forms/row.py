"""One field on the screen: label, editor, counter, and a line that says what it means or lacks."""

from __future__ import annotations

from textual import events, on
from textual.app import ComposeResult
from textual.containers import Horizontal, Vertical
from textual.content import Content
from textual.message import Message
from textual.widget import Widget
from textual.widgets import Static

from gwtui.domain.safe_text import safe_line
from gwtui.ui.forms.editors import ChoiceEditor, Edited, Entered, PickEditor, TextEditor
from gwtui.ui.forms.fields import FormField
from gwtui.ui.forms.reading import Typed
from gwtui.ui.forms.state import FormState
from gwtui.ui.resources.spec import Cell
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
        super().__init__(id=f"field-{field.name}")
        self.field = field
        self._state = state
        self._note: Content | None = None

    def compose(self) -> ComposeResult:
        """Label, editor and counter on a line, the note below."""
        with Horizontal(classes="line"):
            yield Static(toned(self.field.label, "muted"), classes="label")
            yield self._editor()
            if self.field.fixed is None:
                yield OneLine(id="counter")
        yield Static(Content(""), classes="note")

    def _editor(self) -> Widget:
        field, state = self.field, self._state
        if field.fixed is not None:
            return Static(toned(field.fixed[0]), classes="editor")
        typed = state.typed(field.name)
        editor: Widget
        match field.kind:
            case "switch":
                editor = ChoiceEditor([(False, "no"), (True, "yes")], typed)
            case "choice":
                editor = ChoiceEditor(self._choices(str(typed)), typed)
            case "workspace":
                editor = PickEditor(field.label, self._workspaces(str(typed)), str(typed))
            case _:
                editor = TextEditor(str(typed), field.placeholder)
        editor.add_class("editor")
        return editor

    def _choices(self, present: str) -> list[tuple[Typed, str]]:
        """The model's choices; one that only the gateway knows can be kept."""
        known = self._state.rules(self.field.name)
        empty = "unknown" if self._state.is_unknown(self.field.name) else self.field.empty
        options: list[tuple[Typed, str]] = [("", empty)] if known.nullable else []
        options += [(choice, choice) for choice in known.choices]
        if present and present not in known.choices:
            options.append((present, safe_line(present, 30)))
        return options

    def _workspaces(self, present: str) -> list[tuple[str, str]]:
        known = dict(self._state.facts.workspaces)
        if present:
            known.setdefault(present, present)
        named = sorted(known.items(), key=lambda item: item[1].lower())
        # An update cannot mean "the default one": it must name a workspace.
        empty = [] if self._state.spec.partial and present else [("", self.field.empty)]
        return [*empty, *named]

    @property
    def editor(self) -> Widget:
        """What takes the keys."""
        return self.query_one(".editor")

    def show_state(self) -> None:
        """Bring counter and note up to date; what did not change is not repainted."""
        note = self._content()
        if self._note is None or not note.is_same(self._note):
            self._note = note
            self.query_one(".note", Static).update(note)
        if self.field.fixed is None:
            counter = self._state.counter(self.field.name) or Cell("")
            self.query_one("#counter", OneLine).show(cell_content(counter))

    def _content(self) -> Content:
        """A problem first, then what the value means, then what the field is for."""
        field = self.field
        if field.fixed is not None:
            return toned(field.fixed[1], "muted")
        problem = self._state.problem(field.name)
        if problem is not None:
            sign = "✗ " if problem.tone == "bad" else "… "
            return toned(sign + problem.text, problem.tone)
        note = self._state.note(field.name)
        if note is not None:
            return cell_content(note)
        return toned(field.help or self._state.rules(field.name).description, "muted")

    @on(Edited)
    def _edited(self, event: Edited) -> None:
        event.stop()
        self._put(event.typed)

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
        self.scroll_visible(animate=False)

    def on_descendant_blur(self, _event: events.DescendantBlur) -> None:
        """Left: what is wrong may be said plainly. A list opened on top is not leaving."""
        self.remove_class("-current")
        if self.screen.is_current and self.field.fixed is None:
            self._state.leave(self.field.name)
            self.show_state()
