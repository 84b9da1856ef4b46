"""One of many: chosen from a list that is searched, or typed and completed from it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from textual import work
from textual.binding import Binding, BindingType
from textual.content import Content
from textual.suggester import Suggester

from gwtui.crud.form import ModelField, PickOption
from gwtui.crud.resource import Cell, Tone
from gwtui.domain.suggestions import did_you_mean
from gwtui.ui.commands import take_own_keys, with_keys
from gwtui.ui.forms.editors import Edited, Hinted, OpensByTyping, TextEditor
from gwtui.ui.forms.reading import Typed
from gwtui.ui.forms.search import SearchOption, SearchScreen, option_line, title_width
from gwtui.ui.screens.choose import Choice, ChooseScreen
from gwtui.ui.tones import toned
from gwtui.ui.typed_ahead import OPENING

_MANY = 12
"""Options beyond which they are searched."""


class _FromOffer(Suggester):
    """Completes with the first option that begins as typed."""

    def __init__(self, offer: SearchOption) -> None:
        super().__init__(use_cache=False, case_sensitive=True)
        self._offer = offer

    async def get_suggestion(self, value: str) -> str | None:
        """The whole text of the option, beginning with what was typed; None for none."""
        begins = value.lower()
        for option in self._offer.options:
            if option.value.lower().startswith(begins) and option.value.isprintable():
                return value + option.value[len(value) :]
        return None


class FindScreen(SearchScreen):
    """Picks one option."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("enter", "done", show=False, priority=True),
    ]
    KEYS = "letters search · ↑ ↓ move · Enter takes it · Esc leaves it as it was"

    def __init__(self, title: str, offer: SearchOption, started: str, sought: str = "") -> None:
        super().__init__(title, offer, started, sought)
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
        self._shown = tuple(self.offer.found(self.sought, present))
        width = title_width(self._shown, self.rows.size.width)
        self.rows.show_rows(
            [option_line(Content("  "), option, width) for option in self._shown], current
        )
        self.say_found(len(self._shown), "to choose from")

    def choose(self) -> None:
        """A click takes it."""
        self.action_done()


class ModelEditor(TextEditor):
    """A line of text with the list behind it: → completes, a key opens the list."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("ctrl+o", "find", show=False, id="form.choices")
    ]

    def __init__(self, field: ModelField, value: str) -> None:
        super().__init__(value, with_keys(field.placeholder))
        take_own_keys(self)
        self.field = field
        self.offer = SearchOption(field.choices)
        self.suggester = _FromOffer(self.offer)

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
        """Choose from the list."""
        kept = await self.app.push_screen_wait(
            FindScreen(self.field.label, self.offer, self.value.strip())
        )
        if kept is not None and isinstance(kept.typed, str):
            self.value = kept.typed
            self.cursor_position = len(self.value)


class PickEditor(OpensByTyping, can_focus=True):
    """One of many: shows the chosen one, opens a list on Enter, space, a letter or a click."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("enter,space", "open", show=False)]
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
        screen = ChooseScreen(self._title, choices, current=self._value, sought=self.take_typed())
        return await self.app.push_screen_wait(screen)

    async def _found(self) -> str | None:
        async def options() -> Sequence[PickOption]:
            return [PickOption(value, label) for value, label in self._options]

        offer = SearchOption(options)
        await offer.load()
        screen = FindScreen(self._title, offer, self._value, self.take_typed())
        kept = await self.app.push_screen_wait(screen)
        return None if kept is None else str(kept.typed)
