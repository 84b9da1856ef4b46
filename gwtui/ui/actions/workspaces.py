"""Workspaces in the dashboard: the list follows an edit, deleting one has its own questions."""

from __future__ import annotations

from collections.abc import Mapping

from gwtui.resources.workspaces.view import shown_name
from gwtui.resources.workspaces.writes import WRITES
from gwtui.ui.actions import crud
from gwtui.ui.actions.context import ActionContext, Handler
from gwtui.ui.actions.crud import plan_context, read_selected
from gwtui.ui.actions.links import go_to
from gwtui.ui.actions.writing import (
    confirm,
    confirm_and_tell,
    covered,
    go_instead,
    refresh,
    send_and_tell,
)


async def edit(context: ActionContext) -> None:
    """The edit form; lists that are narrowed to the workspace follow its new name."""
    app, changed = context.app, await crud.edit(context)
    if changed is not None:
        if app.scope.workspace == changed.id:
            app.narrow(changed.id, shown_name(changed))
        await refresh(context, "keys")


async def delete(context: ActionContext) -> None:
    """Show what stands in the way and what goes with it; for the default one its slug is typed."""
    app, fresh = context.app, await read_selected(context)
    if fresh is None:
        return
    at = plan_context(context)
    around = await WRITES.around(app.gateway, fresh, at)
    plan = WRITES.plan_delete(fresh, at, around)
    if covered(context):
        return
    if plan.obstacles:
        if await go_instead(context, plan, "Show its keys"):
            await go_to(context, "keys", fresh)
        return
    confirmation = await confirm(context, plan, "Delete for good")
    if confirmation is None:
        return
    done = f"{WRITES.title(fresh)} deleted"
    if around.is_default:
        button, typed = "Delete the default workspace", fresh.slug or fresh.id or ""
        applied = await confirm_and_tell(context, plan, button, done, *WRITES.feeds, typed=typed)
    else:
        applied = await send_and_tell(context, confirmation, done, *WRITES.feeds)
    if applied is not None:
        if app.scope.workspace == fresh.id:
            app.narrow(None, None)
        await refresh(context, "keys", "guardrails", "byok")


HANDLERS: Mapping[str, Handler] = {
    **crud.handlers("workspaces", "create"),
    "workspaces.edit": edit,
    "workspaces.delete": delete,
}
