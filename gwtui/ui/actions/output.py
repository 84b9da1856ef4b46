"""Output of the dashboard: raw JSON, copies, exported lists.

Each starts with a choice, and goes to the clipboard or a file. Text that contains a secret of this
program is refused.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from gwtui.contract.response import ResponseModel
from gwtui.crud.export import ExportForm, exported, exported_figures, with_id
from gwtui.crud.fields import PickOption
from gwtui.crud.resource import Column
from gwtui.domain.known_secrets import holds_secret
from gwtui.domain.safe_text import safe_line
from gwtui.local.private_file import create, export_name
from gwtui.resources.copying import (
    CELL,
    JSON,
    Copyable,
    CopySource,
    cell_lines,
    copyables,
)
from gwtui.ui.actions.context import ActionContext, Handler
from gwtui.ui.screens.pages import ReadingScreen, raw_lines
from gwtui.ui.screens.picker import Picker
from gwtui.ui.terminal.clipboard import copy_text
from gwtui.ui.widgets.table import ResourceTable

if TYPE_CHECKING:
    from gwtui.ui.app import GwtuiApp


_PATH = 160
_SECRET = "it contains a secret that gwtui uses"  # noqa: S105 - a sentence
_NAME, _NOTE = 40, 52


async def to_clipboard(context: ActionContext, what: str, text: str) -> None:
    """Copy ``text`` to the clipboard, or else to a file, and report that.

    Text with a known secret is refused. ``what`` names the text for the user.
    """
    app = context.app
    if holds_secret(text):
        app.say(f"{what}: not copied, {_SECRET}", severity="error")
    elif not text:
        app.say(f"{what}: not copied, it is empty", severity="warning")
    else:
        copied = await copy_text(context.screen.app, text)
        app.say(f"{what}: {copied.sentence}", severity="information" if copied.ok else "warning")


async def to_file(context: ActionContext, what: str, name: str, text: str) -> None:
    """Write a new file in the working directory that only its owner can read.

    Text with a known secret is refused. ``what`` names the text for the user.
    """
    app = context.app
    if holds_secret(text):
        app.say(f"{what}: not written, {_SECRET}", severity="error")
        return
    try:
        path = await asyncio.to_thread(Path(name).absolute)
        await asyncio.to_thread(create, path, text.encode(errors="replace"))
    except OSError as error:
        app.say(f"{what}: not written: {error.strerror}", severity="error")
    else:
        app.say(f"{what}: written to {safe_line(path, _PATH)} (only you can read it)")


async def show_raw(context: ActionContext) -> None:
    """Show the JSON of the row, or of the screen's object, as the gateway sent it."""
    item, spec = context.target, context.spec
    if spec is not None:
        raw, title = spec.raw(item), f"{spec.singular} {spec.name(item)}"
    elif isinstance(item, ResponseModel):
        raw, title = item.raw, context.screen.heading
    else:
        return
    lines = raw_lines(raw, item)
    # Copied is that row alone, and its JSON is the first choice.
    this = replace(context, marked=(), hidden=0)
    copy_it = partial(copy, this, first=JSON)
    await context.app.push_screen(
        ReadingScreen(f"Raw JSON · {title}", lambda _width: lines, copy=copy_it)
    )


async def copy(context: ActionContext, *, first: str | None = None) -> None:
    """Choose what to copy of the selected row, or of the marked ones, and copy it."""
    app, source = context.app, _copy_source(context)
    if source is None:
        app.say("Nothing to copy here", severity="warning")
        return
    rows, now = context.chosen, app.clock.now()
    connection = None if app.session is None else app.connection
    offered = copyables(source, rows, now, connection)
    about = source.describe(rows, now)
    kind = await _kind(context, about, offered, first)
    if kind is None:
        return
    taken = next(copyable for copyable in offered if copyable.kind == kind)
    if taken.kind != CELL:
        await to_clipboard(context, f"{taken.title} of {about}", taken.text())
    elif (column := await _column(app, source, rows)) is not None:
        text = cell_lines(column, rows, now)
        await to_clipboard(context, f"{column.title} of {about}", text)


