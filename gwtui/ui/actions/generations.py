"""Actions on a generation: looking one up by its id, reading its content."""

from __future__ import annotations

from collections.abc import Mapping

from gwtui.client.errors import NotFoundError
from gwtui.contract.usage import Generation
from gwtui.resources.generations import shown_name
from gwtui.ui.actions.context import ActionContext, Handler, on_screen
from gwtui.ui.screens.generation import GenerationScreen, content_lines
from gwtui.ui.screens.pages import ReadingScreen


async def show_content(context: ActionContext[Generation]) -> None:
    """Read what it read and wrote, and show it as text."""
    app, one = context.app, context.target
    if not one.id:
        app.say("The gateway gave this generation no id", severity="warning")
        return
    try:
        content = await app.gateway.generations.content(one.id)
    except NotFoundError:
        app.say("Nothing is kept of it: its workspace does not log inputs and outputs")
        return
    if app.screen is context.screen:
        screen = ReadingScreen(shown_name(one), lambda width: content_lines(content, width))
        await app.push_screen(screen)


IMMEDIATE: Mapping[str, Handler] = {
    "generation.lookup": on_screen(GenerationScreen, lambda screen: screen.ask())
}
PATIENT: Mapping[str, Handler] = {"generation.content": show_content}
