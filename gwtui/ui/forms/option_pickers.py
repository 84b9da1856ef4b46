"""Editors that pick options by searching: one, one that may also be typed, or any number."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar, cast

from textual import work
from textual.binding import Binding, BindingType
from textual.content import Content

from gwtui.contract.request import FieldRules
from gwtui.crud.form import ModelField, MultiPickField, PickOption
from gwtui.crud.resource import Cell, Tone
from gwtui.domain.lookup import did_you_mean
from gwtui.domain.safe_text import safe_line
from gwtui.ui.commands import take_own_keys, with_keys
from gwtui.ui.forms.field_editors import Edited, Hinted, OpeningEditor, OpensByTyping, TextEditor
from gwtui.ui.forms.form_state import UNSAID, Typed
from gwtui.ui.forms.option_search import NAMED, SearchOption, SearchScreen, option_line, title_width
from gwtui.ui.input_queue import OPENING
from gwtui.ui.screens.choosers import Choice, ChooseScreen
from gwtui.ui.text import toned
from gwtui.ui.widgets.lines import OneLine

_MANY = 12
"""Options beyond which they are searched."""
_FREE_TEXT = 200
"""Characters of a typed entry that are taken."""


class FindScreen(SearchScreen):
    """Picks one option."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("enter", "done", show=False, priority=True),
    ]
    hint = "Enter takes it · Esc leaves it as it was · letters search · ↑ ↓ move"

    def __init__(
        self, title: str, offer: SearchOption, started: str, search_text: str = ""
    ) -> None:
        super().__init__(title, offer, started, search_text)
        self._shown: tuple[PickOption, ...] = ()

    def result(self) -> Typed:
        """The current row's option; what it began with in an empty list."""
        place = self.rows.current
        return self._shown[place].value if place < len(self._shown) else self._started

    @property
    def unsaved(self) -> bool:
        """Moving about in a list loses nothing."""
        return False

    def fill(self, current: int | None = None) -> None:
        """What the search finds; what stands in the field first."""
        present = [str(self._started)] if self._started else []
        self._shown = tuple(self.offer.found(self.search_text, present))
        width = title_width(self._shown, self.rows.size.width)
        self.rows.show_rows(
            [option_line(Content("  "), option, width) for option in self._shown], current
        )
        self.say_found(len(self._shown), "choices")

    def choose(self) -> None:
        """A click takes it."""
        self.action_done()


class ModelEditor(TextEditor):
    """A line of text with the list behind it: Tab and → complete, a key opens the list."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("ctrl+o", "find", show=False, id="form.choices")
    ]
    FOCUS_KEYS: ClassVar[str] = "{form.choices} lists"

    def __init__(self, field: ModelField, value: str) -> None:
        super().__init__(value, with_keys(field.placeholder))
        take_own_keys(self)
        self.field = field
        self.offer = SearchOption(field.choices)
        self.complete_by(self.offer.completed)

    def on_mount(self) -> None:
        """Ask for the options."""
        self._load()

    @work(group="offer", exclusive=True)
    async def _load(self) -> None:
        await self.offer.load()
        self.post_message(Hinted())

    def hint(self) -> Cell | None:
        """What the identifier names, or that it names nothing known."""
        text = self.value.strip()
        offer = self.offer
        if not text:
            return None
        if offer.fault:
            return Cell("the list could not be read: taken as it is typed", "muted")
        if not offer.loaded:
            return None
        option = offer.option(text)
        if not offer.known(text):
            hint = did_you_mean(text, [one.value for one in offer.options])
            lists = with_keys("{form.choices} lists")
            return Cell(f"not in the list{hint or ': sent as it is typed'} · {lists}", "warn")
        return Cell(" · ".join(part for part in (option.title, option.note) if part) or "known")

    @work(group=OPENING, exclusive=True)
    async def action_find(self) -> None:
        """Choose from the list: from the option that is typed, else by searching what is typed."""
        typed, search_text = self.value.strip(), ""
        if not (self.offer.loaded and self.offer.known(typed)):
            typed, search_text = "", typed
        kept = await self.app.push_screen_wait(
            FindScreen(self.field.label, self.offer, typed, search_text)
        )
        if kept is not None and isinstance(kept.typed, str):
            self.value = kept.typed
            self.cursor_position = len(self.value)


class PickEditor(OpensByTyping, can_focus=True):
    """One of many: shows the chosen one, opens a list on Enter, space, a letter or a click."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("enter,space", "open", show=False)]
    FOCUS_KEYS: ClassVar[str] = "Enter chooses"
    DEFAULT_CSS = "PickEditor { height: 1; }"

    def __init__(self, title: str, options: Sequence[tuple[str, str]], value: str) -> None:
        super().__init__()
        self._title = title
        self._options = tuple(options)
        self._value = value

    def render(self) -> Content:
        """The chosen one, and that there are others."""
        label = dict(self._options).get(self._value, self._value)
        tone: Tone = "accent" if self.has_focus else "plain"
        return Content.assemble(toned(label, tone, bold=True), toned("  ▾ Enter chooses", "muted"))

    def on_click(self) -> None:
        """Open the list."""
        self.action_open()

    @work(group=OPENING, exclusive=True)
    async def action_open(self) -> None:
        """Let the person choose; of many, by typing a part of the name."""
        chosen = await (self._found() if len(self._options) > _MANY else self._chosen())
        if chosen is not None and chosen != self._value:
            self._value = chosen
            self.refresh()
            self.post_message(Edited(chosen))

    async def _chosen(self) -> str | None:
        choices = [Choice(value, label) for value, label in self._options]
        screen = ChooseScreen(
            self._title, choices, current=self._value, search_text=self.take_typed()
        )
        return await self.app.push_screen_wait(screen)

    async def _found(self) -> str | None:
        async def options() -> Sequence[PickOption]:
            return [PickOption(value, label) for value, label in self._options]

        offer = SearchOption(options)
        await offer.load()
        screen = FindScreen(self._title, offer, self._value, self.take_typed())
        kept = await self.app.push_screen_wait(screen)
        return None if kept is None else str(kept.typed)


