"""What a person takes out of the dashboard: raw JSON, copies, exported lists, screenshots.

Each has a menu before it, and goes to the clipboard or into a file; nothing that holds a secret
that this program uses.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from gwtui.contract.response import ResponseModel
from gwtui.crud.export import ExportForm, exported, exported_figures, with_id
from gwtui.crud.form import PickOption
from gwtui.crud.resource import Column, ResourceSpec
from gwtui.domain.known_secrets import holds_secret
from gwtui.domain.safe_text import safe_ends, safe_line
from gwtui.local.exported_file import ExportError, default_name, write
from gwtui.resources.actions import by_id
from gwtui.resources.copying import (
    CELL,
    JSON,
    Copyable,
    CopySource,
    cell_lines,
    copyables,
    declared,
    row_path,
)
from gwtui.ui.actions.context import ActionContext, Handler, Marks
from gwtui.ui.screens.dialogs import AskScreen, SaveScreen
from gwtui.ui.screens.pages import ReadingScreen, raw_lines
from gwtui.ui.screens.picker import MenuEntry, MenuScreen, Picker
from gwtui.ui.screens.resource import ResourceScreen
from gwtui.ui.terminal.clipboard import copy_text
from gwtui.ui.terminal.screenshot import SecretInSightError, picture_of
from gwtui.ui.widgets.table import ResourceTable

if TYPE_CHECKING:
    from textual.content import Content
    from textual.screen import Screen

    from gwtui.crud.action import Action
    from gwtui.ui.app import GwtuiApp


_PATH = 160
_SECRET = "a secret that this program uses is in it"  # noqa: S105 - a sentence
_NAME = 40
_PALETTE = (
    ("id", "id", "The identity of the row, or of all that are marked"),
    ("name", "name", "What the row is called, or all that are marked"),
    ("cell", "cell", "What stands under a column, of the row or of all that are marked"),
    ("json", "JSON", "The row as the gateway sent it, or all that are marked"),
    ("curl", "curl", "A command that reads the row; it takes its key from the environment"),
    ("link", "link", "A command that opens the dashboard at the row"),
)
_FORMS: tuple[tuple[ExportForm, str, str], ...] = (
    ("csv", "c", "CSV"),
    ("json", "j", "JSON"),
    ("ndjson", "n", "NDJSON"),
)
"""Each form with its letter, of which the capital one means a file, and its name."""
_LOOK, _LOOKS = 0.02, 250
"""Seconds between two looks at the filter, and how many there are."""
_PICTURES = (
    MenuEntry("svg", "s", "SVG to a file", "in its colours, for a browser"),
    MenuEntry("txt", "t", "text to a file", "lines without colours"),
    MenuEntry("clipboard", "c", "text to clipboard", "lines without colours"),
)


def output_actions() -> list[Action]:
    """What the palette offers besides: an entry for each thing to copy, form and picture.

    Which of them it is stands behind the id of its action.
    """
    return [*_copy_actions(), *_export_actions(), *_screenshot_actions()]


async def from_menu(
    context: ActionContext,
    title: str,
    entries: Sequence[MenuEntry],
    *,
    first: str | None = None,
) -> str | None:
    """What the palette named already, else what a person takes from a menu; None for nothing."""
    if context.argument:
        return context.argument
    return await context.app.push_screen_wait(MenuScreen(title, entries, current=first))


async def to_clipboard(context: ActionContext, what: str, text: str) -> None:
    """Copy by the route that works, and say which it was; nothing that holds a known secret."""
    app = context.app
    if holds_secret(text):
        app.say(f"{what}: not copied, {_SECRET}", severity="error")
    elif not text:
        app.say(f"{what}: not copied, there is nothing in it", severity="warning")
    else:
        copied = await copy_text(context.screen.app, text)
        app.say(f"{what}: {copied.sentence}", severity="information" if copied.ok else "warning")


async def to_file(context: ActionContext, title: str, what: str, name: str, text: str) -> None:
    """Ask for a path and write the text there, or say why not; no known secret.

    A file that is there is replaced only when that is agreed to.
    """
    app = context.app
    if holds_secret(text):
        app.say(f"{what}: not written, {_SECRET}", severity="error")
        return
    start = problem = ""
    while (path := await app.push_screen_wait(SaveScreen(title, name, start, problem))) is not None:
        start, problem = str(path), ""
        there = await asyncio.to_thread(path.exists)
        if there and not await _may_replace(app, path):
            continue
        try:
            await asyncio.to_thread(write, path, text, replace=there)
        except FileExistsError:
            problem = "another file came there just now"
        except ExportError as error:
            problem = str(error)
        else:
            app.say(f"{what}: written to {safe_ends(path, _PATH)} (only you can read it)")
            return


async def _may_replace(app: GwtuiApp, path: Path) -> bool:
    question = AskScreen(
        "Replace the file?",
        f"{safe_ends(path, _PATH)} is there already. What is in it is then lost.",
        safe="Keep it",
        deliberate="Replace",
    )
    return await app.push_screen_wait(question)


async def show_raw(context: ActionContext) -> None:
    """Show the row as the gateway sent it."""
    if context.spec is not None:
        lines = raw_lines(context.spec.raw(context.target), context.target)
        title = f"Raw JSON · {context.spec.singular} {context.spec.name(context.target)}"
        await _read_raw(context, title, lines)


async def show_raw_object(context: ActionContext) -> None:
    """Show the object of a screen that shows one as the gateway sent it."""
    item = context.target
    if isinstance(item, ResponseModel):
        lines = raw_lines(item.raw, item)
        await _read_raw(context, f"Raw JSON · {context.screen.heading}", lines)


async def _read_raw(context: ActionContext, title: str, lines: Sequence[Content]) -> None:
    async def copy() -> None:
        await copy_from_raw(context)

    await context.app.push_screen(ReadingScreen(title, lambda _width: lines, copy=copy))


async def copy(context: ActionContext) -> None:
    """Let the person choose what to copy of the selected row, or of the marked ones."""
    await _copy(context, first=None)


async def copy_from_raw(context: ActionContext) -> None:
    """The same for the row whose JSON is read: that is the first choice, and marks do not count."""
    await _copy(replace(context, marked=(), marks=Marks(), argument=""), first=JSON)


async def _copy(context: ActionContext, *, first: str | None) -> None:
    app, source = context.app, _copy_source(context)
    if source is None:
        app.say("There is nothing to copy here", severity="warning")
        return
    rows, now = _as_shown(context), app.clock.now()
    connection = None if app.session is None else app.connection
    offered = copyables(source, rows, now, connection)
    about = source.called(rows, now)
    kind = await _kind(context, about, offered, first)
    if kind is None:
        return
    taken = next((one for one in offered if one.kind == kind), None)
    if taken is None:
        app.say(f"There is no {kind} of {about} to copy", severity="warning")
    elif taken.kind != CELL:
        await to_clipboard(context, f"{taken.title} of {about}", taken.text())
    elif (column := await _column(app, source, rows)) is not None:
        text = cell_lines(column, rows, now)
        await to_clipboard(context, f"{column.title} of {about}", text)


async def _kind(
    context: ActionContext, about: str, offered: Sequence[Copyable], first: str | None
) -> str | None:
    hidden = f", {context.marks.hidden} hidden by the filter" if context.marks.hidden else ""
    entries = [MenuEntry(one.kind, one.key, one.title, one.note) for one in offered]
    return await from_menu(context, f"Copy · {about}{hidden}", entries, first=first)


def _copy_actions() -> list[Action]:
    copies = by_id("list.copy")
    return [
        replace(copies, id=f"{copies.id} {kind}", title=f"Copy {word}", help=help, keys=())
        for kind, word, help in _PALETTE
    ]


def _copy_source(context: ActionContext) -> CopySource[Any] | None:
    screen = context.screen
    if isinstance(screen, ResourceScreen):
        return declared(screen.declared, row_path(screen.resource, screen.parent_row))
    found = screen.copy_source()
    if found is not None or context.target is None:
        return found
    tables = (one for one in screen.query(ResourceTable) if one.selected is context.target)
    return next((CopySource(table.model.columns) for table in tables), None)


def _as_shown(context: ActionContext) -> Sequence[Any]:
    """The chosen rows with everything that completes them; what is gone as it was."""
    screen, rows = context.screen, context.chosen
    if not isinstance(screen, ResourceScreen):
        return rows
    identity = screen.declared.identity
    shown = {identity(row): row for row in screen.table.model.items}
    return [shown.get(identity(row), row) for row in rows]


async def _column(
    app: GwtuiApp, source: CopySource[Any], rows: Sequence[Any]
) -> Column[Any] | None:
    """The column that a person chooses; each is offered with what would be copied of it."""
    now = app.clock.now()
    choices = [
        PickOption(column.id, column.title, _first_line(cell_lines(column, rows[:1], now), rows))
        for column in source.columns
    ]
    taken = await app.push_screen_wait(Picker("Copy the cell under", choices, current=None))
    return next((column for column in source.columns if column.id == taken), None)


def _first_line(text: str, rows: Sequence[Any]) -> str:
    more = f" and {len(rows) - 1} more" if len(rows) > 1 else ""
    return f"{safe_line(text, _NAME) or '(empty)'}{more}"


@dataclass(frozen=True, slots=True)
class ListInView:
    """The rows that a table shows, in their order, and the columns that a person can see of them.

    ``spec`` is None where the rows are figures that no gateway sent as they are.
    """

    columns: Sequence[Column[Any]]
    rows: Sequence[Any]
    total: int
    spec: ResourceSpec[Any] | None
    growing: bool = False
    """Whether more rows are being read."""

    @property
    def counted(self) -> str:
        """How many rows: "12 of 46 rows"."""
        rows = len(self.rows)
        of = f" of {self.total:,}" if rows != self.total else ""
        so_far = " so far" if self.growing else ""
        return f"{rows:,}{of} {'row' if rows == 1 and not of else 'rows'}{so_far}"


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
    taken = await from_menu(context, title, _entries(shown))
    if taken is None:
        return
    place, _, form = taken.partition(" ")
    text = _text(shown, cast("ExportForm", form), context)
    what = f"{shown.counted} as {form.upper()}"
    if place == "clipboard":
        await to_clipboard(context, what, text)
    else:
        name = default_name(context.screen.resource, app.clock.now(), form)
        await to_file(context, f"Write {what} to a file", what, name, text)


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
    """Columns that were chosen, else every one; and what names each row to other programs."""
    model, places = table.model, table.choice
    columns = model.columns if places is None else [model.columns[place] for place in places]
    screen = context.screen
    if not isinstance(screen, ResourceScreen):
        return ListInView(columns, model.visible, model.total, None)
    spec = screen.declared
    columns = with_id(spec, columns)
    return ListInView(columns, model.visible, model.total, spec, screen.reading)


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


def _export_actions() -> list[Action]:
    """For each form and place."""
    exports = by_id("list.export")
    return [
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


def _screenshot_actions() -> list[Action]:
    """For each kind of picture."""
    keeps = by_id("app.screenshot")
    return [
        replace(
            keeps, id=f"{keeps.id} {one.id}", title=f"Screenshot, {one.title}", command_words=()
        )
        for one in _PICTURES
    ]


IMMEDIATE: Mapping[str, Handler] = {"list.raw": show_raw, "figures.raw": show_raw_object}
PATIENT: Mapping[str, Handler] = {
    "list.copy": copy,
    "list.export": export,
    "app.screenshot": screenshot,
}
