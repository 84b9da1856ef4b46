"""Dialogs to choose from a searchable list, and to choose the columns of a list."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, ClassVar

from rich.cells import cell_len
from textual import events, on, work
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, Vertical
from textual.content import Content
from textual.geometry import Size
from textual.widgets import Input, OptionList, Static
from textual.widgets.option_list import Option

from gwtui.client.errors import GatewayError
from gwtui.crud.fields import Choices, PickOption
from gwtui.crud.resource import Column
from gwtui.domain.safe_text import safe_line
from gwtui.ui.screens.dialogs import Dialog, Result, dialog_room
from gwtui.ui.text import fit, hanging, toned
from gwtui.ui.widgets.prompt import QuietInput
from gwtui.ui.widgets.table.layout import arrange

NAMED = 60
"""Maximum number of characters of a value that has no title."""
_MOST_SHOWN = 500
"""Maximum number of options in the list; laying out more would take too long."""
_LEAST_TITLE, _LONGEST_TITLE = 30, 46
"""Bounds in cells for the width of the title column; longer titles end in an ellipsis."""
_ON_ROWS = frozenset({"enter", "space", "up", "down", "pageup", "pagedown", "home", "end"})
_NO_LETTER = re.compile(r"[\W_]+")


def letters(text: str) -> str:
    """Return only the letters and digits of ``text``, so that "gpt5" finds "openai/gpt-5"."""
    return _NO_LETTER.sub("", text.casefold())


def option_title(option: PickOption) -> str:
    """Return the title of an option, or else its value, safe to display."""
    return option.title or safe_line(option.value, NAMED)


class OptionSource:
    """The options of a list: given, or read by ``read`` when the list opens."""

    def __init__(
        self,
        options: Iterable[PickOption] = (),
        *,
        read: Choices | None = None,
        noun: str = "",
    ) -> None:
        self._read = read
        self.noun = noun
        """Plural noun for the number of options; empty for a short list, which has no count."""
        self._searchable_texts: dict[PickOption, tuple[str, str, str]] = {}
        self.loaded = read is None
        self.fault = ""
        """Why the options could not be read, safe to display; empty without an error."""
        self._keep(options)

    def _keep(self, options: Iterable[PickOption]) -> None:
        self.options = tuple(options)
        self._by_value = {option.value: option for option in self.options}

    async def load(self) -> None:
        """Read the options; does nothing if they were given."""
        if self._read is None:
            return
        try:
            self._keep(await self._read())
        except GatewayError as error:
            self.fault = safe_line(error.message, 200)
        else:
            self.fault = ""
            self.loaded = True

    def known(self, value: str) -> bool:
        """Whether ``value`` is among the options; True until the options are read."""
        return not self.loaded or value in self._by_value

    def option(self, value: str) -> PickOption:
        """Return the option with this value, or a placeholder that says it is unknown."""
        option = self._by_value.get(value)
        if option is not None:
            return option
        return PickOption(value, "", "unknown: not in the list" if self.loaded else "")

    def completed(self, text: str) -> str | None:
        """Return the value of the first option that starts with ``text``.

        None if there is none, or if ``text`` is itself a value.
        """
        if not text or text in self._by_value:
            return None
        begins = text.lower()
        values = (option.value for option in self.options)
        return next((value for value in values if value.lower().startswith(begins)), None)

    def search(self, text: str, first: Iterable[str] = ()) -> list[PickOption]:
        """Return the options that contain all words of ``text``.

        Options whose title starts with the text come first, then matches in the title, in other
        names, and in the note. Of equal matches, those with a value in ``first`` lead.
        """
        first = dict.fromkeys(first)
        every = [*map(self.option, first)]
        every += [option for option in self.options if option.value not in first]
        words = [word for word in map(letters, text.split()) if word]
        ranks = [(self._rank(option, words), number) for number, option in enumerate(every)]
        ranked = sorted((rank, number) for rank, number in ranks if rank is not None)
        return [every[number] for _rank, number in ranked]

    def _rank(self, option: PickOption, words: Sequence[str]) -> int | None:
        if not words:
            return 0
        texts = self._searchable_texts.get(option)
        if texts is None:
            title, also = letters(option_title(option)), letters(option.also)
            texts = title, also, title + also + letters(f"{option.value} {option.note}")
            self._searchable_texts[option] = texts
        if texts[0].startswith("".join(words)):
            return 0
        ranked = enumerate(texts, 1)
        return next((rank for rank, text in ranked if all(word in text for word in words)), None)


class _TickInput(QuietInput):
    """A search line in which Space is not typed but ticks an option."""

    def check_consume_key(self, key: str, character: str | None) -> bool:
        """Type any character but Space, which ticks an option."""
        return key != "space" and super().check_consume_key(key, character)


class SearchList(Dialog[Result]):
    """A search line above a list of options; keys that type nothing move in the list.

    ``search_text`` is the initial search. If the source has a noun, the options are counted and
    take one line each; without a noun, they are not counted and their notes wrap.
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("up,ctrl+p", "move('cursor_up')", show=False, priority=True),
        Binding("down,ctrl+n", "move('cursor_down')", show=False, priority=True),
        Binding("pageup", "move('page_up')", show=False, priority=True),
        Binding("pagedown", "move('page_down')", show=False, priority=True),
        Binding("home", "move('first')", show=False, priority=True),
        Binding("end", "move('last')", show=False, priority=True),
        Binding("f5", "reload", show=False),
    ]
    AUTO_FOCUS = "QuietInput"
    SEARCH_INPUT: ClassVar[type[QuietInput]] = QuietInput

    def __init__(
        self,
        title: str | Content,
        source: OptionSource | Sequence[PickOption],
        *,
        search_text: str = "",
    ) -> None:
        super().__init__()
        self._title = title
        self.source = source if isinstance(source, OptionSource) else OptionSource(source)
        self._search_text = search_text
        self._matches: Sequence[PickOption] = ()
        self._shown: Sequence[PickOption] = ()
        """The options in the list, in the order of its rows."""
        self._width = 0
        """Width in cells of the title column."""
        self._filled_for = Size()
        """Size of the terminal that the list is filled for."""

    def compose(self) -> ComposeResult:
        with Vertical(classes="dialog pick"):
            yield Static(self._heading(), classes="title")
            with Horizontal(classes="seek"):
                yield Static(toned("> ", "accent", bold=True), classes="sign")
                yield self.SEARCH_INPUT(placeholder="type to search")
                yield Static(classes="count")
            options = OptionList(markup=False, compact=True)
            options.can_focus = False
            yield options

    def _heading(self) -> Content:
        title = self._title
        return toned(title, "accent", bold=True) if isinstance(title, str) else title

    def on_mount(self) -> None:
        self.query_one(QuietInput).begin_with(self._search_text)
        self.fill(self.first_row)
        if not self.source.loaded:
            self.action_reload()

    @on(events.Resize)
    def _fill_for_size(self) -> None:
        if self.app.size != self._filled_for:
            options = self.query_one(OptionList)
            options.styles.min_width = options.styles.min_height = None
            self.fill(self.row)

    @work(group="options", exclusive=True)
    async def action_reload(self) -> None:
        await self.source.load()
        self.fill(self.first_row)

    @property
    def is_loading(self) -> bool:
        """Whether the options are still being read."""
        return not (self.source.loaded or self.source.fault)

    def needs_rows(self, event: events.Event) -> bool:
        """Whether ``event`` is a key that acts on the rows of the list instead of typing a text."""
        return isinstance(event, events.Key) and event.key in _ON_ROWS

    @property
    def search_text(self) -> str:
        """The text of the search line, without surrounding spaces."""
        return self.query_one(QuietInput).value.strip()

    # The list -------------------------------------------------------------------------------------

    @property
    def row(self) -> int:
        """Index of the highlighted row; 0 in an empty list."""
        return self.query_one(OptionList).highlighted or 0

    @property
    def first_row(self) -> int:
        """Index of the row to highlight first."""
        return 0

    @property
    def option(self) -> PickOption | None:
        """The highlighted option; None in an empty list."""
        place = self.query_one(OptionList).highlighted
        return None if place is None or place >= len(self._shown) else self._shown[place]

    def find(self, text: str) -> Sequence[PickOption]:
        """Return the options that match ``text``; all of them for an empty text."""
        return self.source.search(text)

    def option_mark(self, option: PickOption) -> Content:
        """Return what stands before an option's title, such as a check box."""
        raise NotImplementedError

    def take(self, option: PickOption) -> None:
        """Handle a click on an option."""
        raise NotImplementedError

    def fill(self, row: int) -> None:
        """Fill the list with the matching options, and highlight the row with this index."""
        options = self.query_one(OptionList)
        self._filled_for = self.app.size
        self._matches = self.find(self.search_text)
        self._shown = self._matches[:_MOST_SHOWN]
        room = dialog_room(self)
        widest = max(map(cell_len, map(option_title, self._shown)), default=0)
        most = max(_LEAST_TITLE, room // 2) if self.source.noun else _LONGEST_TITLE
        self._width = min(widest, most, _LONGEST_TITLE)
        options.clear_options()
        options.add_options([Option(self._line(option)) for option in self._shown])
        if (remark := self._remark()).plain:
            options.add_option(Option(Content("\n").join(remark.wrap(room)), disabled=True))
        options.highlighted = min(row, len(self._shown) - 1) if self._shown else None
        self.show_count()

    def draw_again(self, *rows: int) -> None:
        """Redraw the rows with these indices."""
        for row in rows:
            line = self._line(self._shown[row])
            self.query_one(OptionList).replace_option_prompt_at_index(row, line)

    def _line(self, option: PickOption) -> Content:
        title = toned(fit(option_title(option), self._width))
        head = Content.assemble(self.option_mark(option), title, "  ")
        if not self.source.noun:
            return hanging(head, toned(option.note, "muted"), dialog_room(self))
        value = safe_line(option.value, NAMED) if option.title else ""
        return Content.assemble(head, toned(option.note or value, "muted"))

    def _remark(self) -> Content:
        # Why the list is empty or incomplete.
        source, count = self.source, len(self._matches)
        nouns = source.noun or "choices"
        if source.fault:
            why = f"The list could not be read: {source.fault} F5 retries"
            return toned(why, "warn")
        if not source.loaded:
            return toned(f"Reading the list of {nouns}…", "muted")
        if count > len(self._shown):
            more = count - len(self._shown)
            return toned(f"and {more:,} more: type to narrow the list", "muted")
        if count:
            return Content("")
        if self.search_text:
            return toned(f"No match for “{safe_line(self.search_text, 30)}”", "warn")
        return toned(f"There are no {nouns}", "warn")

    def show_count(self) -> None:
        """Update the number of matching options."""
        self.query_one(".count", Static).update(self.count())

    def count(self) -> Content:
        """Return the number of matching options as text; empty for a short list."""
        source = self.source
        if not source.noun or not source.loaded:
            return Content("")
        known = sum(source.known(option.value) for option in self._matches)
        of_all = f" of {len(source.options)}" if self.search_text else ""
        return toned(f"  {known}{of_all} {source.noun}", "muted")

    # Keys -----------------------------------------------------------------------------------------

    @on(Input.Changed)
    def _typed(self, event: Input.Changed) -> None:
        event.stop()
        if event.value != self._search_text:
            self._search_text = event.value
            options = self.query_one(OptionList)
            # Keep the size of the list while the search makes it shorter.
            options.styles.min_width, options.styles.min_height = options.outer_size
            self.fill(0 if event.value else self.first_row)

    @on(Input.Submitted)
    def _submitted(self, event: Input.Submitted) -> None:
        event.stop()
        if self.option is None:
            self.app.bell()
        else:
            self.submit(self.option)

    @on(OptionList.OptionSelected)
    def _clicked(self, event: OptionList.OptionSelected) -> None:
        event.stop()
        self.take(self._shown[event.option_index])

    def submit(self, option: PickOption) -> None:
        """Handle Enter on an option; by default the same as a click."""
        self.take(option)

    def action_move(self, way: str) -> None:
        options = self.query_one(OptionList)
        getattr(options, f"action_{way}")()
        if self._shown and self.row == len(self._shown) - 1:
            options.scroll_end(animate=False)  # the remark is below the last option

    def action_leave(self) -> None:
        """Clear the search; without one, close the list."""
        if self.search_text:
            self.query_one(QuietInput).value = ""
        else:
            super().action_leave()


class TickList(SearchList[Result]):
    """A searchable list in which Space or a click ticks options."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("space", "tick", show=False, priority=True)]
    SEARCH_INPUT = _TickInput

    def action_tick(self) -> None:
        if self.option is None:
            self.app.bell()
        else:
            self.take(self.option)


class Picker(SearchList[str | None]):
    """A list to choose one option. Returns the value of the option, or None if cancelled.

    ``current`` is the value of the option that is chosen now. ``marks`` has the text before the
    title of each option, by value; by default, the current option has a dot.
    """

    hint = "Enter selects · Esc cancels · type to search · ↑ ↓ move"

    def __init__(
        self,
        title: str | Content,
        source: OptionSource | Sequence[PickOption],
        *,
        current: str | None = None,
        search_text: str = "",
        marks: Mapping[str, Content] | None = None,
    ) -> None:
        super().__init__(title, source, search_text=search_text)
        self._current = current
        self._marks = marks

    @property
    def first_row(self) -> int:
        """Index of the current option; 0 during a search, or if there is none."""
        values = [] if self.search_text else [option.value for option in self.find("")]
        return values.index(self._current) if self._current in values else 0

    def find(self, text: str) -> Sequence[PickOption]:
        """Return the matching options; in a long list the current option comes first."""
        first = [self._current] if self._current and self.source.noun else []
        return self.source.search(text, first)

    def option_mark(self, option: PickOption) -> Content:
        """Return the mark of the option in ``marks``, or the dot of the current option."""
        if self._marks is not None:
            return self._marks.get(option.value, Content(""))
        return toned("● " if option.value == self._current else "  ", "accent")

    def take(self, option: PickOption) -> None:
        """Close, and return the value of the option."""
        self.dismiss(option.value)


# Columns ------------------------------------------------------------------------------------------


class ColumnsScreen(TickList[tuple[str, ...] | None]):
    """Lets the user choose and order the columns of a list.

    Returns the ids of the visible columns in order; empty for the default columns, None if
    cancelled. ``choice`` holds the indices of the columns that were chosen earlier. If it is None,
    the dialog starts with the columns that fit ``room`` cells, and returns the default unless the
    user changes something.
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("left", "shift(-1)", show=False, priority=True),
        Binding("right", "shift(1)", show=False, priority=True),
        Binding("ctrl+r", "reset", show=False),
    ]
    hint = "Enter applies · Esc cancels · Space shows, hides · ← → move · Ctrl+R resets"

    def __init__(
        self,
        title: str,
        columns: Sequence[Column[Any]],
        choice: tuple[int, ...] | None,
        room: int,
    ) -> None:
        super().__init__(
            title, [PickOption(column.id, column.title, column.help) for column in columns]
        )
        usual = tuple(slot.index for slot in arrange(columns, room).slots)
        self._usual = [columns[index].id for index in usual]
        self._begin(self._usual if choice is None else [columns[index].id for index in choice])
        self._chosen = choice is not None

    def _begin(self, shown: Sequence[str]) -> None:
        hidden = (option.value for option in self.source.options if option.value not in shown)
        self._order = [*shown, *hidden]
        self._visible = set(shown)
        self._chosen = False

    def find(self, text: str) -> Sequence[PickOption]:
        """Return the matching columns, the visible ones first."""
        return self.source.search(text, self._order)

    def option_mark(self, option: PickOption) -> Content:
        """Return a checkbox that is ticked if the column is visible."""
        shown = option.value in self._visible
        return toned("[x] " if shown else "[ ] ", "accent" if shown else "muted", bold=shown)

    def submit(self, option: PickOption) -> None:  # noqa: ARG002 - all count
        """Close and return the ids of the visible columns in order; ``option`` is ignored.

        Returns an empty tuple for the default columns.
        """
        names = tuple(name for name in self._order if name in self._visible)
        self.dismiss(names if self._chosen else ())

    def take(self, option: PickOption) -> None:
        """Show or hide the column; the last visible column cannot be hidden."""
        if self._visible == {option.value}:
            self.app.bell()
            return
        self._visible ^= {option.value}
        self._chosen = True
        self.draw_again(self.row)

    def action_shift(self, step: int) -> None:
        place = self.row + step
        if self.search_text or not 0 <= place < len(self._order):
            self.app.bell()
            return
        order = self._order
        order[self.row], order[place] = order[place], order[self.row]
        self._chosen = True
        self.fill(place)

    def action_reset(self) -> None:
        self._begin(self._usual)
        self.fill(0)
