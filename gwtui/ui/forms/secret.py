"""The screen that shows a new key once, and the field for typing a secret.

A new value is masked until the user reveals it, and its screen closes only once the user has
ticked that it is stored. A typed secret is never shown, selected or copied.
"""

from __future__ import annotations

from typing import ClassVar

from pydantic import SecretStr
from textual import events, work
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, VerticalScroll
from textual.content import Content
from textual.widgets import Button, Static

from gwtui.crud.resource import Cell, Tone
from gwtui.domain.safe_text import safe_text
from gwtui.ui.commands import with_keys
from gwtui.ui.forms.field_editors import TextEditor
from gwtui.ui.input_queue import FINISHING
from gwtui.ui.screens.dialogs import Dialog
from gwtui.ui.terminal.clipboard import Copied, copy_text, save_private
from gwtui.ui.text import toned
from gwtui.ui.widgets.containers import DialogBox

MASK = "•" * 24
_STORE_NOW = "This is the value of the key. It is shown only once: store it now."
_IF_LOST = (
    "If gwtui quits before you confirm below, it offers to replace the key when it starts again."
)
_TICK_FIRST = "To close this, tick “I have stored this key”: it cannot be shown again."
_LONGEST = 4096
_MAX_LENGTH = 65_536
"""Maximum length of a typed secret; a longer text is a file pasted by mistake."""


def _stored(ticked: bool) -> str:
    return f"[{'x' if ticked else ' '}] I have stored this key"


def _button(name: str, label: str, action: str = "") -> Button:
    action = f"screen.{action or name}"
    return Button(Content(with_keys(label)), id=name, action=action, compact=True)


class SecretView(Static):
    """Draws the value of the key; no other widget does. The value cannot be selected."""

    ALLOW_SELECT = False


class SecretScreen(Dialog[None]):
    """Shows the value of a new key until the user has stored it, then forgets the value."""

    ALLOW_SELECT = False
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("v", "reveal", show=False, id="new-key.show"),
        Binding("y", "copy", show=False, id="new-key.copy"),
        Binding("s", "save", show=False, id="new-key.save"),
        Binding("escape,q", "leave", show=False),
        Binding("left,up", "app.focus_previous", show=False),
        Binding("right,down", "app.focus_next", show=False),
    ]
    AUTO_FOCUS = "#copy"

    def __init__(self, name: str, value: SecretStr) -> None:
        super().__init__()
        self._name_shown = safe_text(name, 60)
        self._value: SecretStr | None = value
        self._revealed = False
        self._stored = False

    def compose(self) -> ComposeResult:
        with DialogBox(id="secret", classes="dialog"):
            yield Static(self._title_line(), classes="title")
            yield Static(toned(_STORE_NOW, "warn"), classes="effect")
            yield Static(toned(_IF_LOST, "muted"), id="secret-fate", classes="effect")
            yield SecretView(toned(MASK), id="secret-value")
            with Horizontal(classes="buttons"):
                yield _button("copy", "Copy ({new-key.copy})")
                yield _button("reveal", "Show ({new-key.show})")
                yield _button("save", "Save to a file ({new-key.save})")
            with VerticalScroll(id="secret-notes", classes="long", can_focus=False):
                yield Static(Content(""), id="secret-note")
            yield _button("stored", _stored(False), "toggle_stored")
            with Horizontal(classes="buttons"):
                yield _button("done", "Done", "leave")

    hint = "Tab moves · Enter presses a button or ticks the box"

    def on_mount(self) -> None:
        self.query_one("#done").disabled = True

    def _title_line(self) -> Content:
        return Content.assemble(
            toned("Key created: ", "good", bold=True), toned(self._name_shown, "plain", bold=True)
        )

    @property
    def unsaved(self) -> bool:
        """Whether the user has not stored the value yet."""
        return self._value is not None

    @property
    def loss(self) -> str:
        """What quitting now would lose."""
        return "You have not stored the new key's value yet; it cannot be shown again."

    def action_toggle_stored(self) -> None:
        self._stored = not self._stored
        self.query_one("#stored", Button).label = Content(_stored(self._stored))
        self.query_one("#done", Button).disabled = not self._stored

    def action_reveal(self) -> None:
        if self._value is None:
            return
        self._show_value(not self._revealed)

    def on_screen_suspend(self) -> None:
        """Mask the value when a dialog opens above, because dialogs are transparent."""
        if self._value is not None and self._revealed and self.is_open:
            self._show_value(False)

    def _show_value(self, revealed: bool) -> None:
        assert self._value is not None  # noqa: S101 - checked by the callers
        self._revealed = revealed
        shown = safe_text(self._value.get_secret_value(), _LONGEST) if self._revealed else MASK
        self.query_one("#secret-value", SecretView).update(toned(shown, "accent", bold=True))
        label = "Hide" if self._revealed else "Show"
        self.query_one("#reveal", Button).label = Content(with_keys(f"{label} ({{new-key.show}})"))

    @work(group=FINISHING, exclusive=True)
    async def action_copy(self) -> None:
        if self._value is not None:
            self._say(await copy_text(self.app, self._value.get_secret_value(), secret=True))

    @work(group=FINISHING, exclusive=True)
    async def action_save(self) -> None:
        if self._value is not None:
            self._say(await save_private(self._value.get_secret_value()))

    def action_leave(self) -> None:
        if self._stored:
            self._end()
            return
        self.app.bell()
        self._note(toned(_TICK_FIRST, "warn"))
        self.query_one("#stored").focus()

    def _end(self) -> None:
        self._value = None
        self.query_one("#secret-value", SecretView).update(toned(MASK))
        self.dismiss(None)

    def on_unmount(self) -> None:
        self._value = None

    def _say(self, copied: Copied) -> None:
        tone: Tone = "good" if copied.ok else "bad"
        self._note(toned(safe_text(copied.sentence, _LONGEST), tone))

    def _note(self, text: Content) -> None:
        self.query_one("#secret-note", Static).update(text)


class SecretEditor(TextEditor):
    """A masked line of text whose secret never reaches the clipboard."""

    ALLOW_SELECT = False
    FOCUS_KEYS: ClassVar[str] = "Ctrl+U clears"

    def __init__(self, placeholder: str) -> None:
        super().__init__("", placeholder)
        self.password = True
        self.max_length = _MAX_LENGTH

    @property
    def typed(self) -> SecretStr:
        """The secret as the form keeps it."""
        return SecretStr(self.value)

    def hint(self) -> Cell | None:
        """A warning about a secret that looks wrong, without showing any of the secret."""
        text = self.value.strip()
        if not text:
            return None
        if " " in text or not (text.isascii() and text.isprintable()):
            return Cell("contains a space or another invalid character", "warn")
        return Cell(f"{len(text)} characters, hidden; never shown again once sent", "muted")

    def on_paste(self, event: events.Paste) -> None:
        """Paste the text without the whitespace around it."""
        event.stop()
        event.prevent_default()
        self.replace(event.text.strip(), *sorted(self.selection))

    def action_copy(self) -> None:
        """Do nothing: a secret is never copied."""

    def action_cut(self) -> None:
        """Do nothing: a secret is never cut."""

    def on_unmount(self) -> None:
        self._given = ""
        self.set_reactive(TextEditor.value, "")
