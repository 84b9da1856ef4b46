"""Actions available on every screen, such as help, palette, profile, theme and quit."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from textual.content import Content

from gwtui.crud import cells
from gwtui.crud.fields import PickOption
from gwtui.resources.actions import by_id
from gwtui.ui.actions.context import ActionContext, Handler
from gwtui.ui.commands import offered
from gwtui.ui.goto import GotoPrompt
from gwtui.ui.screens.dialogs import AskScreen
from gwtui.ui.screens.pages import SearchPage, help_lines, palette
from gwtui.ui.screens.picker import Picker
from gwtui.ui.themes import DEFAULT_THEME, THEMES, TITLES, known_theme
from gwtui.watch.feeds.workspaces import workspaces_feed

_ALL = ""
"""The choice "all workspaces"."""


async def show_help(context: ActionContext) -> None:
    """List every action of the screen."""
    actions = offered(context.screen.scopes)

    def page(width: int, search_text: str) -> Sequence[Content]:
        return help_lines(actions, context.spec, width, context.app.holds_back, search_text)

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
    """Let the person type a path, above the status line."""
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
        app.narrow(chosen or None, title if chosen else None)


async def refresh(context: ActionContext) -> None:
    """Reload the visible data, or retry the connection."""
    if context.app.session is None:
        context.app.reconnect()
    else:
        await context.screen.reread()


async def switch_profile(context: ActionContext) -> None:
    """Switch to the profile named in the command, else let the person choose one."""
    from gwtui.ui.profile_switch import ProfileSwitch  # noqa: PLC0415 - few switch

    app = context.app
    if app.targets is None:
        app.say("There are no profiles to switch to", severity="warning")
    else:
        await ProfileSwitch(app, app.targets).run(context.argument)


async def choose_theme(context: ActionContext) -> None:
    """Switch to the theme named in the command, else let the person choose one."""
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
        await app.last_answer(unknown, "Leave now")
        app.exit(0)


async def redraw(context: ActionContext) -> None:
    """Redraw the terminal."""
    context.app.redraw()


IMMEDIATE: Mapping[str, Handler] = {
    "app.redraw": redraw,
    "app.help": show_help,
    "app.goto": open_goto,
    "app.back": back,
}

HANDLERS: Mapping[str, Handler] = {
    "app.palette": open_palette,
    "app.workspace": choose_workspace,
    "app.refresh": refresh,
    "app.profile": switch_profile,
    "app.theme": choose_theme,
    "app.quit": leave,
}
