"""Actions of every list and of every screen of one object; views of lists, saved under a name."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from textual.content import Content

from gwtui.contract.response import ResponseModel
from gwtui.crud.action import APP, Action
from gwtui.domain.known_secrets import may_be_secret
from gwtui.domain.lookup import among
from gwtui.domain.safe_text import safe_line
from gwtui.resources.preferences import VIEW_NAME, VIEWS, View
from gwtui.resources.registry import PARENTS, PLACES, TITLES, in_sentence
from gwtui.ui.actions.context import ActionContext, DashboardApp, Handler
from gwtui.ui.actions.output import copy_from_raw
from gwtui.ui.goto import PathNames
from gwtui.ui.screens.choosers import Choice, ChooseScreen
from gwtui.ui.screens.columns import ColumnsScreen
from gwtui.ui.screens.pages import ReadingScreen, raw_lines
from gwtui.ui.screens.resource import ResourceScreen

_ENTRY = "view."
_NAME = 60
_NONE = "There is no view yet: :save-view NAME keeps the filter, order and columns of a list"


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
        Choice(c.id, f"{c.title} {sign}" if c.id == column else c.title, c.help)
        for c in spec.columns
    ]
    chosen = await context.app.push_screen_wait(
        ChooseScreen(f"Sort {in_sentence(spec.title)} by", choices, current=column)
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
        screen.active_view.choose_columns(chosen)


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


def view_actions(app: DashboardApp) -> Sequence[Action]:
    """An entry of the palette for each saved view."""
    views = app.preference_store.preferences.views.values()
    return [
        Action(f"{_ENTRY}{view.name}", f"View {view.name}", safe_line(view.summary, 80), APP)
        for view in views
    ]


def viewed_by(action_id: str) -> str | None:
    """The view that an entry of the palette stands for; None for every other action."""
    return action_id.removeprefix(_ENTRY) if action_id.startswith(_ENTRY) else None


async def show_view(context: ActionContext) -> None:
    """Go to the list of a view and show it so."""
    view = await _chosen_view(context, "View")
    if view is None:
        return
    app, screen = context.app, context.screen
    if screen.resource != view.list and view.list in PLACES:
        await app.navigation.show_tab(view.list)
        screen = app.navigation.screen or screen
    if isinstance(screen, ResourceScreen) and screen.resource == view.list:
        await screen.active_view.show(view)
    else:
        opener = in_sentence(TITLES[PARENTS[view.list]])
        named = in_sentence(TITLES[view.list])
        app.say(f"View {view.name} is of {named}: open one of {opener} first", severity="warning")


async def save_view(context: ActionContext) -> None:
    """Keep how the list is looked at now; without a name, ask for one."""
    app, screen, name = context.app, context.screen, context.argument
    if not isinstance(screen, ResourceScreen):
        app.say(f"{screen.heading} is no list: it has no views", severity="warning")
    elif not name:
        prompt = await screen.path_prompt()
        prompt.offer(PathNames(app).complete, app.paths.paths)
        prompt.open()
        prompt.input.begin_with("save-view ")
    elif not VIEW_NAME.fullmatch(name):
        app.say(
            f"“{safe_line(name, _NAME)}” cannot be the name of a view: letters, digits, - and _",
            severity="warning",
        )
    elif may_be_secret((view := screen.active_view.as_view(name)).filter):
        app.say("The filter may hold a key: it is not written to a file", severity="warning")
    else:
        known = name in app.preference_store.preferences.views
        app.preference_store.remember({(VIEWS, name): None})
        app.preference_store.remember(view.settings)
        await screen.active_view.show(view)
        app.say(f"View {name} is {'replaced' if known else 'saved'}: {view.summary}")


async def delete_view(context: ActionContext) -> None:
    """Forget one; what is shown stays as it is."""
    view = await _chosen_view(context, "Delete view")
    if view is not None:
        context.app.preference_store.remember({(VIEWS, view.name): None})
        context.app.say(f"View {view.name} is deleted")


async def _chosen_view(context: ActionContext, title: str) -> View | None:
    """The view that is named, else the one that a person chooses."""
    app, name = context.app, context.argument
    views = app.preference_store.preferences.views
    if name and name not in views:
        called = safe_line(name, _NAME)
        app.say(f"There is no view “{called}”{among(name, views)}", severity="warning")
        return None
    if not views:
        app.say(_NONE, severity="warning")
        return None
    if not name:
        choices = [Choice(one.name, one.name, safe_line(one.summary, 80)) for one in views.values()]
        chosen = await app.push_screen_wait(ChooseScreen(title, choices, current=None))
        name = chosen or ""
    return views.get(name)


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
    "app.view": show_view,
    "app.save_view": save_view,
    "app.delete_view": delete_view,
}
