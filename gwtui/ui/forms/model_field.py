"""One identifier, completed from a list while typed."""

from __future__ import annotations

from typing import ClassVar

from textual import work
from textual.binding import Binding, BindingType
from textual.content import Content
from textual.suggester import Suggester

from gwtui.crud.form import ModelField, PickOption
from gwtui.crud.resource import Cell
from gwtui.domain.suggestions import did_you_mean
from gwtui.ui.forms.editors import Hinted, TextEditor
from gwtui.ui.forms.reading import Typed
from gwtui.ui.forms.search import SearchOption, SearchScreen, option_line, title_width
from gwtui.ui.typed_ahead import OPENING


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

    def action_done(self) -> None:
        """Take the current row; where there is none, say so."""
        if self._shown:
            super().action_done()
        else:
            self.refuse_nothing()

    def choose(self) -> None:
        """A click takes it."""
        self.action_done()


class ModelEditor(TextEditor):
    """A line of text with the list behind it: → completes, Ctrl+O opens the list."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("ctrl+o", "find", show=False)]

    def __init__(self, field: ModelField, value: str) -> None:
        super().__init__(value, field.placeholder)
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
            return Cell(f"not in the list{hint or ': sent as it is typed'} · Ctrl+O lists", "warn")
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
