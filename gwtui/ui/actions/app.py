"""Actions available on every screen, such as help, palette, profile, theme, quit, first steps."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, cast

from textual import events
from textual.app import ComposeResult
from textual.containers import Vertical
from textual.content import Content
from textual.widgets import Static

from gwtui.crud import cells
from gwtui.crud.fields import PickOption
from gwtui.domain.safe_text import safe_line
from gwtui.resources.actions import by_id
from gwtui.ui.actions.context import ActionContext, Handler
from gwtui.ui.commands import key_of, offered, with_keys
from gwtui.ui.goto import GotoPrompt
from gwtui.ui.screens.dialogs import AskScreen, Dialog
from gwtui.ui.screens.pages import SearchPage, help_lines, palette
from gwtui.ui.screens.picker import Picker
from gwtui.ui.text import toned
from gwtui.ui.themes import DEFAULT_THEME, THEMES, TITLES, known_theme
from gwtui.watch.feeds.workspaces import workspaces_feed

if TYPE_CHECKING:
    from gwtui.client.connection import Connection
    from gwtui.ui.app import GwtuiApp


_ALL = ""
"""The value of the choice "all workspaces"."""


async def show_help(context: ActionContext) -> None:
    """List every action of the screen."""
    actions = offered(context.screen.scopes)

    def page(width: int, search_text: str) -> Sequence[Content]:
        return help_lines(actions, context.spec, width, context.app.hold_reason_of, search_text)

    await context.app.push_screen(SearchPage(f"Help · {context.screen.heading}", page))


async def open_palette(context: ActionContext) -> None:
    """Choose an action by name and run it on the row selected when the palette opened."""
    app = context.app
    about = "Commands"
    if context.target is not None and context.spec is not None:
        about = f"Commands · {context.spec.singular} {context.spec.name(context.target)}"
    actions = [a for a in offered(context.screen.scopes) if a.id != "app.palette"]
    chosen = await app.push_screen_wait(
        palette(actions, lambda action: app.refusal(action, context), about)
    )
    if chosen is not None:
        await app.perform(by_id(chosen), context)


async def open_goto(context: ActionContext) -> None:
    """Let the user type a path, above the status line."""
    screen = context.screen
    prompt = next(iter(screen.query(GotoPrompt)), None)
    if prompt is None:
        prompt = GotoPrompt(context.app)
        await screen.mount(prompt, before="#status")
    prompt.open()


async def choose_workspace(context: ActionContext) -> None:
    """Limit the lists to one workspace, or show all."""
    app = context.app
    state = await workspaces_feed(app.hub, app.scope).refresh()
    if state.value is None:
        why = state.error.message if state.error is not None else "there is no response yet"
        app.say(f"Workspaces could not be read: {why}", severity="error")
        return
    choices = [PickOption(_ALL, "all workspaces")] + [
        PickOption(
            space.id,
            cells.text(space.shown_name).text,
            cells.text(space.slug).text,
        )
        for space in state.value
        if space.id
    ]
    chosen = await app.push_screen_wait(
        Picker("Workspace", choices, current=app.scope.workspace or _ALL)
    )
    if chosen is not None:
        title = next(choice.title for choice in choices if choice.value == chosen)
        app.limit_to_workspace(chosen or None, title if chosen else None)


async def refresh(context: ActionContext) -> None:
    """Reload the visible data, or retry the connection."""
    if context.app.session is None:
        context.app.connection_manager.retry()
    else:
        await context.screen.reread()


async def switch_profile(context: ActionContext) -> None:
    """Switch to the profile named in the command; without a name, let the user choose one."""
    from gwtui.ui.profile_switch import ProfileSwitch  # noqa: PLC0415 - few switch

    app = context.app
    if app.targets is None:
        app.say("There are no profiles to switch to", severity="warning")
    else:
        await ProfileSwitch(app, app.targets).run(context.argument)


async def choose_theme(context: ActionContext) -> None:
    """Switch to the theme named in the command, else let the user choose one."""
    app = context.screen.app
    try:
        chosen = known_theme(context.argument) if context.argument else await _ask_theme(context)
    except ValueError as error:
        context.app.say(str(error).capitalize(), severity="warning")
        return
    if chosen is not None:
        app.theme = chosen
        usual = chosen == DEFAULT_THEME
        context.app.preference_store.remember({"theme": None if usual else chosen})


async def _ask_theme(context: ActionContext) -> str | None:
    choices = [PickOption(theme.name, TITLES[theme.name]) for theme in THEMES]
    return await context.app.push_screen_wait(
        Picker("Theme", choices, current=context.screen.app.theme)
    )


async def back(context: ActionContext) -> None:
    """Close an open pane or prompt, else return to the previous screen."""
    if not context.screen.go_back():
        await context.app.navigation.back()


async def leave(context: ActionContext) -> None:
    """Quit; ask first if something would be lost."""
    app = context.app
    loss = app.would_be_lost()
    if loss is None:
        app.exit(0)
        return
    if isinstance(app.screen, AskScreen):
        return
    answer = await app.push_screen_wait(
        AskScreen("Quit now?", loss, safe="Stay", deliberate="Quit")
    )
    if answer:
        unknown = (
            "This takes a few seconds at most. Without a response it is recorded as unresolved."
        )
        await app.await_write_in_flight(unknown, "Leave now")
        app.exit(0)


async def redraw(context: ActionContext) -> None:
    """Redraw the terminal."""
    context.app.redraw()


# First steps --------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Step:
    """A suggested step: the id of an action, its explanation, and what to type after its key."""

    action: str
    text: str
    then: str = ""

    @property
    def keys(self) -> str:
        """The key of the action and the keys to type ``then``, as text."""
        return key_of(self.action) + with_keys(self.then)


_DEMO = (
    "This is the demo: a simulated gateway on this machine, with a recorded week. "
    "It is offline and free"
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

    def __init__(self, about: str, steps: Sequence[Step]) -> None:
        super().__init__()
        self._about = about
        self._steps = steps

    @property
    def hint(self) -> str:
        keys = " ".join(key_of(step.action) for step in self._steps)
        return f"{keys} start that step · any other key closes this"

    def compose(self) -> ComposeResult:
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
        event.stop()
        named = [*(step.action for step in self._steps), _HELP]
        self.dismiss()
        if any(event.key in by_id(action).keys for action in named):
            app = cast("GwtuiApp", self.app)
            app.call_later(app.handle_input, event)

    def on_click(self) -> None:
        self.dismiss()


async def offer_first_steps(app: GwtuiApp) -> None:
    """Offer the first steps once, unless a key was pressed or the connection is read-only."""
    session = app.session
    if session is None or app.first_steps.is_dismissed or app.was_typed:
        return
    if session.connection.read_only and not _is_demo(session.connection):
        return
    if app.navigation.screen is not app.screen or not _fits(app):
        return
    await _show(app)


async def show_first_steps(context: ActionContext) -> None:
    """Show the first steps."""
    await _show(context.app)


async def _show(app: GwtuiApp) -> None:
    session = app.session
    connection = None if session is None else session.connection
    steps = [step for step in STEPS if app.hold_reason_of(by_id(step.action)) is None]
    await app.push_screen_wait(FirstStepsScreen(_about(connection), steps))
    app.first_steps.dismiss()


def _about(connection: Connection | None) -> str:
    read_only = connection is not None and connection.read_only
    if connection is not None and _is_demo(connection):
        return f"{_DEMO}." if read_only else f"{_DEMO}: change and delete what you like."
    where = "a gateway" if connection is None else safe_line(connection.host_and_port, _HOST)
    if read_only:
        return f"You are connected to {where}, read-only: gwtui changes nothing there."
    return (
        f"You are connected to {where}. gwtui shows a plan before each "
        "change and asks you to confirm it. Most changes can be undone."
    )


def _is_demo(connection: Connection) -> bool:
    return connection.token_source == "demo"  # noqa: S105 - where it comes from


def _fits(app: GwtuiApp) -> bool:
    return app.size.width >= _COLUMNS and app.size.height >= _LINES


IMMEDIATE: Mapping[str, Handler] = {
    "app.redraw": redraw,
    "app.help": show_help,
    "app.goto": open_goto,
    "app.back": back,
}

HANDLERS: Mapping[str, Handler] = {
    "app.first_steps": show_first_steps,
    "app.palette": open_palette,
    "app.workspace": choose_workspace,
    "app.refresh": refresh,
    "app.profile": switch_profile,
    "app.theme": choose_theme,
    "app.quit": leave,
}
