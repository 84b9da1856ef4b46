"""Handlers of the screens that show one object, such as a generation: none waits for anybody."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, cast

from gwtui.contract.response import ResponseModel
from gwtui.ui.actions.context import ActionContext, Handler
from gwtui.ui.raw_json import raw_lines
from gwtui.ui.screens.reading import ReadingScreen

if TYPE_CHECKING:
    from gwtui.contract.activity import Generation


async def show_raw(context: ActionContext) -> None:
    """Show the object as the gateway sent it."""
    item = context.target
    if isinstance(item, ResponseModel):
        lines = raw_lines(item.raw, item)
        title = f"Raw JSON · {context.screen.heading}"
        await context.app.push_screen(ReadingScreen(title, lambda _width: lines))


async def look_up_generation(context: ActionContext) -> None:
    """Let the person type the id of a generation."""
    from gwtui.ui.screens.generation import GenerationScreen  # noqa: PLC0415 - screens name actions

    if isinstance(context.screen, GenerationScreen):
        context.screen.ask()


async def go_to_model(context: ActionContext) -> None:
    """Show the endpoints of the generation's model."""
    model = cast("Generation", context.target).model
    if model:
        await context.app.open_route(f"models/{model}")
    else:
        context.app.say("The gateway did not say which model it was", severity="warning")


IMMEDIATE: Mapping[str, Handler] = {
    "figures.raw": show_raw,
    "generation.lookup": look_up_generation,
    "generation.model": go_to_model,
}
