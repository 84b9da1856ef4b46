"""Handlers of the screens that show one object."""

from __future__ import annotations

from collections.abc import Mapping

from gwtui.contract.response import ResponseModel
from gwtui.ui.actions.context import ActionContext, Handler
from gwtui.ui.raw_json import raw_lines
from gwtui.ui.screens.reading import ReadingScreen


async def show_raw(context: ActionContext) -> None:
    """Show the object as the gateway sent it."""
    item = context.target
    if isinstance(item, ResponseModel):
        lines = raw_lines(item.raw, item)
        title = f"Raw JSON · {context.screen.heading}"
        await context.app.push_screen(ReadingScreen(title, lambda _width: lines))


IMMEDIATE: Mapping[str, Handler] = {"figures.raw": show_raw}
