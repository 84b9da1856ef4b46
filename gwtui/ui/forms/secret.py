"""A secret on the screen: a new key's value, shown once, and the field in which one is typed.

A new value is masked until it is asked for, and its screen is left only by saying that the value is
stored. What is typed is never shown, and is in no selection, history, completion or
clipboard.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Awaitable, Callable
from typing import ClassVar

from pydantic import SecretStr
from textual import events, on, work
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, Vertical, VerticalScroll
from textual.content import Content
from textual.widget import Widget
from textual.widgets import Button, Static

from gwtui.crud.resource import Cell, Tone
from gwtui.domain.safe_text import safe_text
from gwtui.ui.commands import with_keys
from gwtui.ui.forms.field_editors import Edited, Entered
from gwtui.ui.input_queue import FINISHING, OPENING
from gwtui.ui.screens.modal import Dialog
from gwtui.ui.terminal.clipboard import Copied, copy_text, save_private
from gwtui.ui.terminal.screenshot import HoldsSecret
from gwtui.ui.text import toned

MASK = "•" * 24
_WHAT = "This is its value. The gateway gives it only once: store it now."
_FATE = (
    "If this screen is lost, the value is lost: the next start then offers to delete the key and "
    "create it again."
)
_NOT_YET = "Tick “I have stored this key” first: the gateway cannot show it again."
_LONGEST = 4096
_MOST_DOTS = 24
_LONGEST_TYPED = 65_536
"""Characters that are taken at most: a whole file pasted by mistake is not a key."""


def _stored(ticked: bool) -> Content:
    return Content(f"[{'x' if ticked else ' '}] I have stored this key")


class SecretView(HoldsSecret, Static):
    """The only place where the value is drawn; it cannot be selected."""

    ALLOW_SELECT = False


class SecretScreen(Dialog[None]):
    """Shows the value of a new key until the person says that it is stored, then forgets it.

    ``attempt`` lets the person try a request with the value while it is here.
    """

    ALLOW_SELECT = False
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("v", "reveal", show=False, id="new-key.show"),
        Binding("y", "copy", show=False, id="new-key.copy"),
        Binding("s", "save", show=False, id="new-key.save"),
        Binding("T", "try", show=False, id="new-key.try"),
        Binding("escape,q", "leave", show=False),
        Binding("left,up", "app.focus_previous", show=False),
        Binding("right,down", "app.focus_next", show=False),
    ]
    AUTO_FOCUS = "#copy"

    def __init__(
        self,
        name: str,
        value: SecretStr,
        attempt: Callable[[SecretStr], Awaitable[None]] | None = None,
    ) -> None:
        super().__init__()
        self._attempt = attempt
        self._name_shown = safe_text(name, 60)
        self._value: SecretStr | None = value
        self._revealed = False
        self._stored = False

    def compose(self) -> ComposeResult:
        """The value, what can be done with it, the acknowledgement."""
        with Vertical(id="secret", classes="dialog"):
            yield Static(self._title_line(), classes="title")
            yield Static(toned(_WHAT, "warn"), classes="effect")
            yield Static(toned(_FATE, "muted"), id="secret-fate", classes="effect")
            yield SecretView(toned(MASK), id="secret-value")
            with Horizontal(classes="buttons"):
                yield Button(Content(with_keys("Copy ({new-key.copy})")), id="copy", compact=True)
                yield Button(Content(with_keys("Show ({new-key.show})")), id="reveal", compact=True)
                yield Button(
                    Content(with_keys("Save to a file ({new-key.save})")), id="save", compact=True
                )
            with VerticalScroll(id="secret-notes", classes="long", can_focus=False):
                yield Static(Content(""), id="secret-note")
            yield Button(_stored(False), id="stored", compact=True)
            with Horizontal(classes="buttons"):
                yield Button(Content("Done"), id="done", compact=True, disabled=True)
                if self._attempt is not None:
                    yield Button(
                        Content(with_keys("Try it ({new-key.try})")), id="try", compact=True
                    )

    hint = "Tab moves · Enter presses, and ticks the box"

    def _title_line(self) -> Content:
        return Content.assemble(
            toned("Key created: ", "good", bold=True), toned(self._name_shown, "plain", bold=True)
        )

    @property
    def unsaved(self) -> bool:
        """Whether the value is not acknowledged yet."""
        return self._value is not None

    @property
    def loss(self) -> str:
        """What quitting now would lose."""
        return "The new key's value was not acknowledged as stored; it cannot be shown again."

    @on(Button.Pressed)
    def _pressed(self, event: Button.Pressed) -> None:
        event.stop()
        match event.button.id:
            case "copy":
                self.action_copy()
            case "reveal":
                self.action_reveal()
            case "save":
                self.action_save()
            case "stored":
                self._acknowledge()
            case "done":
                self.action_leave()
            case "try":
                self.action_try()

    def _acknowledge(self) -> None:
        """Tick the box, or take the tick away."""
        self._stored = not self._stored
        self.query_one("#stored", Button).label = _stored(self._stored)
        self.query_one("#done", Button).disabled = not self._stored

    def action_reveal(self) -> None:
        """Show the value, or mask it again."""
        if self._value is None:
            return
        self._show_value(not self._revealed)

    def on_screen_suspend(self) -> None:
        """Mask the value while something covers it: what is beneath a dialog is in sight."""
        if self._value is not None and self._revealed and self.is_open:
            self._show_value(False)

    def _show_value(self, revealed: bool) -> None:
        assert self._value is not None  # noqa: S101 - checked by the callers
        self._revealed = revealed
        shown = safe_text(self._value.get_secret_value(), _LONGEST) if self._revealed else MASK
        self.query_one("#secret-value", SecretView).update(toned(shown, "accent", bold=True))
        label = "Hide" if self._revealed else "Show"
        self.query_one("#reveal", Button).label = Content(with_keys(f"{label} ({{new-key.show}})"))
        self.call_after_refresh(self._fit)

    @work(group=FINISHING, exclusive=True)
    async def action_copy(self) -> None:
        """Copy by the route that works."""
        if self._value is not None:
            self._say(await copy_text(self.app, self._value.get_secret_value(), secret=True))

    @work(group=FINISHING, exclusive=True)
    async def action_save(self) -> None:
        """Save to a private file, the one route that can be confirmed."""
        if self._value is not None:
            self._say(await save_private(self._value.get_secret_value()))

    @work(group=OPENING, exclusive=True)
    async def action_try(self) -> None:
        """Send a request with the value: that shows whether the key works."""
        if self._value is not None and self._attempt is not None:
            await self._attempt(self._value)

    def action_leave(self) -> None:
        """Leave, once the person said that the value is stored; forget it."""
        if self._stored:
            self._end()
            return
        self.app.bell()
        self._note(toned(_NOT_YET, "warn"))
        self.query_one("#stored").focus()

    def _end(self) -> None:
        self._value = None
        self.query_one("#secret-value", SecretView).update(toned(MASK))
        self.dismiss(None)

    def on_unmount(self) -> None:
        """However the screen ends, the value ends with it."""
        self._value = None

    def _say(self, copied: Copied) -> None:
        tone: Tone = "good" if copied.ok else "bad"
        self._note(toned(safe_text(copied.sentence, _LONGEST), tone))

    def _note(self, text: Content) -> None:
        """Show the result below the value; a long path may change the layout."""
        self.query_one("#secret-note", Static).update(text)
        self.call_after_refresh(self._fit)


class SecretEditor(HoldsSecret, Widget, can_focus=True):
    """Takes a secret at its end only: what cannot be seen cannot be edited in the middle.

    It is not an ``Input``, whose value, messages and cut and copy would carry the secret about.
    """

    ALLOW_SELECT = False
    FOCUS_KEYS: ClassVar[str] = "Ctrl+U clears"
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
            return Cell(f"only the first {_LONGEST_TYPED} characters were taken: clear it", "warn")
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
        self._overlong = len(text) > _LONGEST_TYPED
        self._secret = SecretStr(text[:_LONGEST_TYPED])
        self.refresh()
        self.post_message(Edited(self._secret))
