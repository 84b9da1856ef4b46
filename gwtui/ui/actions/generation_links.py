"""Ways from a generation to another one and to its model."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from gwtui.ui.actions.context import ActionContext, Handler

if TYPE_CHECKING:
    from gwtui.contract.activity import Generation


async def look_up(context: ActionContext) -> None:
    """Let the person type the id of a generation."""
    from gwtui.ui.screens.generation import GenerationScreen  # noqa: PLC0415 - loaded when shown

    if isinstance(context.screen, GenerationScreen):
        context.screen.ask()


async def go_to_model(context: ActionContext[Generation]) -> None:
    """Show the endpoints of the generation's model."""
    model = context.target.model
    if model:
        await context.app.open_route(f"models/{model}")
    else:
        context.app.say("The gateway did not say which model it was", severity="warning")


IMMEDIATE: Mapping[str, Handler] = {
    "generation.lookup": look_up,
    "generation.model": go_to_model,
}
