"""Editors with a searchable list: for one option, one option or free text, or any number."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar, cast

from textual import work
from textual.binding import Binding, BindingType
from textual.content import Content

from gwtui.contract.request import FieldRules
from gwtui.crud.fields import Field, PickOption
from gwtui.crud.resource import Cell
from gwtui.domain.lookup import did_you_mean
from gwtui.domain.safe_text import safe_line
from gwtui.ui.commands import with_keys
from gwtui.ui.forms.field_editors import Hinted, SearchingEditor, TextEditor
from gwtui.ui.forms.form_state import Typed
from gwtui.ui.input_queue import OPENING
from gwtui.ui.screens.dialogs import Editing
from gwtui.ui.screens.picker import NAMED, OptionSource, Picker, TickList, option_title
from gwtui.ui.text import toned

_FREE_TEXT = 200
"""Maximum length of a typed entry."""


class ModelEditor(TextEditor):
    """A line of text with suggestions: Tab and → complete it, a key opens the list."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("ctrl+o", "find", show=False, id="form.choices")
    ]
    FOCUS_KEYS: ClassVar[str] = "{form.choices} opens list"

    def __init__(self, field: Field, value: str) -> None:
        super().__init__(value, with_keys(field.placeholder))
        self.field = field
        self.source = OptionSource(read=field.choices, noun="choices")
        self.complete_by(self.source.completed)

    def on_mount(self) -> None:
        self._load()

    @work(group="options", exclusive=True)
    async def _load(self) -> None:
        await self.source.load()
        self.post_message(Hinted())

    def hint(self) -> Cell | None:
        """The title of the typed identifier, or a note if the list lacks it or is unreadable.

        None if nothing is typed or the list is still being read.
        """
        text = self.value.strip()
        source = self.source
        if not text:
            return None
        if source.fault:
            return Cell("the list could not be read: sent as typed", "muted")
        if not source.loaded:
            return None
        option = source.option(text)
        if not source.known(text):
            hint = did_you_mean(text, [option.value for option in source.options])
            lists = with_keys("{form.choices} lists")
            return Cell(f"not in the list{hint or ': sent as typed'} · {lists}", "warn")
        return Cell(" · ".join(part for part in (option.title, option.note) if part) or "known")

    @work(group=OPENING, exclusive=True)
    async def action_find(self) -> None:
        typed, search_text = self.value.strip(), ""
        if not (self.source.loaded and self.source.known(typed)):
            typed, search_text = "", typed
        picker = Picker(
            self.field.label,
            self.source,
            current=typed,
            search_text=search_text,
        )
        chosen = await self.app.push_screen_wait(picker)
        if chosen is not None:
            self.value = chosen
            self.cursor_position = len(self.value)


class PickEditor(SearchingEditor):
    """Shows the chosen option; opens a list to choose another option."""

    def __init__(self, title: str, options: Sequence[tuple[str, str]], value: str) -> None:
        super().__init__(value)
        self._title = title
        self._options = [PickOption(option, label) for option, label in options]

    def summary(self) -> str:
        titles = [option.title for option in self._options if option.value == self.typed]
        return titles[0] if titles else str(self.typed)

    async def ask(self, search_text: str) -> Typed:
        picker = Picker(
            self._title,
            self._options,
            current=str(self.typed),
            search_text=search_text,
        )
        chosen = await self.app.push_screen_wait(picker)
        return self.typed if chosen is None else chosen


