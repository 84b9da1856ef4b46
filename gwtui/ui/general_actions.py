"""Handlers of the frame's own actions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from textual.content import Content

from gwtui.ui.commands import by_id, offered, tab_actions, tab_of
from gwtui.ui.context import ActionContext, Handler
from gwtui.ui.help_lines import help_lines
from gwtui.ui.palette import PaletteScreen
from gwtui.ui.raw_json import raw_lines
from gwtui.ui.screens.ask import AskScreen
from gwtui.ui.screens.choose import Choice, ChooseScreen
from gwtui.ui.screens.reading import ReadingScreen
from gwtui.ui.screens.resource import ResourceScreen
from gwtui.ui.themes import THEMES, TITLES
from gwtui.ui.widgets.prompt import GotoPrompt

_ALL = ""
"""The choice that stands for every workspace."""


async def show_help(context: ActionContext) -> None:
    """List every action of the screen."""
    actions = offered(context.screen.scopes)
    read_only = context.app.read_only

    def lines(width: int) -> Sequence[Content]:
        return help_lines(actions, context.spec, width, read_only=read_only)

    await context.app.push_screen(ReadingScreen(f"Help · {context.screen.heading}", lines))


async def open_palette(context: ActionContext) -> None:
    """Choose an action by name and run it on what was selected when the palette was opened."""
    app = context.app
    about = "Commands"
    if context.target is not None and context.spec is not None:
        about = f"Commands · {context.spec.singular} {context.spec.name(context.target)}"
    actions = [a for a in offered(context.screen.scopes) if a.id != "app.palette"]
    chosen = await app.push_screen_wait(
        PaletteScreen(actions, lambda action: app.refusal(action, context), about)
    )
    if chosen is not None:
        await app.perform(by_id(chosen), context)


async def open_goto(context: ActionContext) -> None:
    """Let the person type a path."""
    prompt = context.screen.query_one(GotoPrompt)
    routes = [tab for action in tab_actions() if (tab := tab_of(action)) is not None]
    if isinstance(context.screen, ResourceScreen):
        table = context.screen.table
        routes += [f"{context.screen.tab}/{identity}" for identity in table.identities]
    prompt.offer(routes)
    prompt.open()


async def choose_workspace(context: ActionContext) -> None:
    """Narrow the lists to one workspace, or to none."""
    from gwtui.ui.resources import cells  # noqa: PLC0415
    from gwtui.ui.resources.workspaces import workspaces_feed  # noqa: PLC0415

    app = context.app
    if app.session is None:
        app.say("There is no connection yet", severity="warning")
        return
    state = await workspaces_feed(app.hub, app.scope).refresh()
    if state.value is None:
        why = state.error.message if state.error is not None else "there is no answer yet"
        app.say(f"Workspaces could not be read: {why}", severity="error")
        return
    choices = [Choice(_ALL, "all workspaces")] + [
        Choice(
            space.id,
            cells.text(space.name or space.slug or space.id).text,
            cells.text(space.slug).text,
        )
        for space in state.value
        if space.id
    ]
    chosen = await app.push_screen_wait(
        ChooseScreen("Workspace", choices, current=app.scope.workspace or _ALL)
    )
    if chosen is not None:
        title = next(choice.title for choice in choices if choice.id == chosen)
        app.narrow(chosen or None, title if chosen else None)


async def refresh(context: ActionContext) -> None:
    """Read what is shown again, or try to connect."""
    if context.app.session is None:
        context.app.reconnect()
    else:
        await context.screen.reread()


async def choose_theme(context: ActionContext) -> None:
    """Choose colours."""
    choices = [Choice(theme.name, TITLES[theme.name]) for theme in THEMES]
    chosen = await context.app.push_screen_wait(
        ChooseScreen("Theme", choices, current=context.app.theme)
    )
    if chosen is not None:
        context.app.theme = chosen


async def back(context: ActionContext) -> None:
    """Close what is open on the screen, else return to the one before."""
    if not context.screen.go_back():
        await context.app.navigation.back()


async def leave(context: ActionContext) -> None:
    """Quit; ask first when something would be lost."""
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
        app.exit(0)


async def open_row(context: ActionContext) -> None:
    """Open the list behind the row, else its detail."""
    spec = context.spec
    if spec is not None and spec.opens is not None and context.identity is not None:
        await context.app.navigation.open_child(spec, context.identity)
    elif isinstance(context.screen, ResourceScreen):
        context.screen.open_detail()


async def open_filter(context: ActionContext) -> None:
    """Let the person type a filter."""
    if isinstance(context.screen, ResourceScreen):
        context.screen.open_filter()


async def choose_sort(context: ActionContext) -> None:
    """Choose a column; the present one turns around."""
    screen, spec = context.screen, context.spec
    if not isinstance(screen, ResourceScreen) or spec is None:
        return
    column, descending = screen.table.sorting
    sign = "▼" if descending else "▲"
    choices = [
        Choice(c.id, f"{c.title} {sign}" if c.id == column else c.title, c.help)
        for c in spec.columns
    ]
    chosen = await context.app.push_screen_wait(
        ChooseScreen(f"Sort {spec.title.lower()} by", choices, current=column)
    )
    if chosen is None:
        return
    if chosen == column:
        screen.sort(column, descending=not descending)
    else:
        # Figures are read from the largest down, names from the first on.
        figures = next(c.right for c in spec.columns if c.id == chosen)
        screen.sort(chosen, descending=figures)


async def sort_left(context: ActionContext) -> None:
    """Sort by the column to the left."""
    _sort_beside(context, -1)


async def sort_right(context: ActionContext) -> None:
    """Sort by the column to the right."""
    _sort_beside(context, 1)


def _sort_beside(context: ActionContext, step: int) -> None:
    screen, spec = context.screen, context.spec
    if isinstance(screen, ResourceScreen) and spec is not None:
        ids = [column.id for column in spec.columns]
        column, descending = screen.table.sorting
        place = ids.index(column) if column in ids else -step
        screen.sort(ids[(place + step) % len(ids)], descending=descending)


async def reverse(context: ActionContext) -> None:
    """Turn the order around."""
    if isinstance(context.screen, ResourceScreen):
        column, descending = context.screen.table.sorting
        context.screen.sort(column, descending=not descending)


async def toggle_detail(context: ActionContext) -> None:
    """Show or hide the detail pane."""
    if isinstance(context.screen, ResourceScreen):
        context.screen.toggle_detail()


async def show_raw(context: ActionContext) -> None:
    """Show the row as the gateway sent it."""
    if context.spec is not None:
        lines = raw_lines(context.spec.raw(context.target), context.target)
        title = f"Raw JSON · {context.spec.singular} {context.spec.name(context.target)}"
        await context.app.push_screen(ReadingScreen(title, lambda _width: lines))


async def copy_identity(context: ActionContext) -> None:
    """Copy the identity by the route that works, and name the route."""
    from gwtui.ui.clipboard import copy_text  # noqa: PLC0415

    if context.identity is not None:
        copied = await copy_text(context.app, context.identity)
        context.app.say(copied.sentence, severity="information" if copied.ok else "warning")


async def mark(context: ActionContext) -> None:
    """Mark the selected row, or take the mark away."""
    if isinstance(context.screen, ResourceScreen):
        context.screen.table.action_toggle_mark()


IMMEDIATE: Mapping[str, Handler] = {
    "app.help": show_help,
    "app.goto": open_goto,
    "app.back": back,
    "list.open": open_row,
    "list.filter": open_filter,
    "list.sort_left": sort_left,
    "list.sort_right": sort_right,
    "list.reverse": reverse,
    "list.detail": toggle_detail,
    "list.raw": show_raw,
    "list.mark": mark,
}

PATIENT: Mapping[str, Handler] = {
    "app.palette": open_palette,
    "app.workspace": choose_workspace,
    "app.refresh": refresh,
    "app.theme": choose_theme,
    "app.quit": leave,
    "list.sort": choose_sort,
    "list.copy": copy_identity,
}
