"""A screen that searches options by typing, and the list that shows what it finds."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import ClassVar

from rich.cells import cell_len
from textual import events, on, work
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, Vertical
from textual.content import Content
from textual.geometry import Region
from textual.message import Message
from textual.widgets import Input, Static

from gwtui.client.errors import GatewayError
from gwtui.crud.form import Choices, PickOption
from gwtui.crud.resource import Tone
from gwtui.domain.safe_text import safe_line
from gwtui.ui.forms.field_editors import ValueScreen
from gwtui.ui.forms.form_state import Typed
from gwtui.ui.screens.choosers import letters, nothing_matches
from gwtui.ui.text import fit, toned
from gwtui.ui.widgets.lines import LinesView, OneLine
from gwtui.ui.widgets.prompt import QuietInput

_CURSOR = "$foreground on $choice-background"
_LONGEST_TITLE = 46
_LEAST_ROOM = 40
_MARK = 6
"""Cells of a row's mark and of the gap before its note."""
_ON_ROWS = frozenset({"enter", "space", "up", "down", "pageup", "pagedown", "home", "end"})
NAMED = 60
"""Characters of an entry's name that are shown."""


class RowList(LinesView):
    """Lines of which one is the current one. Texts from data must have passed ``safe_text``.

    Whether it takes keys itself is up to who holds it: ``can_focus`` may be switched off, and
    ``step``, ``jump`` and ``page`` be called.
    """

    DEFAULT_CSS = "RowList { overflow-x: hidden; scrollbar-gutter: stable; }"

    class Moved(Message):
        """Another row is the current one."""

        def __init__(self, rows: RowList) -> None:
            super().__init__()
            self.rows = rows

        @property
        def control(self) -> RowList:
            """The list."""
            return self.rows

    class Clicked(Message):
        """A row was clicked; it is the current one now."""

        def __init__(self, rows: RowList) -> None:
            super().__init__()
            self.rows = rows

        @property
        def control(self) -> RowList:
            """The list."""
            return self.rows

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self._rows: tuple[Content, ...] = ()
        self._current = 0

    @property
    def current(self) -> int:
        """The place of the current row; 0 in an empty list."""
        return self._current

    def show_rows(self, rows: Sequence[Content], current: int | None = None) -> None:
        """Show these rows; the cursor stays at its place unless ``current`` gives another."""
        self._rows = tuple(rows)
        wanted = self._current if current is None else current
        self._current = min(max(wanted, 0), max(len(rows) - 1, 0))
        self._draw()
        self._follow()

    def show_row(self, place: int, row: Content) -> None:
        """Show one row anew."""
        self._rows = (*self._rows[:place], row, *self._rows[place + 1 :])
        self._draw()

    def step(self, step: int) -> None:
        """Rows further, or back."""
        self.jump(self._current + step)

    def page(self, direction: int) -> None:
        """A screenful further, or back."""
        self.step(direction * max(1, self.size.height - 1))

    def jump(self, place: int) -> None:
        """To a row; beyond the ends to the last or first."""
        place = min(max(place, 0), max(len(self._rows) - 1, 0))
        if place != self._current:
            self._current = place
            self._draw()
            self._follow()
            self.post_message(self.Moved(self))

    def action_scroll_up(self) -> None:
        """The row before."""
        self.step(-1)

    def action_scroll_down(self) -> None:
        """The next row."""
        self.step(1)

    def action_scroll_home(self) -> None:
        """The first row."""
        self.jump(0)

    def action_scroll_end(self) -> None:
        """The last row."""
        self.jump(len(self._rows))

    def action_page_up(self) -> None:
        """A screenful back."""
        self.page(-1)

    def action_page_down(self) -> None:
        """A screenful further."""
        self.page(1)

    def on_click(self, event: events.Click) -> None:
        """The clicked row."""
        place = event.y + self.scroll_offset.y
        if place < len(self._rows):
            self.jump(place)
            self.post_message(self.Clicked(self))

    def on_resize(self) -> None:
        """The cursor's line is as wide as the list."""
        self._draw()
        self._follow()

    def _draw(self) -> None:
        self.show([self._drawn(place, row) for place, row in enumerate(self._rows)])

    def _drawn(self, place: int, row: Content) -> Content:
        if place != self._current:
            return row
        room = max(0, self.size.width - row.cell_length)
        return row.pad_right(room).stylize_before(_CURSOR)

    def _follow(self) -> None:
        """Keep the cursor's line in sight."""
        if self._rows:
            self.scroll_to_region(
                Region(0, self._current, 1, 1), animate=False, x_axis=False, immediate=True
            )


