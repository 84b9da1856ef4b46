"""Actions on activity, credits and generations."""

from __future__ import annotations

from collections.abc import Mapping

from gwtui.client.errors import NotFoundError
from gwtui.contract.usage import Generation
from gwtui.resources.activity import OTHERS, RankedGroup
from gwtui.resources.generations import shown_name
from gwtui.resources.keys.resource import KEYS
from gwtui.resources.organization import ORGANIZATION
from gwtui.ui.actions.context import ActionContext, Handler, on_screen
from gwtui.ui.screens.activity import ActivityScreen
from gwtui.ui.screens.credits import CreditsScreen
from gwtui.ui.screens.objects import GenerationScreen, content_lines
from gwtui.ui.screens.pages import ReadingScreen


async def open_ranked(context: ActionContext) -> None:
    """Go to the selected model, provider, workspace or key."""
    screen, one = context.screen, context.target
    if not isinstance(screen, ActivityScreen) or not isinstance(one, RankedGroup):
        return
    if one.identity in {"", OTHERS}:
        context.app.say("This row has no details")
        return
    navigation = context.app.navigation
    match screen.grouping:
        case "model":
            await context.app.open_route(f"models/{one.identity}")
        case "provider":
            await context.app.open_route("providers")
        case "workspace":
            await context.app.open_route(f"workspaces/{one.identity}")
        case "key":
            await navigation.open_child(KEYS, one.identity, "activity", name=one.name)
        case "user":
            await navigation.open_child(ORGANIZATION, one.identity, "activity", name=one.name)


async def show_content(context: ActionContext[Generation]) -> None:
    """Read the prompt and the answer of the generation, and show both as text."""
    app, one = context.app, context.target
    if not one.id:
        app.say("This generation has no id", severity="warning")
        return
    try:
        content = await app.gateway.generations.content(one.id)
    except NotFoundError:
        app.say("No content: the workspace does not log inputs and outputs")
        return
    if app.screen is context.screen:
        screen = ReadingScreen(shown_name(one), lambda width: content_lines(content, width))
        await app.push_screen(screen)


IMMEDIATE: Mapping[str, Handler] = {
    "activity.group": on_screen(ActivityScreen, lambda screen: screen.next_grouping()),
    "activity.keys": on_screen(ActivityScreen, lambda screen: screen.rank_by_key()),
    "activity.days": on_screen(ActivityScreen, lambda screen: screen.open_days()),
    "activity.before": on_screen(ActivityScreen, lambda screen: screen.step_day(-1)),
    "activity.after": on_screen(ActivityScreen, lambda screen: screen.step_day(1)),
    "credits.window": on_screen(CreditsScreen, lambda screen: screen.next_window()),
    "activity.measure": on_screen(ActivityScreen, lambda screen: screen.next_measure()),
    "activity.open": open_ranked,
    "generation.lookup": on_screen(GenerationScreen, lambda screen: screen.ask()),
}
HANDLERS: Mapping[str, Handler] = {"generation.content": show_content}
