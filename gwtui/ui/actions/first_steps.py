"""The first steps: offered once after the first start, and again to whoever asks for them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, ClassVar

from textual import events
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.content import Content
from textual.widgets import Static

from gwtui.domain.safe_text import safe_line
from gwtui.ui.actions.context import ActionContext, DashboardApp, Handler
from gwtui.ui.commands import key_of
from gwtui.ui.screens.modal import Modal
from gwtui.ui.text import toned
from gwtui.ui.widgets.containers import BlankVertical

if TYPE_CHECKING:
    from gwtui.client.connection import Connection


Step = tuple[str, str]
"""Keys, and what they lead to."""
_DEMO = (
    "This is the demo: a made-up gateway on this machine, with a week that is recorded already. "
    "It is offline, and nothing in it costs anything: change and delete what you like."
)
_HOST = 60
_COLUMNS, _LINES = 80, 24
"""The smallest terminal that they are offered on."""


class FirstStepsScreen(Modal[events.Key | None]):
    """Closes with any key, and returns it when it means something beneath; else None.

    Texts must have passed ``safe_text``.
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,enter,space,q", "leave", show=False),
    ]

    def __init__(self, about: str, steps: Sequence[Step], help_keys: str) -> None:
        super().__init__()
        self._about = about
        self._steps = steps
        self._help_keys = help_keys

    def compose(self) -> ComposeResult:
        """What it is, the steps, the help."""
        widest = max(len(keys) for keys, _text in self._steps)
        with BlankVertical(id="first-steps", classes="dialog"):
            yield Static(toned("Welcome to gwtui", "accent", bold=True), classes="title")
            yield Static(toned(self._about))
            yield Static(toned("Worth a try:", "muted"), classes="section")
            for keys, text in self._steps:
                line = Content.assemble(toned(keys.ljust(widest + 2), "accent"), toned(text))
                yield Static(line, classes="step")
            yield Static(
                toned(
                    f"{self._help_keys} is help: every key of the screen you are on. "
                    "Esc takes you back.",
                ),
                classes="section",
            )
            yield Static(
                toned("Enter closes this; any other key closes it and does its work.", "muted"),
                classes="keys",
            )

    def on_key(self, event: events.Key) -> None:
        """A key that is not for this screen is for the one beneath."""
        event.stop()
        self.dismiss(event)

    def on_click(self) -> None:
        """A click closes it, too."""
        self.dismiss(None)

    def action_leave(self) -> None:
        """Close."""
        self.dismiss(None)


async def offer_at_start(app: DashboardApp) -> None:
    """After the first rows, once ever: not who has begun to type, nor who only watches."""
    session = app.session
    if session is None or app.first_steps.seen or app.was_typed:
        return
    if session.connection.read_only and not _is_demo(session.connection):
        return
    if app.navigation.screen is not app.screen or not _fits(app):
        return
    await _show(app)


async def show(context: ActionContext) -> None:
    """Show them to who asks."""
    await _show(context.app)


async def _show(app: DashboardApp) -> None:
    session = app.session
    about = _about(None if session is None else session.connection)
    pressed = await app.push_screen_wait(FirstStepsScreen(about, _steps(), _keys("app.help")))
    app.first_steps.keep()
    if pressed is not None:
        app.call_later(app.handle_input, pressed)


def _about(connection: Connection | None) -> str:
    if connection is not None and _is_demo(connection):
        return _DEMO
    where = "a gateway" if connection is None else safe_line(connection.where, _HOST)
    return (
        f"You look at {where}. Nothing is changed before you have seen a plan of what will happen "
        "and agreed to it, and most changes can be undone."
    )


def _is_demo(connection: Connection) -> bool:
    return connection.token_source == "demo"  # noqa: S105 - where it comes from


def _fits(app: DashboardApp) -> bool:
    return app.size.width >= _COLUMNS and app.size.height >= _LINES


def _steps() -> tuple[Step, ...]:
    return (
        (_keys("go.board"), "the board: how it all does now, and did this week"),
        (f"{_keys('list.filter')}used>=80%", "in the list of keys: those that are near a limit"),
        (_keys("keys.toggle", "app.undo"), "switch a key off, with a plan first; undo it"),
        (_keys("go.activity"), "who spent what, on which model, on which day"),
        (_keys("app.palette"), "every command, found by its name"),
    )


def _keys(*actions: str) -> str:
    return " ".join(key_of(action) for action in actions)


HANDLERS: Mapping[str, Handler] = {"app.first_steps": show}