class SearchOption:
    """What can be picked: the options once they came, and what the value holds beyond them."""

    def __init__(self, choices: Choices) -> None:
        self._choices = choices
        self.options: tuple[PickOption, ...] = ()
        self.loaded = False
        self.fault = ""
        self._by_value: Mapping[str, PickOption] = {}
        self._searchable_texts: dict[PickOption, str] = {}
        """What a search looks at, made once per option."""

    async def load(self) -> None:
        """Ask for the options; a refusal is kept as ``fault``."""
        try:
            self.options = tuple(await self._choices())
        except GatewayError as error:
            self.fault = safe_line(error.message, 200)
        else:
            self.fault = ""
            self.loaded = True
            self._by_value = {option.value: option for option in self.options}

    def known(self, value: str) -> bool:
        """Whether it is among the options; True while they have not come."""
        return not self.loaded or value in self._by_value

    def option(self, value: str) -> PickOption:
        """The option of a value; one that says so when it is unknown."""
        found = self._by_value.get(value)
        if found is not None:
            return found
        return PickOption(value, "", "unknown: not in the list" if self.loaded else "")

    def completed(self, text: str) -> str | None:
        """The first option that begins as typed; None while one is typed in full, or for none."""
        if not text or text in self._by_value:
            return None
        begins = text.lower()
        values = (option.value for option in self.options)
        return next((one for one in values if one.lower().startswith(begins)), None)

    def title(self, value: str) -> str:
        """How a value is called, fit to be shown."""
        return self.option(value).title or safe_line(value, NAMED)

    def found(self, text: str, first: Iterable[str]) -> list[PickOption]:
        """The options that a search finds, those of ``first`` before the others."""
        wanted = letters(text)
        first = dict.fromkeys(first)
        every = [*map(self.option, first)]
        every += [option for option in self.options if option.value not in first]
        if not wanted:
            return every
        return [option for option in every if wanted in self._searchable(option)]

    def _searchable(self, option: PickOption) -> str:
        text = self._searchable_texts.get(option)
        if text is None:
            text = letters(f"{option.value} {option.title} {option.note}")
            self._searchable_texts[option] = text
        return text


class SearchInput(QuietInput):
    """The search line; it leaves space to the list, which ticks with it."""

    def check_consume_key(self, key: str, character: str | None) -> bool:
        """Every character but space is typed."""
        return key != "space" and super().check_consume_key(key, character)


