"""Text of several lines."""

from __future__ import annotations

from rich.text import Text
from textual import on
from textual.actions import SkipAction
from textual.widgets import TextArea

from gwtui.domain.safe_text import safe_characters
from gwtui.ui.forms.editors import Edited


class LinesEditor(TextArea):
    """A few lines of text. Tab leaves it, and so do the arrows beyond its first and last line.

    The text may hold anything, also what came from the gateway; what is shown cannot disturb.
    """

    def __init__(self, value: str, placeholder: str = "") -> None:
        super().__init__(value, compact=True, highlight_cursor_line=False, placeholder=placeholder)
        self.cursor_blink = False
        self._given = self.text

    def on_resize(self) -> None:
        """Fold without a scroll bar first: one that was needed before takes width and stays."""
        self.show_vertical_scrollbar = False

    def get_line(self, line_index: int) -> Text:
        """A line as it is shown. Tabs stay: they are expanded later."""
        parts = self.document.get_line(line_index).split("\t")
        return Text("\t".join(map(safe_characters, parts)), end="", no_wrap=True)

    @on(TextArea.Changed)
    def _changed(self, event: TextArea.Changed) -> None:
        event.stop()
        if self.text != self._given:
            self._given = self.text
            self.post_message(Edited(self.text))

    def action_cursor_up(self, select: bool = False) -> None:
        """The line before; from the first one to the field before."""
        if not select and self._line == 0:
            self.screen.focus_previous()
        else:
            super().action_cursor_up(select)

    def action_cursor_down(self, select: bool = False) -> None:
        """The next line; from the last one to the next field."""
        if not select and self._line == self.wrapped_document.height - 1:
            self.screen.focus_next()
        else:
            super().action_cursor_down(select)

    def action_cursor_page_up(self) -> None:
        """Belongs to the form: what is shown of the text is no page."""
        raise SkipAction

    def action_cursor_page_down(self) -> None:
        """Belongs to the form."""
        raise SkipAction

    @property
    def _line(self) -> int:
        """The line on the screen, wrapped ones counted, that the cursor is on."""
        return self.wrapped_document.location_to_offset(self.cursor_location).y