class PickScreen(TickList[tuple[Typed] | None], Editing[tuple[Typed] | None]):
    """A list of options with check boxes. If "no restriction" has a name, it is the first row.

    Returns the value in a tuple, because the value itself may be None.
    """

    BINDINGS: ClassVar[list[BindingType]] = [Binding("ctrl+s", "done", show=False, id="form.send")]

    hint = "Enter continues · Esc cancels · Space marks · type to search"

    def __init__(
        self,
        field: Field,
        rules: FieldRules,
        source: OptionSource,
        started: Typed,
        search_text: str = "",
    ) -> None:
        super().__init__(field.label, source, search_text=search_text)
        self.started = started
        self.field = field
        self._rules = rules
        self._picked = started
        self._open = PickOption("", field.empty)
        """The row for "no restriction"."""

    @property
    def unsaved(self) -> bool:
        return self._picked != self.started

    @property
    def loss(self) -> str:
        return "The marked entries are not applied yet."

    @property
    def picked(self) -> tuple[str, ...]:
        """The ticked values."""
        return cast("tuple[str, ...]", self._picked) if isinstance(self._picked, tuple) else ()

    def find(self, text: str) -> Sequence[PickOption]:
        """Return the matching rows.

        In order: "no restriction", ticked options, other options, and the typed text if allowed.
        """
        matches = self.source.search(text, self.picked)
        if not text and self.field.empty:
            return [self._open, *matches]
        if self.field.free and all(option.value != text for option in matches):
            matches.append(PickOption(text[:_FREE_TEXT], note="add as typed"))
        return matches

    def option_mark(self, option: PickOption) -> Content:
        """Return the check box of an option, or the round button of "no restriction"."""
        if option is self._open:
            on = self._picked is None
            return toned("(●) " if on else "( ) ", "accent" if on else "muted", bold=on)
        ticked = option.value in self.picked
        return toned("[x] " if ticked else "[ ] ", "accent" if ticked else "muted", bold=ticked)

    def count(self) -> Content:
        """Return the number of ticked options and of all options."""
        listed = super().count()
        return Content.assemble(self._marked(), "  ·" if listed else "", listed)

    def _marked(self) -> Content:
        if self._picked is None:
            return toned(self.field.empty)
        count, most = len(self.picked), self._rules.max_length
        text = f"{count} of {most}" if most is not None else f"{count} marked"
        over = most is not None and count > most
        return toned(f"{self.field.chosen}: {text}", "bad" if over else "plain")

    def take(self, option: PickOption) -> None:
        """Tick or untick the option."""
        before = self.picked
        if option is self._open:
            self._picked = None
        else:
            left = tuple(value for value in before if value != option.value)
            self._picked = (*before, option.value) if left == before else left
        changed = {self._open.value, option.value, *(before if self._picked is None else ())}
        self.draw_again(*(at for at, shown in enumerate(self._shown) if shown.value in changed))
        self.show_count()

    def submit(self, option: PickOption) -> None:  # noqa: ARG002 - all count
        """Close with the ticked options, whichever option is highlighted."""
        self.action_done()

    def action_done(self) -> None:
        self.dismiss((self._picked,))


class PicksEditor(SearchingEditor):
    """Shows the chosen options on one line and opens a list to change them."""

    def __init__(self, field: Field, rules: FieldRules, typed: Typed) -> None:
        super().__init__(typed)
        self.field = field
        self._rules = rules
        self.source = OptionSource(read=field.choices, noun=field.noun)

    def on_mount(self) -> None:
        self._load()

    @work(group="options", exclusive=True)
    async def _load(self) -> None:
        await self.source.load()
        self.refresh()
        self.post_message(Hinted())

    def summary(self) -> str:
        if not isinstance(self.typed, tuple):
            return self.field.empty
        names = ", ".join(option_title(self.source.option(str(value))) for value in self.typed)
        return f"{self.field.chosen}: {names or 'none'}"

    def hint(self) -> Cell | None:
        """A warning about chosen values that the list does not contain; None if there are none."""
        values = self.typed if isinstance(self.typed, tuple) else ()
        unknown = [str(value) for value in values if not self.source.known(str(value))]
        if not unknown:
            return None
        named = safe_line(unknown[0], NAMED)
        text = f"{named} is unknown" if len(unknown) == 1 else f"{len(unknown)} are unknown"
        return Cell(f"{text}: not in the current {self.field.noun}; kept as it is", "warn")

    async def ask(self, search_text: str) -> Typed:
        screen = PickScreen(self.field, self._rules, self.source, self.typed, search_text)
        picked = await self.app.push_screen_wait(screen)
        return self.typed if picked is None else picked[0]