class SearchScreen(ValueScreen):
    """A search line above a list of options. Every key but letters belongs to the list."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("up,ctrl+p", "step(-1)", show=False, priority=True),
        Binding("down,ctrl+n", "step(1)", show=False, priority=True),
        Binding("pageup", "page(-1)", show=False, priority=True),
        Binding("pagedown", "page(1)", show=False, priority=True),
        Binding("home", "jump(0)", show=False, priority=True),
        Binding("end", "jump(1000000)", show=False, priority=True),
        Binding("f5", "reload", show=False),
    ]
    AUTO_FOCUS = "QuietInput"

    def __init__(
        self, title: str, offer: SearchOption, started: Typed, search_text: str = ""
    ) -> None:
        super().__init__(started)
        self._title = title
        self.offer = offer
        self._shown: Sequence[PickOption | None] = ()
        """The options that the search finds, in the order of the rows."""
        self._before = search_text
        """What was typed before it opened."""

    def compose(self) -> ComposeResult:
        """Title and count, search line, list."""
        with Vertical(classes="dialog search"):
            with Horizontal(classes="head"):
                yield Static(toned(self._title, "accent", bold=True), classes="title")
                yield OneLine(id="picked")
            with Horizontal(classes="seek"):
                yield Static(toned("/ ", "accent", bold=True), classes="sign")
                yield SearchInput(placeholder="type to search")
            rows = RowList(id="rows")
            rows.can_focus = False
            yield rows
            yield OneLine(id="found")

    def on_mount(self) -> None:
        """Show what is known, ask for the rest."""
        self.query_one(QuietInput).begin_with(self._before)
        self.fill(0)
        if not self.offer.loaded:
            self.action_reload()

    def on_resize(self) -> None:
        """Columns follow the width."""
        self.call_after_refresh(self.fill)

    @work(group="offer", exclusive=True)
    async def action_reload(self) -> None:
        """Ask for the options (again)."""
        await self.offer.load()
        self.fill()

    @property
    def reading(self) -> bool:
        """Whether the options are still to come."""
        return not (self.offer.loaded or self.offer.fault)

    def awaits(self, event: events.Event) -> bool:
        """Whether an input is meant for an option: letters only search."""
        return isinstance(event, events.Key) and event.key in _ON_ROWS

    @property
    def search_text(self) -> str:
        """What is searched for."""
        return self.query_one(QuietInput).value.strip()

    @property
    def rows(self) -> RowList:
        """The list."""
        return self.query_one("#rows", RowList)

    def fill(self, current: int | None = None) -> None:
        """Fill the list anew."""
        raise NotImplementedError

    def choose(self) -> None:
        """A row was clicked."""
        raise NotImplementedError

    @on(Input.Changed)
    def _search_edited(self, event: Input.Changed) -> None:
        event.stop()
        self.fill(0)

    @on(RowList.Clicked)
    def _clicked(self, event: RowList.Clicked) -> None:
        event.stop()
        self.choose()

    def action_step(self, step: int) -> None:
        """The next or previous row."""
        self.rows.step(step)

    def action_page(self, direction: int) -> None:
        """A screenful further."""
        self.rows.page(direction)

    def action_jump(self, place: int) -> None:
        """To an end of the list."""
        self.rows.jump(place)

    def action_leave(self) -> None:
        """First out of the search, then out of the list."""
        if self.search_text:
            self.query_one(QuietInput).value = ""
        else:
            super().action_leave()

    def action_done(self) -> None:
        """Back with the value; a search that finds nothing is not passed over."""
        if self._shown:
            super().action_done()
        else:
            self.refuse_nothing()

    def refuse_nothing(self) -> None:
        """Say that there is no row to be taken."""
        self.app.bell()

    def say_found(self, count: int, noun: str) -> None:
        """How many there are to choose from, or why there are none."""
        offer = self.offer
        tone: Tone = "muted"
        text = f"{count} of {len(offer.options)} {noun}" if self.search_text else f"{count} {noun}"
        if offer.fault:
            tone, text = "warn", f"The list could not be read: {offer.fault} F5 tries again"
        elif not offer.loaded:
            text = f"reading the list of {noun}…"
        elif not count and self.search_text:
            tone, text = "warn", nothing_matches(self.search_text)
        elif not count:
            tone, text = "warn", f"There are no {noun}"
        self.query_one("#found", OneLine).show(toned(text, tone))


def option_line(mark: Content, option: PickOption, width: int) -> Content:
    """A row: mark, name, and what else is known of it."""
    title = option.title or safe_line(option.value, NAMED)
    more = option.note or (safe_line(option.value, NAMED) if option.title else "")
    return Content.assemble(mark, toned(fit(title, width)), toned(f"  {more}", "muted"))


def title_width(options: Sequence[PickOption], room: int) -> int:
    """How wide the column of names is in a list of ``room`` cells; notes get half if they must."""
    names = [cell_len(option.title or safe_line(option.value, NAMED)) for option in options]
    notes = [cell_len(option.note or safe_line(option.value, NAMED)) for option in options]
    widest = min(max(names, default=1), _LONGEST_TITLE)
    room = max(room - _MARK, _LEAST_ROOM)
    return min(widest, max(room - max(notes, default=0), room // 2))
