"""Actions on a generation: looking one up by its id, reading its content."""

from __future__ import annotations

from collections.abc import Mapping

from gwtui.client.errors import GatewayError, NotFoundError
from gwtui.contract.usage import Generation
from gwtui.resources.generations import shown_name
from gwtui.ui.actions.context import ActionContext, Handler
from gwtui.ui.screens.generation import GenerationScreen, content_lines
from gwtui.ui.screens.pages import ReadingScreen


async def look_up(context: ActionContext) -> None:
    """Let the person type the id of a generation."""
    if isinstance(context.screen, GenerationScreen):
        context.screen.ask()


async def show_content(context: ActionContext[Generation]) -> None:
    """Read what it read and wrote, and show it as text."""
    app, one = context.app, context.target
    identity = _id(context)
    if not identity:
        return
    try:
        content = await app.gateway.generations.content(identity)
    except NotFoundError:
        app.say("Nothing is kept of it: its workspace does not log inputs and outputs")
    except GatewayError as error:
        app.say(f"The content could not be read: {error.message}", severity="error")
    else:
        if app.screen is context.screen:
            screen = ReadingScreen(shown_name(one), lambda width: content_lines(content, width))
            await app.push_screen(screen)


def _id(context: ActionContext[Generation]) -> str | None:
    """The id of the generation that is shown; says so when it has none."""
    identity = context.target.id
    if not identity:
        context.app.say("The gateway gave this generation no id", severity="warning")
    return identity


IMMEDIATE: Mapping[str, Handler] = {"generation.lookup": look_up}
PATIENT: Mapping[str, Handler] = {"generation.content": show_content}