async def _kind(
    context: ActionContext, about: str, offered: Sequence[Copyable], first: str | None
) -> str | None:
    hidden = f", {context.hidden} hidden by the filter" if context.hidden else ""
    options = [
        PickOption(copyable.kind, copyable.title, safe_line(copyable.note, _NOTE))
        for copyable in offered
    ]
    picker = Picker(f"Copy · {about}{hidden}", options, current=first)
    return await context.app.push_screen_wait(picker)


def _copy_source(context: ActionContext) -> CopySource[Any] | None:
    screen = context.screen
    source = screen.copy_source()
    if source is not None or context.target is None:
        return source
    tables = (table for table in screen.query(ResourceTable) if table.selected is context.target)
    return next((CopySource(table.model.columns) for table in tables), None)


async def _column(
    app: GwtuiApp, source: CopySource[Any], rows: Sequence[Any]
) -> Column[Any] | None:
    now = app.clock.now()
    choices = [
        PickOption(column.id, column.title, _first_line(cell_lines(column, rows[:1], now), rows))
        for column in source.columns
    ]
    taken = await app.push_screen_wait(Picker("Copy the cell in column", choices, current=None))
    return next((column for column in source.columns if column.id == taken), None)


def _first_line(text: str, rows: Sequence[Any]) -> str:
    more = f" and {len(rows) - 1} more" if len(rows) > 1 else ""
    return f"{safe_line(text, _NAME) or '(empty)'}{more}"


async def export(context: ActionContext) -> None:
    """Choose a format and a destination, then export the visible rows."""
    app, table, spec = context.app, _table(context), context.screen.spec
    if table is None or not table.visible_count:
        app.say("No rows to export here", severity="warning")
        return
    if table.model.provisional:
        app.say("The filter is still running", severity="warning")
        return
    model, places, rows = table.model, table.choice, table.model.visible
    columns = model.columns if places is None else [model.columns[place] for place in places]
    if spec is not None:
        columns = with_id(spec, columns)
    counted = _counted(len(rows), model.total)
    if spec is not None and context.screen.is_loading:
        counted += " so far"
    title = f"Export · {context.screen.heading}, {counted}"
    options = _export_options(len(columns), whole=spec is not None)
    taken = await app.push_screen_wait(Picker(title, options))
    if taken is None:
        return
    to, _, name = taken.partition(" ")
    form, now = cast("ExportForm", name), app.clock.now()
    text = (
        exported_figures(columns, rows, form, now)
        if spec is None
        else exported(spec, columns, rows, form, now)
    )
    what = f"{counted} as {form.upper()}"
    if to == "clipboard":
        await to_clipboard(context, what, text)
    else:
        file = export_name(context.screen.resource, now, form)
        await to_file(context, what, file, text)


def _table(context: ActionContext) -> ResourceTable[Any] | None:
    tables = [table for table in context.screen.query(ResourceTable) if table.display]
    return next((table for table in tables if table.has_focus), tables[0] if tables else None)


def _counted(rows: int, total: int) -> str:
    if rows != total:
        return f"{rows:,} of {total:,} rows"
    return "1 row" if rows == 1 else f"{rows:,} rows"


def _export_options(count: int, *, whole: bool) -> list[PickOption]:
    columns = f"{count} columns" if count != 1 else "1 column"
    objects = "each as the gateway sent it" if whole else columns
    notes = {"csv": columns, "json": objects, "ndjson": objects}
    copied = [
        PickOption(f"clipboard {form}", f"{form.upper()} to the clipboard", note)
        for form, note in notes.items()
    ]
    written = [
        PickOption(f"file {form}", f"{form.upper()} to a file", "in the working directory")
        for form in notes
    ]
    return [*copied, *written]


IMMEDIATE: Mapping[str, Handler] = {"list.raw": show_raw, "figures.raw": show_raw}
HANDLERS: Mapping[str, Handler] = {
    "list.copy": copy,
    "list.export": export,
}
