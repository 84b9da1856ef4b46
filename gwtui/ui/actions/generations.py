"""Handlers of the screen that looks generations up."""

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


async def show_content(context: ActionContext[Generation]) -> None:
    """Read what it read and wrote, and show it as text."""
    from gwtui.client.errors import GatewayError, NotFoundError  # noqa: PLC0415
    from gwtui.resources.generations.resource import shown_name  # noqa: PLC0415
    from gwtui.ui.screens.generation import content_lines  # noqa: PLC0415
    from gwtui.ui.screens.reading import ReadingScreen  # noqa: PLC0415

    app, one = context.app, context.target
    if not one.id:
        app.say("The gateway gave this generation no id", severity="warning")
        return
    try:
        content = await app.gateway.generations.content(one.id)
    except NotFoundError:
        app.say("Nothing is kept of it: its workspace does not log inputs and outputs")
    except GatewayError as error:
        app.say(f"The content could not be read: {error.message}", severity="error")
    else:
        if app.screen is context.screen:
            screen = ReadingScreen(shown_name(one), lambda width: content_lines(content, width))
            await app.push_screen(screen)


IMMEDIATE: Mapping[str, Handler] = {
    "generation.lookup": look_up,
    "generation.model": go_to_model,
}

PATIENT: Mapping[str, Handler] = {"generation.content": show_content}
