"""Handler of screenshots: what a screen shows, as SVG or text, to a file or the clipboard."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any, cast

from gwtui.local.exported_file import default_name
from gwtui.resources.actions import by_id
from gwtui.ui.actions.context import ActionContext, Handler
from gwtui.ui.actions.output import from_menu, to_clipboard, to_file
from gwtui.ui.picture import SecretInSightError, picture_of
from gwtui.ui.screens.menu import MenuEntry

if TYPE_CHECKING:
    from textual.screen import Screen

    from gwtui.crud.action import Action

_PICTURES = (
    MenuEntry("svg", "s", "SVG to a file", "in its colours, for a browser"),
    MenuEntry("txt", "t", "text to a file", "lines without colours"),
    MenuEntry("clipboard", "c", "text to clipboard", "lines without colours"),
)


async def screenshot(context: ActionContext) -> None:
    """Keep what is shown, a dialog, too; none with a secret in sight, such as a new key."""
    app, screen = context.app, context.screen
    top, moment = app.screen, app.clock.now()
    dialog = top is not screen
    heading = f"a dialog on {screen.heading}" if dialog else screen.heading
    try:
        picture = await picture_of(cast("Screen[Any]", top))
    except SecretInSightError as error:
        what = "dialog" if dialog else "screen"
        app.say(f"There is no picture of this {what}: {error}", severity="warning")
        return
    taken = await from_menu(context, f"Screenshot · {heading}", _PICTURES)
    if taken is None:
        return
    what = f"Screenshot of {heading}"
    text = picture.svg(f"gwtui · {heading}") if taken == "svg" else picture.text()
    if taken == "clipboard":
        await to_clipboard(context, what, text)
    else:
        name = default_name(
            f"{screen.resource}-dialog" if dialog else screen.resource, moment, taken
        )
        await to_file(
            context, f"Write the {what[:1].lower()}{what[1:]} to a file", what, name, text
        )


def screenshot_actions() -> list[Action]:
    """An entry of the palette for each kind of picture; which it is stands behind its id."""
    keeps = by_id("app.screenshot")
    return [
        replace(keeps, id=f"{keeps.id} {one.id}", title=f"Screenshot, {one.title}", words=())
        for one in _PICTURES
    ]


HANDLERS: Mapping[str, Handler] = {
    "app.screenshot": screenshot,
}
