"""A secret being typed: never on the screen, in no selection, history, completion or clipboard."""

from __future__ import annotations

import unicodedata
from typing import ClassVar

from pydantic import SecretStr
from textual import events
from textual.binding import Binding, BindingType
from textual.content import Content
from textual.widget import Widget

from gwtui.crud.resource import Cell
from gwtui.ui.forms.editors import Edited, Entered
from gwtui.ui.picture import HoldsSecret
from gwtui.ui.tones import toned

_MOST_DOTS = 24
_LONGEST = 65_536
"""Characters that are taken at most: a whole file pasted by mistake is not a key."""


class SecretEditor(HoldsSecret, Widget, can_focus=True):
    """Takes a secret at its end only: what cannot be seen cannot be edited in the middle.

    It is not an ``Input``, whose value, messages and cut and copy would carry the secret about.
    """

    ALLOW_SELECT = False
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("enter", "enter", show=False),
        Binding("backspace", "rub_out", show=False),
        Binding("ctrl+u,delete", "clear", show=False),
    ]
    DEFAULT_CSS = "SecretEditor { height: 1; text-wrap: nowrap; text-overflow: ellipsis; }"

    def __init__(self, placeholder: str) -> None:
        super().__init__()
        self._placeholder = placeholder
        self._secret = SecretStr("")
        self._overlong = False

    @property
    def holds_secret(self) -> bool:
        """Whether anything was typed: how long it is would be told, too."""
        return len(self._secret) > 0

    def render(self) -> Content:
        """A dot for each character, up to a few, and the count."""
        length = len(self._secret)
        cursor = toned("▏", "accent") if self.has_focus else Content("")
        if not length:
            return Content.assemble(cursor, toned(self._placeholder, "muted"))
        dots = "•" * min(length, _MOST_DOTS)
        return Content.assemble(
            toned(dots, "plain"),
            cursor,
            toned(f"  {length} character{'' if length == 1 else 's'}, hidden", "muted"),
        )

    def hint(self) -> Cell | None:
        """What looks wrong with it, without showing any of it."""
        text = self._secret.get_secret_value().strip()
        if self._overlong:
            return Cell(f"only the first {_LONGEST} characters were taken: clear it", "warn")
        if any(char.isspace() for char in text):
            return Cell("has a blank or a line break inside: keys have none", "warn")
        if any(unicodedata.category(char)[0] == "C" for char in text):
            return Cell("has a control or invisible character inside", "warn")
        if not text.isascii():
            return Cell("has a character that is not ASCII: keys have none", "warn")
        if text:
            return Cell("hidden; Ctrl+U clears it. Never shown again once it is sent", "muted")
        return None

    def on_key(self, event: events.Key) -> None:
        """A character more."""
        if event.is_printable and event.character is not None:
            event.stop()
            event.prevent_default()
            self._put(self._secret.get_secret_value() + event.character)

    def on_paste(self, event: events.Paste) -> None:
        """The usual way: a key from elsewhere. Blanks and line breaks around it do not count."""
        event.stop()
        event.prevent_default()
        self._put(self._secret.get_secret_value() + event.text.strip())

    def on_click(self) -> None:
        """Nothing to place a cursor in; the focus is enough."""

    def action_rub_out(self) -> None:
        """One character less."""
        self._put(self._secret.get_secret_value()[:-1])

    def action_clear(self) -> None:
        """Start again."""
        self._put("")

    def action_enter(self) -> None:
        """On to the next field."""
        self.post_message(Entered())

    def on_unmount(self) -> None:
        """However the form ends, what was typed ends with it."""
        self._secret = SecretStr("")

    def _put(self, text: str) -> None:
        self._overlong = len(text) > _LONGEST
        self._secret = SecretStr(text[:_LONGEST])
        self.refresh()
        self.post_message(Edited(self._secret))
