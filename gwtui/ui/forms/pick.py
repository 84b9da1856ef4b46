"""Any number of many: found by typing, ticked with space."""

from __future__ import annotations

from typing import ClassVar, cast

from textual import work
from textual.binding import Binding, BindingType
from textual.content import Content

from gwtui.contract.request import FieldRules
from gwtui.crud.form import MultiPickField, PickOption
from gwtui.crud.resource import Cell
from gwtui.domain.safe_text import safe_line
from gwtui.ui.forms.editors import Hinted, OpensByTyping
from gwtui.ui.forms.reading import UNSAID, Typed
from gwtui.ui.forms.search import NAMED, SearchOption, SearchScreen, option_line, title_width
from gwtui.ui.forms.value_screen import OpeningEditor
from gwtui.ui.tones import toned
from gwtui.ui.widgets.one_line import OneLine

_FREE_TEXT = 200
"""Characters of a typed entry that are taken."""


class PickScreen(SearchScreen):
    """Ticks entries. The first row is no restriction; it is a choice of its own."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("space", "tick", show=False, priority=True),
        Binding("enter", "done", show=False, priority=True),
    ]
    KEYS = "Space ticks · letters search · Enter done · Esc leaves it as it was"

    def __init__(
        self,
        field: MultiPickField,
        rules: FieldRules,
        offer: SearchOption,
        started: Typed,
        sought: str = "",
    ) -> None:
        super().__init__(field.label, offer, started, sought)
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
        found: list[PickOption | None] = [*self.offer.found(self.sought, self.picked)]
        count = sum(option is not None and self.offer.known(option.value) for option in found)
        if not self.sought:
            found.insert(0, None)
        elif self.field.free and all(
            option is None or option.value != self.sought for option in found
        ):
            found.append(PickOption(self.sought[:_FREE_TEXT], note="add it as it is typed"))
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
