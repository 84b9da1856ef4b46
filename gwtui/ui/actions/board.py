"""Actions of the board and of its changes, and those that lead to them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from gwtui.domain.safe_text import safe_line
from gwtui.ui.actions.context import ActionContext, DashboardApp, Handler
from gwtui.ui.board.sources import Replay
from gwtui.ui.board.status_lines import request_lines
from gwtui.ui.screens.board import BoardScreen
from gwtui.ui.screens.changes import ChangesScreen
from gwtui.ui.screens.pages import ReadingScreen
from gwtui.ui.widgets.prompt import JumpPrompt, WatchPrompt
from gwtui.watch.feeds.models import models_feed
from gwtui.watch.history.model import HistoryError

if TYPE_CHECKING:
    from gwtui.contract.models import Model
    from gwtui.ui.board.endpoints import EndpointLine
    from gwtui.watch.history.recorder import Recorder


def _board(context: ActionContext) -> BoardScreen | None:
    """The board, where it is what was shown at the key press."""
    return context.screen if isinstance(context.screen, BoardScreen) else None


def _on_board(act: Callable[[BoardScreen], object]) -> Handler:
    async def handle(context: ActionContext) -> None:
        if (board := _board(context)) is not None:
            act(board)

    return handle


async def _order(context: ActionContext) -> None:
    if (board := _board(context)) is not None:
        context.app.say(f"Endpoints {board.endpoints.next_order()}")


def _live(board: BoardScreen) -> None:
    board.show_replay(Replay())


def _jump(board: BoardScreen) -> None:
    board.open_prompt(JumpPrompt)


async def _type_model(context: ActionContext) -> None:
    """Let the person type a model, completed from the catalog once that was read."""
    board = _board(context)
    if board is None or _recorder(context.app) is None:
        return
    board.open_prompt(WatchPrompt)
    state = await models_feed(context.app.hub, context.app.scope).refresh()
    board.query_one(WatchPrompt).offer(model.id for model in state.value or () if model.id)


async def _open_endpoint(context: ActionContext[EndpointLine]) -> None:
    """Every figure of the selected endpoint, in the list of its model."""
    line = context.target
    await context.app.open_route(f"models/{line.model}")
    screen = context.app.navigation.screen
    if line.row is not None and screen is not None:
        screen.want(line.row.identity)


async def _unwatch_selected(context: ActionContext[EndpointLine]) -> None:
    await unwatch_model(context.app, context.target.model)
    if (board := _board(context)) is not None:
        board.ask()


async def _toggle_watch(context: ActionContext[Model]) -> None:
    """Put the selected model of the list on the board, or take it off."""
    model = context.target.id
    recorder = _recorder(context.app)
    if model is None or recorder is None:
        return
    watched = await recorder.archive.read(lambda reader: reader.watched_models())
    await (unwatch_model if model in watched else watch_model)(context.app, model)


async def watch_model(app: DashboardApp, model: str) -> None:
    """Record a model's endpoints from now on, and say so."""
    recorder = _recorder(app)
    if recorder is None:
        return
    try:
        await recorder.watch(model)
    except (ValueError, HistoryError) as error:
        app.say(f"Not watched: {error}", severity="warning")
    else:
        app.say(f"{safe_line(model, 80)} is on the board now (0)")


async def unwatch_model(app: DashboardApp, model: str) -> None:
    """Record a model's endpoints no more, and say so."""
    recorder = _recorder(app)
    if recorder is None:
        return
    try:
        await recorder.unwatch(model)
    except HistoryError as error:
        app.say(f"Still watched: {error}", severity="warning")
    else:
        app.say(f"{safe_line(model, 80)} is off the board; what was recorded of it stays")


def _recorder(app: DashboardApp) -> Recorder | None:
    """Who keeps the list of watched models; says why when there is nobody."""
    history = None if app.session is None else app.session.history
    if history is None or history.recorder is None:
        why = history.problem if history is not None else "there is no connection yet"
        app.say(f"No model can be watched: {why or 'the history is not open'}", severity="warning")
        return None
    return history.recorder


async def _changes(context: ActionContext) -> None:
    await context.app.open_route("changes")


def _on_changes(act: Callable[[ChangesScreen], object]) -> Handler:
    async def handle(context: ActionContext) -> None:
        if isinstance(context.screen, ChangesScreen):
            act(context.screen)

    return handle


async def _requests(context: ActionContext) -> None:
    """What goes out to the gateway, and why."""
    session = context.app.session
    if session is None:
        context.app.say("There is no connection yet", severity="warning")
        return
    lines = request_lines(session)
    await context.app.push_screen(ReadingScreen("Requests", lambda _width: lines))


IMMEDIATE: Mapping[str, Handler] = {
    "board.page": _on_board(lambda board: board.next_page()),
    "board.zoom_in": _on_board(lambda board: board.zoom(-1)),
    "board.zoom_out": _on_board(lambda board: board.zoom(1)),
    "board.earlier": _on_board(lambda board: board.step(-1)),
    "board.later": _on_board(lambda board: board.step(1)),
    "board.leap_back": _on_board(lambda board: board.step(-1, leap=True)),
    "board.leap_forward": _on_board(lambda board: board.step(1, leap=True)),
    "board.live": _on_board(_live),
    "board.jump": _on_board(_jump),
    "board.measure": _on_board(lambda board: board.next_measure()),
    "board.zone": _on_board(lambda board: board.switch_zone()),
    "board.order": _order,
    "board.changes": _changes,
    "board.open": _open_endpoint,
    "changes.between": _on_changes(lambda screen: screen.open_between()),
    "changes.each": _on_changes(lambda screen: screen.switch_each()),
    "app.requests": _requests,
}

PATIENT: Mapping[str, Handler] = {
    "board.watch": _type_model,
    "board.unwatch": _unwatch_selected,
    "models.watch": _toggle_watch,
}
