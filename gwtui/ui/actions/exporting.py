"""Handlers of export: the list in view as CSV or JSON, the screen as a picture or as text."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from gwtui.crud.export import ExportForm, exported, exported_figures
from gwtui.crud.resource import Column, ResourceSpec
from gwtui.domain.known_secrets import holds_secret
from gwtui.domain.safe_text import safe_ends
from gwtui.local.exported_file import ExportError, default_name, write
from gwtui.resources.actions import by_id
from gwtui.ui.actions.context import ActionContext, DashboardApp, Handler
from gwtui.ui.actions.copying import put
from gwtui.ui.screens.ask import AskScreen
from gwtui.ui.screens.menu import MenuEntry, MenuScreen
from gwtui.ui.screens.resource import ResourceScreen
from gwtui.ui.screens.save import SaveScreen
from gwtui.ui.widgets.table import ResourceTable

if TYPE_CHECKING:
    from textual.screen import Screen

    from gwtui.crud.action import Action

_FORMS: tuple[tuple[ExportForm, str, str], ...] = (
    ("csv", "c", "CSV"),
    ("json", "j", "JSON"),
    ("ndjson", "n", "NDJSON"),
)
"""Each form with its letter, of which the capital one means a file, and its name."""
_PICTURES = (
    MenuEntry("svg", "s", "SVG to a file", "in its colours, for a browser"),
    MenuEntry("txt", "t", "text to a file", "lines without colours"),
    MenuEntry("clipboard", "c", "text to clipboard", "lines without colours"),
)
_PATH = 160
_LOOK, _LOOKS = 0.02, 250
"""Seconds between two looks at the filter, and how many there are."""


@dataclass(frozen=True, slots=True)
class ListInView:
    """The rows that a table shows, in their order, and the columns that a person can see of them.

    ``spec`` is None where the rows are figures that no gateway sent as they are.
    """

    columns: Sequence[Column[Any]]
    rows: Sequence[Any]
    total: int
    spec: ResourceSpec[Any] | None

    @property
    def counted(self) -> str:
        """How many rows: "12 of 46 rows"."""
        rows = len(self.rows)
        of = f" of {self.total:,}" if rows != self.total else ""
        return f"{rows:,}{of} {'row' if rows == 1 and not of else 'rows'}"


async def export(context: ActionContext) -> None:
    """Let the person choose form and place, then export the rows that the list shows."""
    app, table = context.app, _table(context)
    if table is not None and not await _filtered(table):
        app.say("The filter has not looked at every row yet", severity="warning")
        return
    shown = None if table is None else _in_view(context, table)
    if shown is None or not shown.rows:
        app.say("There is no row to export here", severity="warning")
        return
    title = f"Export · {context.screen.heading}, {shown.counted}"
    chosen = await _chosen(context, title, _entries(shown))
    if chosen is None:
        return
    place, _, form = chosen.partition(" ")
    text = _text(shown, cast("ExportForm", form), context)
    what = f"{shown.counted} as {form.upper()}"
    if place == "clipboard":
        await put(context, what, text)
    else:
        name = default_name(context.screen.resource, app.clock.now(), form)
        await save(app, f"Write {what} to a file", what, name, text)


async def _chosen(context: ActionContext, title: str, entries: Sequence[MenuEntry]) -> str | None:
    """What the palette named already, else what a person takes from a menu."""
    if context.argument:
        return context.argument
    return await context.app.push_screen_wait(MenuScreen(title, entries))


async def _filtered(table: ResourceTable[Any]) -> bool:
    """Wait until the filter has looked at every row; False when that takes too long."""
    for _ in range(_LOOKS):
        if not table.is_filtering:
            return True
        await asyncio.sleep(_LOOK)
    return False


def _table(context: ActionContext) -> ResourceTable[Any] | None:
    """The table that the keys go to, else the first that is shown."""
    tables = [one for one in context.screen.query(ResourceTable) if one.display]
    return next((one for one in tables if one.has_focus), tables[0] if tables else None)


def _in_view(context: ActionContext, table: ResourceTable[Any]) -> ListInView:
    """Columns that were chosen, else every one: what has no room is a key press away."""
    model, chosen = table.model, table.choice.shown
    columns = model.columns if chosen is None else [model.columns[index] for index in chosen]
    screen = context.screen
    spec = screen.declared if isinstance(screen, ResourceScreen) else None
    return ListInView(columns, model.visible, model.total, spec)


def _text(shown: ListInView, form: ExportForm, context: ActionContext) -> str:
    now = context.app.clock.now()
    if shown.spec is None:
        return exported_figures(shown.columns, shown.rows, form, now)
    return exported(shown.spec, shown.columns, shown.rows, form, now)


def _entries(shown: ListInView) -> list[MenuEntry]:
    count = len(shown.columns)
    columns = f"{count} columns" if count != 1 else "1 column"
    objects = "each as the gateway sent it" if shown.spec is not None else columns
    notes: Mapping[str, str] = {"csv": columns, "json": objects, "ndjson": objects}
    copied = [
        MenuEntry(f"clipboard {form}", key, f"{title} to the clipboard", notes[form])
        for form, key, title in _FORMS
    ]
    written = [
        MenuEntry(f"file {form}", key.upper(), f"{title} to a file", "asks for its path")
        for form, key, title in _FORMS
    ]
    return [*copied, *written]


def export_actions() -> list[Action]:
    """An entry of the palette for each form and place; what it is stands behind its id."""
    exports, keeps = by_id("list.export"), by_id("app.screenshot")
    entries = [
        replace(
            exports,
            id=f"{exports.id} {place} {form}",
            title=f"Export {title} {to}",
            help="The columns of the listed rows" if form == "csv" else "The listed rows, whole",
            keys=(),
        )
        for place, to in (("clipboard", "to clipboard"), ("file", "to a file"))
        for form, _, title in _FORMS
    ]
    pictures = [
        replace(keeps, id=f"{keeps.id} {one.id}", title=f"Screenshot, {one.title}", words=())
        for one in _PICTURES
    ]
    return [*entries, *pictures]


async def save(app: DashboardApp, title: str, what: str, name: str, text: str) -> None:
    """Ask for a path and write the text there; a file that is there is replaced when agreed to."""
    if holds_secret(text):
        app.say(f"{what}: not written, a secret that this program uses is in it", severity="error")
        return
    start = ""
    while (path := await app.push_screen_wait(SaveScreen(title, name, start))) is not None:
        start = str(path)
        try:
            await asyncio.to_thread(write, path, text)
        except FileExistsError:
            if not await _may_replace(app, path):
                continue
        except ExportError as error:
            app.say(f"{what}: not written: {error}", severity="error")
            return
        else:
            _say_written(app, what, path)
            return
        await _replace(app, what, path, text)
        return


async def _may_replace(app: DashboardApp, path: Path) -> bool:
    question = AskScreen(
        "Replace the file?",
        f"{safe_ends(path, _PATH)} is there already. What is in it is then lost.",
        safe="Keep it",
        deliberate="Replace",
    )
    return await app.push_screen_wait(question)


async def _replace(app: DashboardApp, what: str, path: Path, text: str) -> None:
    try:
        await asyncio.to_thread(write, path, text, replace=True)
    except (ExportError, FileExistsError) as error:
        app.say(f"{what}: not written: {error}", severity="error")
    else:
        _say_written(app, what, path)


def _say_written(app: DashboardApp, what: str, path: Path) -> None:
    app.say(f"{what}: written to {safe_ends(path, _PATH)} (only you can read it)")


# Pictures -----------------------------------------------------------------------------------------


async def screenshot(context: ActionContext) -> None:
    """Keep what the screen shows; no dialog is in it, and no screen with a secret in sight."""
    from gwtui.ui.picture import SecretInSightError, picture_of  # noqa: PLC0415 - seldom

    app, screen = context.app, context.screen
    heading, moment = screen.heading, app.clock.now()
    try:
        picture = await picture_of(cast("Screen[Any]", screen))
    except SecretInSightError as error:
        app.say(f"There is no picture of this screen: {error}", severity="warning")
        return
    chosen = await _chosen(context, f"Screenshot · {heading}", _PICTURES)
    if chosen is None:
        return
    what = f"Screenshot of {heading}"
    text = picture.svg(f"gwtui · {heading}") if chosen == "svg" else picture.text()
    if chosen == "clipboard":
        await put(context, what, text)
    else:
        name = default_name(screen.resource, moment, chosen)
        await save(app, f"Write the {what[:1].lower()}{what[1:]} to a file", what, name, text)


HANDLERS: Mapping[str, Handler] = {
    "list.export": export,
    "app.screenshot": screenshot,
}
