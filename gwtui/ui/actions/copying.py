"""Handlers of copying: what of a row leaves the dashboard because a person asks for it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from gwtui.domain.safe_text import safe_line
from gwtui.resources.actions import by_id
from gwtui.resources.copying import (
    CELL,
    JSON,
    Copyable,
    Described,
    cell_lines,
    copyables,
    declared,
    row_path,
)
from gwtui.ui.actions.context import ActionContext, DashboardApp, Handler, Marks
from gwtui.ui.actions.output import from_menu, to_clipboard
from gwtui.ui.screens.choose import Choice, ChooseScreen
from gwtui.ui.screens.menu import MenuEntry
from gwtui.ui.screens.resource import ResourceScreen
from gwtui.ui.widgets.table import ResourceTable

if TYPE_CHECKING:
    from gwtui.crud.action import Action
    from gwtui.crud.resource import Column

_NAME = 40
_PALETTE = (
    ("id", "id", "The identity of the row, or of all that are marked"),
    ("name", "name", "What the row is called, or all that are marked"),
    ("cell", "cell", "What stands under a column, of the row or of all that are marked"),
    ("json", "JSON", "The row as the gateway sent it, or all that are marked"),
    ("curl", "curl", "A command that reads the row; it takes its key from the environment"),
    ("link", "link", "A command that opens the dashboard at the row"),
)


async def copy(context: ActionContext) -> None:
    """Let the person choose what to copy of the selected row, or of the marked ones."""
    await _copy(context, first=None)


async def copy_from_raw(context: ActionContext) -> None:
    """The same for the row whose JSON is read: that is the first choice, and marks do not count."""
    await _copy(replace(context, marked=(), marks=Marks(), argument=""), first=JSON)


async def _copy(context: ActionContext, *, first: str | None) -> None:
    app, described = context.app, _described(context)
    if described is None:
        app.say("There is nothing to copy here", severity="warning")
        return
    rows, now = _as_shown(context), app.clock.now()
    connection = None if app.session is None else app.connection
    offered = copyables(described, rows, now, connection)
    about = described.called(rows, now)
    kind = await _kind(context, about, offered, first)
    if kind is None:
        return
    taken = next((one for one in offered if one.kind == kind), None)
    if taken is None:
        app.say(f"There is no {kind} of {about} to copy", severity="warning")
    elif taken.kind != CELL:
        await to_clipboard(context, f"{taken.title} of {about}", taken.text())
    elif (column := await _column(app, described, rows)) is not None:
        text = cell_lines(column, rows, now)
        await to_clipboard(context, f"{column.title} of {about}", text)


async def _kind(
    context: ActionContext, about: str, offered: Sequence[Copyable], first: str | None
) -> str | None:
    hidden = f", {context.marks.hidden} hidden by the filter" if context.marks.hidden else ""
    entries = [MenuEntry(one.kind, one.key, one.title, one.note) for one in offered]
    return await from_menu(context, f"Copy · {about}{hidden}", entries, first=first)


def copy_actions() -> list[Action]:
    """An entry of the palette for each thing to copy; what it is stands behind its id."""
    copies = by_id("list.copy")
    return [
        replace(copies, id=f"{copies.id} {kind}", title=f"Copy {word}", help=help, keys=())
        for kind, word, help in _PALETTE
    ]


def _described(context: ActionContext) -> Described[Any] | None:
    screen = context.screen
    if isinstance(screen, ResourceScreen):
        return declared(screen.declared, row_path(screen.resource, screen.parent_row))
    found = screen.described()
    if found is not None or context.target is None:
        return found
    tables = (one for one in screen.query(ResourceTable) if one.selected is context.target)
    return next((Described(table.model.columns) for table in tables), None)


def _as_shown(context: ActionContext) -> Sequence[Any]:
    """The chosen rows with everything that completes them; what is gone as it was."""
    screen, rows = context.screen, context.chosen
    if not isinstance(screen, ResourceScreen):
        return rows
    identity = screen.declared.identity
    shown = {identity(row): row for row in screen.table.model.items}
    return [shown.get(identity(row), row) for row in rows]


async def _column(
    app: DashboardApp, described: Described[Any], rows: Sequence[Any]
) -> Column[Any] | None:
    """The column that a person chooses; each is offered with what would be copied of it."""
    now = app.clock.now()
    choices = [
        Choice(column.id, column.title, _first_line(cell_lines(column, rows[:1], now), rows))
        for column in described.columns
    ]
    taken = await app.push_screen_wait(ChooseScreen("Copy the cell under", choices, current=None))
    return next((column for column in described.columns if column.id == taken), None)


def _first_line(text: str, rows: Sequence[Any]) -> str:
    more = f" and {len(rows) - 1} more" if len(rows) > 1 else ""
    return f"{safe_line(text, _NAME) or '(empty)'}{more}"


HANDLERS: Mapping[str, Handler] = {
    "list.copy": copy,
}
