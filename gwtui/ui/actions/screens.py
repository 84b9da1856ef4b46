"""Actions on the board, activity, credits and generations."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from gwtui.client.errors import NotFoundError
from gwtui.contract.usage import Generation
from gwtui.resources.activity import OTHERS, RankedGroup
from gwtui.resources.generations import shown_name
from gwtui.resources.keys.resource import KEYS
from gwtui.resources.organization import ORGANIZATION
from gwtui.ui.actions.context import ActionContext, Handler, on_screen
from gwtui.ui.screens.activity import ActivityScreen
from gwtui.ui.screens.board import BoardScreen, recorder_of, watch_model
from gwtui.ui.screens.credits import CreditsScreen
from gwtui.ui.screens.objects import GenerationScreen, content_lines
from gwtui.ui.screens.pages import ReadingScreen
from gwtui.ui.widgets.prompt import Prompt

if TYPE_CHECKING:
    from gwtui.contract.models import Model
    from gwtui.ui.screens.board_endpoints import EndpointLine


def _board(context: ActionContext) -> BoardScreen | None:
    return context.screen if isinstance(context.screen, BoardScreen) else None


async def _open_endpoint(context: ActionContext[EndpointLine]) -> None:
    line = context.target
    await context.app.open_route(f"models/{line.model}")
    screen = context.app.navigation.screen
    if line.row is not None and screen is not None:
        screen.show_row(line.row.identity)


async def _unwatch_selected(context: ActionContext[EndpointLine]) -> None:
    await watch_model(context.app, context.target.model, watched=False)
    if (board := _board(context)) is not None:
        board.query_history()


async def _toggle_watch(context: ActionContext[Model]) -> None:
    model = context.target.id
    recorder = recorder_of(context.app)
    if model is None or recorder is None:
        return
    watched = await recorder.archive.read(lambda reader: reader.watched_models())
    await watch_model(context.app, model, watched=model not in watched)


# Activity and generations -------------------------------------------------------------------------


async def open_ranked(context: ActionContext) -> None:
    """Go to the selected model, provider, workspace or key."""
    screen, group = context.screen, context.target
    if not isinstance(screen, ActivityScreen) or not isinstance(group, RankedGroup):
        return
    if group.identity in {"", OTHERS}:
        context.app.say("This row has no details")
        return
    navigation = context.app.navigation
    match screen.grouping:
        case "model":
            await context.app.open_route(f"models/{group.identity}")
        case "provider":
            await context.app.open_route("providers")
        case "workspace":
            await context.app.open_route(f"workspaces/{group.identity}")
        case "key":
            await navigation.open_child(KEYS, group.identity, "activity", name=group.name)
        case "user":
            await navigation.open_child(ORGANIZATION, group.identity, "activity", name=group.name)


async def show_content(context: ActionContext[Generation]) -> None:
    """Read the prompt and the answer of the generation, and show both as text."""
    app, generation = context.app, context.target
    if not generation.id:
        app.say("This generation has no id", severity="warning")
        return
    try:
        content = await app.gateway.generations.content(generation.id)
    except NotFoundError:
        app.say("No content: the workspace does not log inputs and outputs")
        return
    if app.screen is context.screen:
        screen = ReadingScreen(shown_name(generation), lambda width: content_lines(content, width))
        await app.push_screen(screen)


IMMEDIATE: Mapping[str, Handler] = {
    "board.page": on_screen(BoardScreen, lambda board: board.next_page()),
    "board.zoom_in": on_screen(BoardScreen, lambda board: board.zoom(-1)),
    "board.zoom_out": on_screen(BoardScreen, lambda board: board.zoom(1)),
    "board.earlier": on_screen(BoardScreen, lambda board: board.step(-1)),
    "board.later": on_screen(BoardScreen, lambda board: board.step(1)),
    "board.live": on_screen(BoardScreen, lambda board: board.show_moment(None)),
    "board.jump": on_screen(
        BoardScreen, lambda board: board.query_one("#board-jump", Prompt).open()
    ),
    "board.measure": on_screen(BoardScreen, lambda board: board.next_measure()),
    "board.order": on_screen(BoardScreen, lambda board: board.switch_order()),
    "board.open": _open_endpoint,
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
HANDLERS: Mapping[str, Handler] = {
    "board.unwatch": _unwatch_selected,
    "models.watch": _toggle_watch,
    "generation.content": show_content,
}
