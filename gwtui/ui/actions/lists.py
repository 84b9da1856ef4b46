"""Actions of every list and of every screen of one object."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from textual.content import Content

from gwtui.contract.response import ResponseModel
from gwtui.crud.form import PickOption
from gwtui.resources.registry import in_sentence
from gwtui.ui.actions.context import ActionContext, Handler
from gwtui.ui.actions.output import copy_from_raw
from gwtui.ui.screens.columns import ColumnsScreen
from gwtui.ui.screens.pages import ReadingScreen, raw_lines
from gwtui.ui.screens.picker import Picker
from gwtui.ui.screens.resource import ResourceScreen


async def open_row(context: ActionContext) -> None:
    """Open the list behind the row, else its detail."""
    spec = context.spec
    if spec is not None and spec.opens is not None and context.identity is not None:
        await context.app.navigation.open_child(spec, context.identity)
    elif isinstance(context.screen, ResourceScreen):
        context.screen.open_detail()


async def open_filter(context: ActionContext) -> None:
    """Let the person type a filter."""
    if isinstance(context.screen, ResourceScreen):
        await context.screen.filtering.open()


async def choose_sort(context: ActionContext) -> None:
    """Choose the column to sort by; choosing the present one reverses the order."""
    screen, spec = context.screen, context.spec
    if not isinstance(screen, ResourceScreen) or spec is None:
        return
    column, descending = screen.table.sorting
    sign = "▼" if descending else "▲"
    choices = [
        PickOption(c.id, f"{c.title} {sign}" if c.id == column else c.title, c.help)
        for c in spec.columns
    ]
    chosen = await context.app.push_screen_wait(
        Picker(f"Sort {in_sentence(spec.title)} by", choices, current=column)
    )
    for picked in spec.columns:
        if picked.id == chosen:
            screen.table.sort_by(*picked.order_after(screen.table.sorting))


async def sort_left(context: ActionContext) -> None:
    """Sort by the column to the left."""
    _sort_beside(context, -1)


async def sort_right(context: ActionContext) -> None:
    """Sort by the column to the right."""
    _sort_beside(context, 1)


def _sort_beside(context: ActionContext, step: int) -> None:
    screen, spec = context.screen, context.spec
    if isinstance(screen, ResourceScreen) and spec is not None:
        ids, present = [column.id for column in spec.columns], screen.table.sorting
        place = ids.index(present[0]) if present[0] in ids else -step
        beside = spec.columns[(place + step) % len(ids)]
        screen.table.sort_by(*beside.order_after(present))


async def reverse(context: ActionContext) -> None:
    """Turn the order around."""
    if isinstance(context.screen, ResourceScreen):
        column, descending = context.screen.table.sorting
        context.screen.sort(column, descending=not descending)


async def choose_columns(context: ActionContext) -> None:
    """Choose what is shown of each row."""
    screen, spec = context.screen, context.spec
    if not isinstance(screen, ResourceScreen) or spec is None:
        return
    table = screen.table
    chosen = await context.app.push_screen_wait(
        ColumnsScreen(f"Columns of {spec.title}", spec.columns, table.choice, table.shape.width)
    )
    if chosen is not None:
        screen.choose_columns(chosen)


async def toggle_detail(context: ActionContext) -> None:
    """Show or hide the detail pane."""
    if isinstance(context.screen, ResourceScreen):
        context.screen.detail.toggle()


async def widen_detail(context: ActionContext) -> None:
    """Give the detail pane more room."""
    if isinstance(context.screen, ResourceScreen):
        context.screen.detail.widen(1)


async def narrow_detail(context: ActionContext) -> None:
    """Give the list more room."""
    if isinstance(context.screen, ResourceScreen):
        context.screen.detail.widen(-1)


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


async def mark(context: ActionContext) -> None:
    """Mark the selected row, or take the mark away."""
    if isinstance(context.screen, ResourceScreen):
        context.screen.table.action_toggle_mark()


async def mark_range(context: ActionContext) -> None:
    """Mark the rows between the one that was marked last and the selected one."""
    if isinstance(context.screen, ResourceScreen):
        context.screen.table.mark_range()


async def mark_all(context: ActionContext) -> None:
    """Mark every row that the filter lets through."""
    if isinstance(context.screen, ResourceScreen):
        context.screen.table.mark_visible()


async def invert_marks(context: ActionContext) -> None:
    """Mark the listed rows that are not marked, and no other listed one."""
    if isinstance(context.screen, ResourceScreen):
        context.screen.table.invert_marks()


async def unmark(context: ActionContext) -> None:
    """Take every mark away."""
    if isinstance(context.screen, ResourceScreen):
        context.screen.table.clear_marks()


IMMEDIATE: Mapping[str, Handler] = {
    "list.open": open_row,
    "list.filter": open_filter,
    "list.sort_left": sort_left,
    "list.sort_right": sort_right,
    "list.reverse": reverse,
    "list.detail": toggle_detail,
    "list.detail_wider": widen_detail,
    "list.detail_narrower": narrow_detail,
    "list.raw": show_raw,
    "list.mark": mark,
    "list.mark_range": mark_range,
    "list.mark_all": mark_all,
    "list.invert_marks": invert_marks,
    "list.unmark": unmark,
    "figures.raw": show_raw_object,
}
PATIENT: Mapping[str, Handler] = {
    "list.sort": choose_sort,
    "list.columns": choose_columns,
}
