"""Handler of export: the list in view as CSV or JSON, to the clipboard or a file."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, cast

from gwtui.crud.export import ExportForm, exported, exported_figures
from gwtui.crud.resource import Column, ResourceSpec
from gwtui.local.exported_file import default_name
from gwtui.resources.actions import by_id
from gwtui.ui.actions.context import ActionContext, Handler
from gwtui.ui.actions.output import from_menu, to_clipboard, to_file
from gwtui.ui.screens.menu import MenuEntry
from gwtui.ui.screens.resource import ResourceScreen
from gwtui.ui.widgets.table import ResourceTable

if TYPE_CHECKING:
    from gwtui.crud.action import Action

_FORMS: tuple[tuple[ExportForm, str, str], ...] = (
    ("csv", "c", "CSV"),
    ("json", "j", "JSON"),
    ("ndjson", "n", "NDJSON"),
)
"""Each form with its letter, of which the capital one means a file, and its name."""
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
    """Columns that were chosen, else every one: what has no room is a key press away."""
    model, places = table.model, table.choice.shown
    columns = model.columns if places is None else [model.columns[place] for place in places]
    screen = context.screen
    if not isinstance(screen, ResourceScreen):
        return ListInView(columns, model.visible, model.total, None)
    return ListInView(columns, model.visible, model.total, screen.declared, screen.reading)


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


HANDLERS: Mapping[str, Handler] = {
    "list.export": export,
}
