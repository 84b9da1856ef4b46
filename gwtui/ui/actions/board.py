"""Actions on the board and the list of changes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from gwtui.ui.actions.context import ActionContext, Handler, on_screen
from gwtui.ui.screens.board import BoardScreen, recorder_of, watch_model
from gwtui.ui.screens.changes import ChangesScreen
from gwtui.ui.widgets.prompt import Prompt
from gwtui.watch.feeds.models import models_feed

if TYPE_CHECKING:
    from gwtui.contract.models import Model
    from gwtui.ui.board.endpoints import EndpointLine


def _board(context: ActionContext) -> BoardScreen | None:
    return context.screen if isinstance(context.screen, BoardScreen) else None


async def _type_model(context: ActionContext) -> None:
    board = _board(context)
    if board is None or recorder_of(context.app) is None:
        return
    prompt = board.query_one("#board-watch", Prompt)
    prompt.open()
    state = await models_feed(context.app.hub, context.app.scope).refresh()
    prompt.offer(model.id for model in state.value or () if model.id)


async def _open_endpoint(context: ActionContext[EndpointLine]) -> None:
    line = context.target
    await context.app.open_route(f"models/{line.model}")
    screen = context.app.navigation.screen
    if line.row is not None and screen is not None:
        screen.show_row(line.row.identity)


async def _unwatch_selected(context: ActionContext[EndpointLine]) -> None:
    await watch_model(context.app, context.target.model, watched=False)
    if (board := _board(context)) is not None:
        board.ask()


async def _toggle_watch(context: ActionContext[Model]) -> None:
    model = context.target.id
    recorder = recorder_of(context.app)
    if model is None or recorder is None:
        return
    watched = await recorder.archive.read(lambda reader: reader.watched_models())
    await watch_model(context.app, model, watched=model not in watched)


IMMEDIATE: Mapping[str, Handler] = {
    "board.page": on_screen(BoardScreen, lambda board: board.next_page()),
    "board.zoom_in": on_screen(BoardScreen, lambda board: board.zoom(-1)),
    "board.zoom_out": on_screen(BoardScreen, lambda board: board.zoom(1)),
    "board.earlier": on_screen(BoardScreen, lambda board: board.step(-1)),
    "board.later": on_screen(BoardScreen, lambda board: board.step(1)),
    "board.leap_back": on_screen(BoardScreen, lambda board: board.step(-1, leap=True)),
    "board.leap_forward": on_screen(BoardScreen, lambda board: board.step(1, leap=True)),
    "board.live": on_screen(BoardScreen, lambda board: board.show_moment(None)),
    "board.jump": on_screen(
        BoardScreen, lambda board: board.query_one("#board-jump", Prompt).open()
    ),
    "board.measure": on_screen(BoardScreen, lambda board: board.next_measure()),
    "board.order": on_screen(BoardScreen, lambda board: board.next_order()),
    "board.open": _open_endpoint,
    "changes.between": on_screen(ChangesScreen, lambda screen: screen.open_between()),
}

HANDLERS: Mapping[str, Handler] = {
    "board.watch": _type_model,
    "board.unwatch": _unwatch_selected,
    "models.watch": _toggle_watch,
}