class PickScreen(SearchScreen):
    """Ticks entries. The first row is no restriction; it is a choice of its own."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("space", "tick", show=False, priority=True),
        Binding("enter", "done", show=False, priority=True),
    ]
    hint = "Enter done · Esc leaves it as it was · Space ticks · letters search"

    def __init__(
        self,
        field: MultiPickField,
        rules: FieldRules,
        offer: SearchOption,
        started: Typed,
        search_text: str = "",
    ) -> None:
        super().__init__(field.label, offer, started, search_text)
        self.field = field
        self._rules = rules
        self._picked: tuple[str, ...] | str | None = cast("tuple[str, ...] | str | None", started)
        self._shown: tuple[PickOption | None, ...] = ()
        """What the rows stand for; None is no restriction."""
        self._width = 0

    def result(self) -> Typed:
        """What is ticked."""
        return self._picked

    @property
    def picked(self) -> tuple[str, ...]:
        """The ticked entries."""
        return self._picked if isinstance(self._picked, tuple) else ()

    def fill(self, current: int | None = None) -> None:
        """The open choice, what is ticked, the rest; at the end what was typed, if it is free."""
        found: list[PickOption | None] = [*self.offer.found(self.search_text, self.picked)]
        count = sum(option is not None and self.offer.known(option.value) for option in found)
        if not self.search_text:
            found.insert(0, None)
        elif self.field.free and all(
            option is None or option.value != self.search_text for option in found
        ):
            found.append(PickOption(self.search_text[:_FREE_TEXT], note="add it as it is typed"))
        self._shown = tuple(found)
        self._draw(current)
        self.say_found(count, self.field.noun)

    def _draw(self, current: int | None = None) -> None:
        options = [option for option in self._shown if option is not None]
        self._width = title_width(options, self.rows.size.width)
        self.rows.show_rows([self._row(option) for option in self._shown], current)
        self.query_one("#picked", OneLine).show(self._count())

    def _draw_again(self, *options: PickOption | None) -> None:
        """A tick changes a row or two of what may be thousands."""
        for option in options:
            if option in self._shown:
                self.rows.show_row(self._shown.index(option), self._row(option))
        self.query_one("#picked", OneLine).show(self._count())

    def _row(self, option: PickOption | None) -> Content:
        if option is None:
            on = self._picked is None
            mark = toned("(●) " if on else "( ) ", "accent" if on else "muted", bold=on)
            return Content.assemble(mark, toned(self.field.empty, "plain", bold=on))
        ticked = option.value in self.picked
        mark = toned("[x] " if ticked else "[ ] ", "accent" if ticked else "muted", bold=ticked)
        return option_line(mark, option, self._width)

    def _count(self) -> Content:
        if self._picked is None:
            return toned(self.field.empty, "plain")
        if self._picked == UNSAID:
            return toned("unknown", "muted")
        count, most = len(self.picked), self._rules.max_length
        text = f"{count} of {most}" if most is not None else f"{count} chosen"
        over = most is not None and count > most
        return toned(f"{self.field.chosen}: {text}", "bad" if over else "plain")

    def action_tick(self) -> None:
        """Take the row in or out; the first row takes every restriction away."""
        place = self.rows.current
        if place >= len(self._shown):
            self.refuse_nothing()
            return
        option = self._shown[place]
        if option is None:
            self._picked = None
            self._draw()
            return
        if option.value in self.picked:
            self._picked = tuple(value for value in self.picked if value != option.value)
        else:
            self._picked = (*self.picked, option.value)
        self._draw_again(None, option)

    def choose(self) -> None:
        """A click ticks."""
        self.action_tick()


class PicksEditor(OpeningEditor, OpensByTyping):
    """The picked entries in a line."""

    def __init__(self, field: MultiPickField, rules: FieldRules, typed: Typed) -> None:
        super().__init__(typed)
        self.field = field
        self._rules = rules
        self.offer = SearchOption(field.choices)

    def on_mount(self) -> None:
        """Names come with the options."""
        self._load()

    @work(group="offer", exclusive=True)
    async def _load(self) -> None:
        await self.offer.load()
        self.refresh()
        self.post_message(Hinted())

    def summary(self) -> str:
        """How many, and the first few by name."""
        if self.typed == UNSAID:
            return "unknown"
        if not isinstance(self.typed, tuple):
            return self.field.empty
        names = ", ".join(self.offer.title(str(value)) for value in self.typed)
        return f"{self.field.chosen}: {names or 'none'}"

    def hint(self) -> Cell | None:
        """Entries that the list lacks."""
        values = self.typed if isinstance(self.typed, tuple) else ()
        unknown = [str(value) for value in values if not self.offer.known(str(value))]
        if not unknown:
            return None
        named = safe_line(unknown[0], NAMED)
        text = f"{named} is unknown" if len(unknown) == 1 else f"{len(unknown)} are unknown"
        return Cell(f"{text}: not among the {self.field.noun} now; kept as it is", "warn")

    def screen_to_open(self) -> PickScreen:
        """The list."""
        return PickScreen(self.field, self._rules, self.offer, self.typed, self.take_typed())
