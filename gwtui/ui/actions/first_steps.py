"""The first steps: offered once after the first start, and shown on request."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, cast

from textual import events
from textual.app import ComposeResult
from textual.containers import Vertical
from textual.content import Content
from textual.widgets import Static

from gwtui.domain.safe_text import safe_line
from gwtui.resources.actions import by_id
from gwtui.ui.actions.context import ActionContext, Handler
from gwtui.ui.commands import key_of, with_keys
from gwtui.ui.screens.dialogs import Dialog
from gwtui.ui.text import toned

if TYPE_CHECKING:
    from gwtui.client.connection import Connection
    from gwtui.ui.app import GwtuiApp


@dataclass(frozen=True, slots=True)
class Step:
    """A suggested step: an action, and the text to type after its key."""

    action: str
    text: str
    then: str = ""

    @property
    def keys(self) -> str:
        """The keyboard keys of the step, as text."""
        return key_of(self.action) + with_keys(self.then)


_DEMO = (
    "This is the demo: a simulated gateway on this machine, with a recorded week. "
    "It is offline and free: change and delete what you like."
)
STEPS = (
    Step("go.board", "the board: live status and the past week"),
    Step("list.filter", "in the list of keys: keys near their limit", "used>=80%"),
    Step("keys.toggle", "disable a key after seeing the plan; undo it", " {app.undo}"),
    Step("go.activity", "who spent what, on which model, on which day"),
    Step("app.palette", "every command by name"),
)
_HELP = "app.help"
_HOST = 60
_COLUMNS, _LINES = 80, 24
"""Minimum terminal size, in columns and lines."""


class FirstStepsScreen(Dialog[None]):
    """Shows the first steps; any key closes it, and a key of a step or of help also runs.

    Texts must have passed ``safe_text``.
    """

    hint = "the first key of a step starts it · any other key closes this"

    def __init__(self, about: str, steps: Sequence[Step]) -> None:
        super().__init__()
        self._about = about
        self._steps = steps

    def compose(self) -> ComposeResult:
        """The introduction, the steps, the help key."""
        widest = max(len(step.keys) for step in self._steps)
        with Vertical(id="first-steps", classes="dialog"):
            yield Static(toned("Welcome to gwtui", "accent", bold=True), classes="title")
            yield Static(toned(self._about))
            yield Static(toned("Worth a try:", "muted"), classes="section")
            for step in self._steps:
                keys = step.keys.ljust(widest + 2)
                line = Content.assemble(toned(keys, "accent"), toned(step.text))
                yield Static(line, classes="step")
            more = "shows the keys of the current screen. Esc goes back."
            yield Static(toned(f"{key_of(_HELP)} {more}"), classes="section")

    def on_key(self, event: events.Key) -> None:
        """Close, and run the action if the key belongs to a step or to help."""
        event.stop()
        named = [*(step.action for step in self._steps), _HELP]
        self.dismiss()
        if any(event.key in by_id(action).keys for action in named):
            app = cast("GwtuiApp", self.app)
            app.call_later(app.handle_input, event)

    def on_click(self) -> None:
        """Close on a click."""
        self.dismiss()


async def offer_at_start(app: GwtuiApp) -> None:
    """Offer the first steps once, unless a key was pressed or the connection is read-only."""
    session = app.session
    if session is None or app.first_steps.is_dismissed or app.was_typed:
        return
    if session.connection.read_only and not _is_demo(session.connection):
        return
    if app.navigation.screen is not app.screen or not _fits(app):
        return
    await _show(app)


async def show(context: ActionContext) -> None:
    """Show the first steps."""
    await _show(context.app)


async def _show(app: GwtuiApp) -> None:
    session = app.session
    about = _about(None if session is None else session.connection)
    await app.push_screen_wait(FirstStepsScreen(about, STEPS))
    app.first_steps.keep()


def _about(connection: Connection | None) -> str:
    if connection is not None and _is_demo(connection):
        return _DEMO
    where = "a gateway" if connection is None else safe_line(connection.where, _HOST)
    return (
        f"You are connected to {where}. gwtui shows a plan before each "
        "change and asks you to confirm it. Most changes can be undone."
    )


def _is_demo(connection: Connection) -> bool:
    return connection.token_source == "demo"  # noqa: S105 - where it comes from


def _fits(app: GwtuiApp) -> bool:
    return app.size.width >= _COLUMNS and app.size.height >= _LINES


HANDLERS: Mapping[str, Handler] = {"app.first_steps": show}
