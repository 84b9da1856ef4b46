"""Handlers of saved views: a filter, an order and columns of a list under a name."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from gwtui.crud.action import APP, Action
from gwtui.domain.known_secrets import may_be_secret
from gwtui.domain.safe_text import safe_line
from gwtui.domain.suggestions import among
from gwtui.resources.preferences import VIEW_NAME, VIEWS, View
from gwtui.resources.registry import PARENTS, PLACES, TITLES
from gwtui.ui.actions.context import ActionContext, DashboardApp, Handler
from gwtui.ui.goto import PathNames
from gwtui.ui.screens.choose import Choice, ChooseScreen
from gwtui.ui.screens.resource import ResourceScreen
from gwtui.ui.text import in_sentence

_ENTRY = "view."
_NAME = 60
_NONE = "There is no view yet: :save-view NAME keeps the filter, order and columns of a list"


def view_actions(app: DashboardApp) -> Sequence[Action]:
    """An entry of the palette for each saved view."""
    views = app.remembering.preferences.views.values()
    return [
        Action(f"{_ENTRY}{view.name}", f"View {view.name}", safe_line(view.summary, 80), APP)
        for view in views
    ]


def viewed_by(action_id: str) -> str | None:
    """The view that an entry of the palette stands for; None for every other action."""
    return action_id.removeprefix(_ENTRY) if action_id.startswith(_ENTRY) else None


async def show_view(context: ActionContext) -> None:
    """Go to the list of a view and show it so."""
    view = await _chosen(context, "View")
    if view is None:
        return
    app, screen = context.app, context.screen
    if screen.resource != view.list and view.list in PLACES:
        await app.navigation.show_tab(view.list)
        screen = app.navigation.screen or screen
    if isinstance(screen, ResourceScreen) and screen.resource == view.list:
        await screen.viewing.show(view)
    else:
        opener = in_sentence(TITLES[PARENTS[view.list]])
        named = in_sentence(TITLES[view.list])
        app.say(f"View {view.name} is of {named}: open one of {opener} first", severity="warning")


async def save_view(context: ActionContext) -> None:
    """Keep how the list is looked at now; without a name, ask for one."""
    app, screen, name = context.app, context.screen, context.argument
    if not isinstance(screen, ResourceScreen):
        app.say(f"{screen.heading} is no list: it has no views", severity="warning")
    elif not name:
        prompt = await screen.path_prompt()
        prompt.offer(PathNames(app).complete, app.paths.paths)
        prompt.open()
        prompt.input.begin_with("save-view ")
    elif not VIEW_NAME.fullmatch(name):
        app.say(
            f"“{safe_line(name, _NAME)}” cannot be the name of a view: letters, digits, - and _",
            severity="warning",
        )
    elif may_be_secret((view := screen.viewing.in_force(name)).filter):
        app.say("The filter may hold a key: it is not written to a file", severity="warning")
    else:
        known = name in app.remembering.preferences.views
        app.remembering.remember({(VIEWS, name): None})
        app.remembering.remember(view.settings)
        await screen.viewing.show(view)
        app.say(f"View {name} is {'replaced' if known else 'saved'}: {view.summary}")


async def delete_view(context: ActionContext) -> None:
    """Forget one; what is shown stays as it is."""
    view = await _chosen(context, "Delete view")
    if view is not None:
        context.app.remembering.remember({(VIEWS, view.name): None})
        context.app.say(f"View {view.name} is deleted")


async def _chosen(context: ActionContext, title: str) -> View | None:
    """The view that is named, else the one that a person chooses."""
    app, name = context.app, context.argument
    views = app.remembering.preferences.views
    if name and name not in views:
        called = safe_line(name, _NAME)
        app.say(f"There is no view “{called}”{among(name, views)}", severity="warning")
        return None
    if not views:
        app.say(_NONE, severity="warning")
        return None
    if not name:
        choices = [Choice(one.name, one.name, safe_line(one.summary, 80)) for one in views.values()]
        chosen = await app.push_screen_wait(ChooseScreen(title, choices, current=None))
        name = chosen or ""
    return views.get(name)


HANDLERS: Mapping[str, Handler] = {
    "app.view": show_view,
    "app.save_view": save_view,
    "app.delete_view": delete_view,
}
